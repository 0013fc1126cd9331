/** HTTP over the features' routes: the gate in front, and the socket. */
import { Elysia } from "elysia";
import { lazy } from "../core/lazy.ts";
import { BUILD } from "../core/version.ts";
import type { Auth } from "../feature/auth/service.ts";
import type { EngineService } from "../feature/engine/feature.ts";
import { shapeAnswers } from "../http/answer-shape.ts";
import { createAuthenticate } from "../http/authenticate.ts";
import { createBodies } from "../http/body.ts";
import { clearSpooled } from "../http/form.ts";
import { createGate, type GateDeps } from "../http/gate.ts";
import { createInnerCall } from "../http/inner-call.ts";
import { problemErrors } from "../http/problem-errors.ts";
import { createRateLimits } from "../http/rate-limit.ts";
import { createRouteTable } from "../http/route-table.ts";
import { listen } from "../http/server.ts";
import type { Api } from "./compose.ts";
import type { CoreParts } from "./core.ts";

const openApi = lazy(() => require("../http/openapi.ts") as typeof import("../http/openapi.ts"));

/** What features' routes are added to. */
export const apiOf = ({ facts, log, masking, site, store }: CoreParts): Api => {
  const app = new Elysia().use(problemErrors(facts, { log, masking }));
  const table = lazy(() => createRouteTable(app));
  return {
    app,
    call: createInnerCall({ app, table, facts, store }),
    document: (events) =>
      openApi().openApiDocument(app, createRouteTable(app), { version: BUILD.version, prefix: site.prefix, events }),
  };
};

/** Who callers are and what is counted of them is known by features. */
export interface HttpNeeds {
  accounts: Pick<Auth, "accounts">;
  engine: Pick<EngineService, "executionOf">;
  admin: { countRequest: NonNullable<GateDeps["count"]> };
}

/** Listens. @throws Problem when it cannot. */
export function openHttp(core: CoreParts, { app }: Api, { accounts, engine, admin }: HttpNeeds) {
  const { config, clock, folder, log, store, facts, idempotency, metrics, site, streams } = core;
  shapeAnswers(app, config.checkAnswers || !BUILD.compiled);
  const table = createRouteTable(app);
  const authenticate = createAuthenticate({
    authRequired: config.authRequired,
    engineToken: core.keys.engineToken,
    executionOf: engine.executionOf,
    accounts: accounts.accounts,
    redeemTicket: core.tickets.redeem,
  });
  clearSpooled(folder.uploads);
  const bodies = createBodies(clock, folder.uploads);
  const gate = createGate({
    ...{ app, table, config, log, store, facts, bodies, idempotency, metrics, authenticate, site },
    limits: createRateLimits(clock, config.rateLimit),
    count: admin.countRequest,
  });
  const { url, stop } = listen({ gate, bodies, host: config.host, port: config.port, endStreams: streams.close });
  core.listening.url = url;
  return { url, gate, table, stop };
}
