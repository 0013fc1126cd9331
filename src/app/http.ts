/** Connects the features' routes to HTTP: the gate in front of them, and the socket. */
import { memoize } from "../core/lazy.ts";
import { createTurnQueue } from "../core/turns.ts";
import { BUILD } from "../core/version.ts";
import type { Auth } from "../feature/auth/service.ts";
import type { EngineService } from "../feature/engine/feature.ts";
import { createAuthenticate } from "../http/authenticate.ts";
import { createBodies } from "../http/body.ts";
import { clearSpooled } from "../http/form.ts";
import { createGate, type GateDeps } from "../http/gate.ts";
import { createInnerCall } from "../http/inner-call.ts";
import { createPerform } from "../http/perform.ts";
import { createProjectGate } from "../http/project-gate.ts";
import { createRateLimits } from "../http/rate-limit.ts";
import { createRouteTable, type RouteTable } from "../http/route-table.ts";
import { listen } from "../http/server.ts";
import type { Api } from "./compose.ts";
import type { CoreParts } from "./core.ts";

const openApi = memoize((): typeof import("../http/openapi.ts") => require("../http/openapi.ts"));

interface HttpApi extends Api {
  /** The routes that `serve` received. */
  getTable(): RouteTable;
}

/** The API that features give their routes to. */
export function apiOf({ config, idempotency, log, masking, site, store }: CoreParts): HttpApi {
  const assertRole = createProjectGate(store);
  const deps = { store, idempotency, log, masking, assertRole, checkAnswers: config.checkAnswers || !BUILD.compiled };
  let taken: RouteTable | undefined;
  const getTable = (): RouteTable => {
    if (!taken) throw new Error("The routes were asked for before all features were created.");
    return taken;
  };
  return {
    getTable,
    serve(routes, assertOn) {
      taken = createRouteTable(routes, (operation) => createPerform(operation, deps), assertOn);
    },
    call: createInnerCall({ getTable, store }),
    document: (events) =>
      openApi().openApiDocument(getTable().entries, { version: BUILD.version, prefix: site.prefix, events }),
  };
}

/** Features know who callers are and count their requests. */
interface HttpNeeds {
  accounts: Pick<Auth, "accounts">;
  engine: Pick<EngineService, "executionOf">;
  admin: { countRequest: NonNullable<GateDeps["count"]> };
}

/** A new server first answers whether it is healthy, and creates its other routes after this time (ms). */
const REST_MS = 150;

/** Listens. @throws Problem when it cannot. */
export function openHttp(core: CoreParts, api: HttpApi, { accounts, engine, admin }: HttpNeeds) {
  const { config, clock, folder, log, store, idempotency, metrics, site, streams } = core;
  const table = api.getTable();
  const authenticate = createAuthenticate({
    projects: core.access,
    authRequired: config.authRequired,
    engineToken: core.keys.engineToken,
    executionOf: engine.executionOf,
    accounts: accounts.accounts,
    redeemTicket: core.tickets.redeem,
  });
  clearSpooled(folder.uploads);
  const bodies = createBodies(clock, folder.uploads);
  const gate = createGate({
    changing: createTurnQueue(),
    table,
    config,
    log,
    store,
    bodies,
    idempotency,
    metrics,
    authenticate,
    site,
    limits: createRateLimits(clock, config.rateLimit),
    count: admin.countRequest,
  });
  const { url, stop: stopListening } = listen({
    gate,
    bodies,
    host: config.host,
    port: config.port,
    endStreams: streams.close,
  });
  core.listening.url = url;
  const rest = setTimeout(() => table.entries, REST_MS);
  rest.unref();
  const stop = () => {
    clearTimeout(rest);
    return stopListening();
  };
  return { url, gate, table, stop };
}
