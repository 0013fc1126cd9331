/** The server: parts under every feature → features → HTTP. What a feature brings is in its own folder. */
import { Elysia } from "elysia";
import { createGit } from "./adapter/git.ts";
import { createImages } from "./adapter/sandbox/docker/image.ts";
import { engineOf, openCore, type Replacements } from "./app/core.ts";
import { FEATURES } from "./app/features.ts";
import type { Config } from "./core/config.ts";
import { BUILD } from "./core/version.ts";
import { createDoctor, type DoctorDeps } from "./feature/doctor/service.ts";
import { createAuthenticate } from "./http/authenticate.ts";
import { createBodies } from "./http/body.ts";
import { createGate } from "./http/gate.ts";
import { openApiDocument } from "./http/openapi.ts";
import { problemErrors } from "./http/problem-errors.ts";
import { createRateLimits } from "./http/rate-limit.ts";
import { createRouteTable } from "./http/route-table.ts";
import { listen } from "./http/server.ts";

export { openLostAccess } from "./feature/auth/lost-access.ts";

export type App = Awaited<ReturnType<typeof createApp>>;

/** The agents' images, for commands that need no server. */
export const openImages = (config: Config) => createImages({ docker: engineOf(config) });

/** Looks at what a server would need. `server` finds the one that runs. */
export const openDoctor = (config: Config, server: DoctorDeps["server"]) =>
  createDoctor({ config, engine: engineOf(config), gitVersion: createGit({ env: config.hostEnv }).version, server });

export interface AppOptions extends Replacements {
  /** The product's features, or these instead. */
  features?: typeof FEATURES;
}

/** Opens everything and listens. @throws Problem with the remedy when a part cannot start; nothing stays open then. */
export async function createApp(config: Config, { features = FEATURES, ...replaced }: AppOptions = {}) {
  const core = openCore(config, replaced);
  const { log, store, facts, idempotency, metrics, site, tickets, streams, folder } = core;
  const opened: (() => unknown)[] = [core.close];
  const stop = async (): Promise<void> => {
    for (const close of opened.reverse().splice(0)) await close();
  };
  try {
    const routes = new Elysia().use(problemErrors(facts, core));
    const document = () =>
      openApiDocument(routes, table, { version: BUILD.version, prefix: site.prefix, events: core.eventCatalogue });
    const house = await features.create(core, { root: routes, document });
    opened.push(house.close);
    const { accounts, engine, admin } = house.services;
    const table = createRouteTable(routes);
    const authenticate = createAuthenticate({
      authRequired: config.authRequired,
      engineToken: core.keys.engineToken,
      executionOf: engine.executionOf,
      accounts: accounts.accounts,
      redeemTicket: tickets.redeem,
    });
    const bodies = createBodies(core.clock);
    const gate = createGate({
      ...{ app: routes, table, config, log, store, facts, bodies, idempotency, metrics, authenticate, site },
      limits: createRateLimits(core.clock, config.rateLimit),
      count: admin.countRequest,
    });
    const server = listen({ gate, bodies, host: config.host, port: config.port, endStreams: streams.close });
    core.listening.url = server.url;
    opened.push(server.stop, house.stop);
    await house.start();
    return {
      ...{ config, url: server.url, isNew: folder.isNew, setupToken: accounts.setup.tokenToShow() },
      ...{ services: house.services, contributions: house.contributions, routes, table, gate, stop },
    };
  } catch (error) {
    await stop();
    throw error;
  }
}
