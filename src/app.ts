/** The one place that knows everybody: configuration → store → bus → services → engine → HTTP. Reads like a map. */
import { Elysia } from "elysia";
import { dockerEndpoint } from "./adapter/docker/endpoint.ts";
import { connectDocker } from "./adapter/docker.ts";
import { createGit } from "./adapter/git.ts";
import { createCatalogue } from "./adapter/model/catalogue.ts";
import { listModels } from "./adapter/model/live-models.ts";
import { normalizeBaseUrl, providerEntry } from "./adapter/model/providers.ts";
import { createOidcClient } from "./adapter/oidc.ts";
import { LABELS } from "./adapter/sandbox/docker/container-spec.ts";
import { createImages } from "./adapter/sandbox/docker/image.ts";
import { eventCatalogue } from "./app/events.ts";
import { openWork } from "./app/work.ts";
import { unpackAddonsTo } from "./core/addons.ts";
import { systemClock } from "./core/clock.ts";
import { createClockwork } from "./core/clockwork.ts";
import type { Config } from "./core/config.ts";
import { createLog } from "./core/log.ts";
import { RELEASE_KEY } from "./core/release-key.ts";
import { createSealer } from "./core/sealing.ts";
import { BUILD } from "./core/version.ts";
import { pipelineJsonSchema } from "./engine/pipeline/definition.ts";
import { createAdministration } from "./feature/admin/feature.ts";
import { createNotifications } from "./feature/admin/notifications.ts";
import { adminRoutes } from "./feature/admin/routes.ts";
import { agentRoutes } from "./feature/agents/routes.ts";
import { agentToolRoutes } from "./feature/agents/tool-routes.ts";
import { auditRoutes } from "./feature/audit/routes.ts";
import { apiKeyRoutes } from "./feature/auth/key-routes.ts";
import { authRoutes } from "./feature/auth/routes.ts";
import { createAuth } from "./feature/auth/service.ts";
import { type Budgets, createBudgets } from "./feature/budgets/service.ts";
import { docsRoutes } from "./feature/docs/routes.ts";
import { createDoctor, type DoctorDeps } from "./feature/doctor/service.ts";
import { eventRoutes } from "./feature/events/routes.ts";
import { homeRoutes } from "./feature/home/routes.ts";
import { jobRoutes } from "./feature/jobs/routes.ts";
import { createJobs } from "./feature/jobs/service.ts";
import { knowledgeGraphRoutes } from "./feature/knowledge-graph/routes.ts";
import { oidcRoutes } from "./feature/oidc/routes.ts";
import { createOidc } from "./feature/oidc/service.ts";
import { pipelineRoutes } from "./feature/pipelines/routes.ts";
import { projectRoutes } from "./feature/projects/routes.ts";
import { createProviderFeature } from "./feature/providers/feature.ts";
import { providerRoutes } from "./feature/providers/routes.ts";
import { providerOverrides } from "./feature/providers/service.ts";
import { RUN_ENDS, runRestarted } from "./feature/runs/events.ts";
import { runRoutes } from "./feature/runs/routes.ts";
import { secretRoutes } from "./feature/secrets/routes.ts";
import { settingsRoutes } from "./feature/settings/routes.ts";
import { createSettings } from "./feature/settings/service.ts";
import { skillRoutes } from "./feature/skills/routes.ts";
import { statusRoutes } from "./feature/status/routes.ts";
import { createStatus } from "./feature/status/service.ts";
import { updateRoutes } from "./feature/updates/routes.ts";
import { createUpdates } from "./feature/updates/service.ts";
import { usageRoutes } from "./feature/usage/routes.ts";
import { createUsageLog } from "./feature/usage/service.ts";
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
import { instanceId } from "./store/instance-id.ts";
import { instanceKeys } from "./store/instance-keys.ts";
import { lockDataFolder } from "./store/lock.ts";
import { databasePath, openStore } from "./store/store.ts";

export { openLostAccess } from "./feature/auth/lost-access.ts";

export type App = Awaited<ReturnType<typeof createApp>>;

const engineOf = ({ dockerHost: host, dockerCertPath: certPath, hostEnv }: Config) =>
  connectDocker(dockerEndpoint({ host, certPath, home: hostEnv["HOME"], runtimeDir: hostEnv["XDG_RUNTIME_DIR"] }));

/** The agents' images, for commands that need no server. */
export const openImages = (config: Config) => createImages({ docker: engineOf(config) });

/** Looks at what a server would need. `server` finds the one that runs. */
export const openDoctor = (config: Config, server: DoctorDeps["server"]) =>
  createDoctor({ config, engine: engineOf(config), gitVersion: createGit({ env: config.hostEnv }).version, server });

