/** The one place that knows everybody: configuration → store → bus → services → engine → HTTP. Reads like a map. */
import { Elysia } from "elysia";
import { createAddressGuard } from "./adapter/address-guard.ts";
import { createGit } from "./adapter/git.ts";
import { createOidcClient } from "./adapter/oidc.ts";
import { unpackAddonsTo } from "./core/addons.ts";
import { systemClock } from "./core/clock.ts";
import type { Config } from "./core/config.ts";
import { createLog } from "./core/log.ts";
import { createSealer } from "./core/sealing.ts";
import { BUILD } from "./core/version.ts";
import { auditRoutes } from "./feature/audit/routes.ts";
import { apiKeyRoutes } from "./feature/auth/key-routes.ts";
import { authRoutes } from "./feature/auth/routes.ts";
import { createAuth } from "./feature/auth/service.ts";
import { docsRoutes } from "./feature/docs/routes.ts";
import { eventRoutes } from "./feature/events/routes.ts";
import { oidcRoutes } from "./feature/oidc/routes.ts";
import { createOidc } from "./feature/oidc/service.ts";
import { openProjects } from "./feature/projects/open.ts";
import { projectRoutes } from "./feature/projects/routes.ts";
import { secretRoutes } from "./feature/secrets/routes.ts";
import { createSecrets } from "./feature/secrets/service.ts";
import { statusRoutes } from "./feature/status/routes.ts";
import { userRoutes } from "./feature/users/routes.ts";
import { createUsers, type HandOver } from "./feature/users/service.ts";
import { waitlistRoutes } from "./feature/waitlist/routes.ts";
import { createAuthenticate } from "./http/authenticate.ts";
import { base as createBase, type RequestFacts } from "./http/base.ts";
import { createEventStreams } from "./http/event-stream.ts";
import { createGate } from "./http/gate.ts";
import { createIdempotency } from "./http/idempotency.ts";
import { createMetrics } from "./http/metrics.ts";
import { openApiDocument } from "./http/openapi.ts";
import { problemErrors } from "./http/problem-errors.ts";
import { createRateLimits } from "./http/rate-limit.ts";
import { createRouteTable } from "./http/route-table.ts";
import { listen } from "./http/server.ts";
import { createSite } from "./http/site.ts";
import { createTickets } from "./http/tickets.ts";
import { createAudit } from "./store/audit.ts";
import { createBus } from "./store/bus.ts";
import { openDataFolder } from "./store/data-folder.ts";
import { createEventLog } from "./store/event-log.ts";
import { instanceKeys } from "./store/instance-keys.ts";
import { lockDataFolder } from "./store/lock.ts";
import { databasePath, openStore } from "./store/store.ts";

export type App = Awaited<ReturnType<typeof createApp>>;

/** Opens everything and listens. @throws Problem with the remedy when a part cannot start. */
export async function createApp(config: Config) {
  const clock = systemClock;
  const log = createLog(config);
  const folder = openDataFolder(config.data);
  unpackAddonsTo(folder.cache);
  const unlock = lockDataFolder(folder.root);
  const store = openStore({ path: databasePath(folder.root), clock, copies: folder.backups });
  const bus = createBus((err, event) => log.error({ err, kind: event.kind }, "subscriber failed"));
  store.onCommit(bus.deliver);
  const eventLog = createEventLog(store, clock);
  const audit = createAudit(store, clock);
  const keys = instanceKeys({ config, folder, log });

  const sealer = createSealer(keys.secretsKey);
  const site = createSite(config);
  const auth = createAuth({
    store,
    clock,
    log,
    audit,
    sealer,
    site,
    config,
    dataRoot: folder.root,
    signingKey: keys.signingKey(),
  });
  // Every feature that keeps things of users gives them to somebody else when a user is deleted.
  const handOvers: HandOver[] = [eventLog.handOver];
  const oidcClient = createOidcClient((why, detail) => log.warn(detail, why));
  const oidc = createOidc({ store, clock, sealer, audit, client: oidcClient, endSessions: auth.forUsers.endSessions });
  const users = createUsers({ store, clock, audit, ...auth.forUsers, handOvers });

  const secrets = createSecrets({
    store,
    clock,
    sealer,
    audit,
    agentExists: () => true,
  });

  const git = createGit({ env: config.hostEnv });
  const guard = createAddressGuard(config.fetchAllow);
  const { projects, stop: stopClones } = openProjects({
    ...{ store, clock, log, audit, git, guard },
    data: folder,
    allowLocal: config.allowLocalRepositories,
    pipelineExists: () => true,
    activeRuns: () => 0,
  });
  await projects.recover();

  const facts = new WeakMap<Request, RequestFacts>();
  const idempotency = createIdempotency(store, clock);
  const streams = createEventStreams({ log: eventLog, bus });
  const tickets = createTickets(clock);
  const metrics = createMetrics();
  const limits = createRateLimits(clock, config.rateLimit);
  const base = createBase({ store, idempotency, facts });
  const status = async () => ({
    status: "ok" as const,
    version: BUILD.version,
    broker: {
      kind: "in-process" as const,
      connected: true,
      subscribers: bus.subscribers,
      last_event_id: eventLog.lastId(),
      dropped: bus.dropped,
    },
    uptime_ms: Math.round(clock.monotonic()),
    database: { connected: store.sqlite.open },
    docker: { connected: false },
    sandbox: { kind: "process" as const, shell: false },
    counts: { agents: 0, pipelines: 0, projects: 0, active_runs: 0, active_sessions: 0, runs_last_hour: 0 },
  });

  const routes = new Elysia()
    .use(problemErrors(facts, log))
    .use(
      statusRoutes(base, {
        status,
        notReady: () => undefined,
        metrics: metrics.render,
        metricsType: metrics.contentType,
      }),
    )
    .use(eventRoutes(base, { streams, tickets, runExists: () => true }))
    .use(secretRoutes(base, secrets, { engineTokenSet: keys.engineToken !== undefined }))
    .use(authRoutes(base, { auth, store, site, providerLogout: oidc.signOn.logoutUrl }))
    .use(oidcRoutes(base, { ...oidc, site, open: auth.openSignOn }))
    .use(apiKeyRoutes(base, auth.apiKeys))
    .use(userRoutes(base, users))
    .use(auditRoutes(base, store))
    .use(waitlistRoutes(base, { store, clock }))
    .use(projectRoutes(base, projects))
    .use(docsRoutes(base, { document: () => document }));
  const table = createRouteTable(routes);
  const document = openApiDocument(routes, table, BUILD.version);
  const authenticate = createAuthenticate({
    authRequired: config.authRequired,
    engineToken: keys.engineToken,
    executionOf: () => undefined,
    accounts: auth.accounts,
    redeemTicket: tickets.redeem,
  });
  const gate = createGate({ app: routes, table, config, log, facts, idempotency, metrics, authenticate, limits, site });
  const server = listen(gate, config, streams.close);

  return {
    config,
    url: server.url,
    isNew: folder.isNew,
    setupToken: auth.setup.tokenToShow(),
    routes,
    table,
    gate,
    async stop() {
      await server.stop();
      await stopClones();
      store.close();
      unlock();
    },
  };
}