/** Opens everything and listens. @throws Problem with the remedy when a part cannot start. */
export async function createApp(config: Config) {
  const clock = systemClock;
  const log = createLog(config);
  const folder = openDataFolder(config.data);
  unpackAddonsTo(folder.cache);
  const unlock = lockDataFolder(folder.root);
  const store = openStore({
    ...{ path: databasePath(folder.root), clock, copies: folder.backups, checkEvents: !BUILD.compiled },
    onEffectError: (err) => log.error({ err }, "something that follows a change failed"),
  });
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
  const docker = config.sandbox === "process" ? undefined : engineOf(config);
  const settings = createSettings({ store, clock, audit });
  const clockwork = createClockwork(clock, (err, source) => log.error({ err, source }, "what was due failed"));
  const jobs = createJobs({ store, clock, clockwork, log, audit });
  const notifications = createNotifications({ store, clock });
  const catalogue = createCatalogue({
    clock,
    overrides: providerOverrides(store, (id) => providerEntry(id)?.priceId !== undefined),
  });
  const providers = createProviderFeature({
    ...{ store, clock, sealer, audit, catalogue, normalizeBaseUrl, notices: notifications },
    providerEnv: config.providerEnv,
    localUser: !config.authRequired,
    defaultModel: settings.defaultModel,
    listModels: (endpoint) => listModels(endpoint, { clock }),
  });
  const budgets: Budgets = createBudgets({
    ...{ store, clock, notify: notifications.notify },
    limits: () => settings.get().budgets,
    ownLimits: (spender) => work.ownLimits(spender),
  });
  const usage = createUsageLog({ store, clock, onRecorded: [budgets.recorded, providers.watch] });
  // Every feature that keeps things of users gives them to somebody else when a user is deleted.
  const handOvers: HandOver[] = [eventLog.handOver, providers.handOver, notifications.handOver, jobs.handOver];
  const oidcClient = createOidcClient((why, detail) => log.warn(detail, why));
  const oidc = createOidc({ store, clock, sealer, audit, client: oidcClient, endSessions: auth.forUsers.endSessions });
  const users = createUsers({ store, clock, audit, ...auth.forUsers, handOvers });

  const instance = instanceId(store);
  let address: string | undefined;
  const work = await openWork({
    ...{ config, clock, log, folder, store, bus, audit, sealer, docker, catalogue, settings, usage, budgets, jobs },
    instanceId: instance,
    keys: providers.keys,
    hasProvider: providers.providers.anyConfigured,
    engineToken: keys.engineToken,
    url: () => address,
  });
  const { secrets, skills, pipelines, agents, projects, runs } = work;

  const facts = new WeakMap<Request, RequestFacts>();
  const idempotency = createIdempotency(store, clock);
  const events = eventCatalogue();
  const streams = createEventStreams({ log: eventLog, bus, runEnds: RUN_ENDS, runRestarted });
  const tickets = createTickets(clock);
  const metrics = createMetrics();
  const limits = createRateLimits(clock, config.rateLimit);
  const base = createBase({ store, idempotency, facts });
  const updates = createUpdates({
    ...{ build: BUILD, clock, notices: notifications, manifestUrl: config.updateCheckUrl },
    publicKey: config.updatePublicKey ?? RELEASE_KEY,
    settings: () => settings.get().updates,
  });
  const administration = createAdministration({
    ...{ store, clock, log, docker, notifications, stored: settings, jobs },
    data: folder.root,
    instanceId: instance,
    labels: LABELS,
    agentImage: () => settings.get().sandbox.image ?? config.agentImage,
    makeImage: work.sandbox.makeImage,
    retention: { keep: () => settings.get().retention, usage, jobs, budgets, others: [eventLog, idempotency, auth] },
    duties: [updates.duty],
  });
  const status = createStatus({
    ...{ clock, bus, store, work, version: BUILD.version, lastEventId: eventLog.lastId },
    dockerVersion: async () => (docker ? (await docker.info()).version : undefined),
    counts: () => ({
      agents: agents.agents.ids().length,
      pipelines: pipelines.ids().length,
      projects: projects.projects.count(),
    }),
  });

  const routes = new Elysia()
    .use(problemErrors(facts, log))
    .use(statusRoutes(base, { ...status, metrics: metrics.render, metricsType: metrics.contentType }))
    .use(eventRoutes(base, { streams, tickets, catalogue: events, assertRun: runs.views.rowFor }))
    .use(secretRoutes(base, secrets, { engineTokenSet: keys.engineToken !== undefined }))
    .use(authRoutes(base, { auth, store, site, providerLogout: oidc.signOn.logoutUrl }))
    .use(oidcRoutes(base, { ...oidc, site, open: auth.openSignOn }))
    .use(apiKeyRoutes(base, auth.apiKeys))
    .use(userRoutes(base, users))
    .use(auditRoutes(base, store))
    .use(waitlistRoutes(base, { store, clock }))
    .use(skillRoutes(base, skills))
    .use(agentRoutes(base, agents.agents, agents.bodies))
    .use(agentToolRoutes(base, agents.agents, agents.overrides))
    .use(pipelineRoutes(base, pipelines, pipelineJsonSchema))
    .use(projectRoutes(base, projects.projects))
    .use(knowledgeGraphRoutes(base, work.codeGraph.service))
    .use(runRoutes(base, runs.service, runs.views))
    .use(settingsRoutes(base, settings))
    .use(jobRoutes(base, jobs))
    .use(providerRoutes(base, providers))
    .use(usageRoutes(base, { usage, clock, budgets: budgets.states }))
    .use(adminRoutes(base, administration))
    .use(updateRoutes(base, updates))
    .use(homeRoutes(base, { version: BUILD.version }))
    .use(docsRoutes(base, { document: () => document }));
  const table = createRouteTable(routes);
  const document = openApiDocument(routes, table, { version: BUILD.version, prefix: site.prefix, events });
  const authenticate = createAuthenticate({
    authRequired: config.authRequired,
    engineToken: keys.engineToken,
    executionOf: work.engine.tokens.find,
    accounts: auth.accounts,
    redeemTicket: tickets.redeem,
  });
  const gate = createGate({
    app: routes,
    table,
    config,
    log,
    facts,
    idempotency,
    metrics,
    authenticate,
    limits,
    site,
    count: administration.apiUsage.count,
  });
  const server = listen(gate, config, streams.close);
  address = server.url;
  await work.start();
  jobs.start();
  clockwork.start();

  return {
    config,
    url: server.url,
    isNew: folder.isNew,
    setupToken: auth.setup.tokenToShow(),
    routes,
    table,
    gate,
    async stop() {
      await work.stop();
      await server.stop();
      await administration.stop();
      clockwork.stop();
      await jobs.stop();
      await work.codeGraph.close();
      store.close();
      unlock();
    },
  };
}
