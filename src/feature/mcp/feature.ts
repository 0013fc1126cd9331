import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { dockerEndpoint } from "../../adapter/docker/endpoint.ts";
import { connectDocker, type DockerClient } from "../../adapter/docker.ts";
import { connectServer, type Target } from "../../adapter/mcp/client.ts";
import { createHttpFetch } from "../../adapter/mcp/http-fetch.ts";
import {
  beginLogin,
  type Credentials,
  clientMetadata,
  finishLogin,
  renewingProvider,
} from "../../adapter/mcp/oauth.ts";
import { createAgentImages } from "../../adapter/sandbox/docker/agent-image.ts";
import { LABELS } from "../../adapter/sandbox/docker/container-spec.ts";
import { createDockerToolServers, SERVER_LABEL } from "../../adapter/sandbox/docker/tool-servers.ts";
import {
  createHostedToolServers,
  type HostedToolServersDeps,
  type ToolServerHost,
} from "../../adapter/sandbox/hosts/tool-servers.ts";
import { createProcessToolServers } from "../../adapter/sandbox/process/tool-servers.ts";
import { readDockerHosts } from "../../core/docker-options.ts";
import { unavailable } from "../../core/errors.ts";
import { LIMITS } from "../../core/limits.ts";
import { ownJson } from "../../core/own-json.ts";
import type { OpenPipe } from "../../core/pipe.ts";
import { BUILD } from "../../core/version.ts";
import type { ToolServers } from "../../engine/tool-servers.ts";
import { facts } from "../../store/tables/foundation.ts";
import { drainedHosts } from "../../store/tables/hosts.ts";
import { removeFolder } from "../../working-copy/folder.ts";
import type { Agents } from "../agents/service.ts";
import { type Core, defineFeature, type ServiceOf } from "../feature.ts";
import type { projects } from "../projects/feature.ts";
import type { Secrets } from "../secrets/service.ts";
import { createConnections } from "./connections.ts";
import { mcpEvents } from "./events.ts";
import { loginRoutes } from "./login-routes.ts";
import { createLogins } from "./logins.ts";
import { createMcpLogs, type McpLogs } from "./logs.ts";
import { createProposals } from "./proposals.ts";
import { mcpRoutes } from "./routes.ts";
import { resolverFor } from "./server-url.ts";
import { createMcp } from "./service.ts";
import { createMcpRows, type McpRows, type ServerRow } from "./store.ts";
import { mcpTools } from "./tool-source.ts";
import { createMcpValues, type McpValues } from "./values.ts";

type Needs = Core & {
  projects: Pick<ServiceOf<typeof projects>, "get" | "texts">;
  agents: Pick<Agents, "exists">;
  secrets: Pick<Secrets, "valueOf">;
};

const RESTART_MS = 500;

export const mcp = defineFeature(
  "mcp",
  (deps: Needs) => {
    const { store, clock, log, config, masking, folder } = deps;
    const rows = createMcpRows(store, clock);
    const logs = createMcpLogs(clock, masking);
    const values = createMcpValues({ ...deps, secretOf: deps.secrets.valueOf });
    const folderOf = (id: string) => join(folder.mcp, id);
    const places = placesOf(deps);
    const open = (row: ServerRow): OpenPipe => openerOf({ values, places, folderOf }, row);
    const connections = createConnections({
      ...deps,
      rows,
      logs,
      pauseMs: RESTART_MS,
      connect: (row, signal, onToolsChanged) =>
        connectServer(
          row.transport === "stdio"
            ? { transport: "stdio", open: open(row) }
            : webTarget({ deps, values, rows, logs }, row),
          {
            signal,
            onToolsChanged,
            timeoutMs: row.timeout_ms,
            answersDefaults: row.elicitation === "defaults",
            maxMessageBytes: LIMITS.mcpMessageBytes,
            maxNoiseBytes: LIMITS.mcpNoiseBytes,
            onLog: (stream, text) => logs.write(row.id, stream, text),
          },
        ),
    });
    const service = createMcp({
      ...deps,
      rows,
      values,
      connections,
      logs,
      agentExists: deps.agents.exists,
      async removeFolder(id) {
        await removeFolder(folderOf(id));
        await places.container?.forget(id);
      },
    });
    const proposals = createProposals({
      mcp: service,
      assertProject: (id) => void deps.projects.get(id),
      fileOf: deps.projects.texts.fileOf,
    });
    const logins = createLogins({
      ...deps,
      rows,
      connections,
      begin: beginLogin,
      finish: finishLogin,
      fetchOf: (row) => fetchOf({ deps, logs }, row),
      givenOf: (row) => values.openClient(row.id, row.sealed_oauth),
    });
    // Masks the servers' secrets before any server starts, so that their first printed line is masked as well.
    for (const row of rows.all())
      values.mask(row.id, {
        ...values.open(row.sealed_env),
        ...values.open(row.sealed_headers),
        oauth_client_secret: values.secretOf(row.sealed_oauth),
      });
    const stopped = new AbortController();
    return {
      service: { ...service, proposals },
      routes: () => [
        ...mcpRoutes(service, logs, proposals),
        ...loginRoutes({ logins, site: deps.site, clientMetadata }),
      ],
      tools: mcpTools(connections, deps.text),
      counts: () => ({ mcp_servers: rows.count(), mcp_tools: connections.tools().length }),
      async resume() {
        const isThere = (id: string) => rows.find(id) !== undefined;
        await places.host.sweep(isThere);
        await places.container?.sweep(isThere).catch(() => {});
        if (stopped.signal.aborted) return;
        deps.standby.whenActive(() => {
          if (!stopped.signal.aborted) connections.start();
        });
        log.debug({ sandbox: config.sandbox }, "tool servers are being started");
      },
      async stop() {
        stopped.abort();
        await connections.stop();
        await places.container?.close();
      },
    };
  },
  mcpEvents,
);

/** Where tool servers that are programs run. There are no containers without a container engine. */
interface Places {
  container: ToolServers | undefined;
  /** Why there are no containers, and what to do about it. */
  noContainers: string;
  host: ToolServers;
}

function placesOf(deps: Needs): Places {
  const { docker, instanceId, config, store } = deps;
  const owner = { uid: process.getuid?.() ?? 0, gid: process.getgid?.() ?? 0 };
  const createServers = (engine: DockerClient) =>
    createDockerToolServers({
      docker: engine,
      instanceId,
      owner,
      images: createAgentImages({ docker: engine, pull: config.imagePull }),
      carries: config.sandboxWorkspace === "detached",
    });
  // If DOCKER_HOST is set beside DOCKER_HOSTS, its engine runs the tool servers; otherwise the listed hosts do.
  const names = docker && config.dockerHost === undefined ? (readDockerHosts(config.dockerHosts) ?? []) : [];
  const hosts = names.map(({ name, address, tls }): ToolServerHost => {
    const engine = connectDocker(dockerEndpoint({ host: address, certPath: tls, env: config.hostEnv }));
    const labelsOf = (server: string) => [`${LABELS.instance}=${instanceId}`, `${SERVER_LABEL}=${server}`];
    const hasVolumes = async (server: string) => (await engine.volumes.list(labelsOf(server))).length > 0;
    return { name, servers: createServers(engine), hasVolumes };
  });
  const drained = store.rows(drainedHosts);
  const isDrained = (name: string) => drained.find({ name }) !== undefined;
  const hosted = createHostedToolServers({ hosts, isDrained, homes: homesIn(store) });
  return {
    container: hosts.length > 0 ? hosted : docker && createServers(docker),
    noContainers: config.sandbox === "kubernetes" ? NO_CONTAINERS.kubernetes : NO_CONTAINERS.process,
    host: createProcessToolServers({ instanceId, allowHostShell: config.allowHostShell }),
  };
}

const NO_CONTAINERS = {
  process:
    "It runs in a container, and this server works without a container engine. Install one and start the server again, or run it elsewhere and give its address (url).",
  kubernetes:
    "It runs in a container, and with SANDBOX=kubernetes only agents run in Pods. Run it in the cluster yourself, as a Deployment with a Service, and give its address (url).",
} as const;

/** Stores on which host each tool server has its files. */
function homesIn(store: Core["store"]): HostedToolServersDeps["homes"] {
  const rows = store.rows(facts);
  const nameOf = (server: string) => `tool_server_host:${server}`;
  return {
    find: (server) => rows.find({ name: nameOf(server) })?.value,
    set: (server, value) => store.write(() => rows.put({ name: nameOf(server), value }, ["name"])),
    forget: (server) => store.write(() => void rows.remove({ name: nameOf(server) })),
  };
}

interface OpenerParts {
  values: McpValues;
  places: Places;
  folderOf(id: string): string;
}

function openerOf({ values, places, folderOf }: OpenerParts, row: ServerRow): OpenPipe {
  return async (events, signal) => {
    const place = row.image === null ? places.host : places.container;
    if (!place) throw unavailable("sandbox_unavailable", places.noContainers);
    const folder = folderOf(row.id);
    await mkdir(folder, { recursive: true, mode: 0o700 });
    const { id: server, args, network, memory_mb: memoryMb } = row;
    const env = values.resolve(server, values.open(row.sealed_env));
    const [image, command] = [row.image ?? undefined, row.command ?? undefined];
    return place.open({ server, image, command, args, env, network, memoryMb, folder }, events, signal);
  };
}

const fetchOf = ({ deps, logs }: Pick<WebParts, "deps" | "logs">, { id, url, timeout_ms }: ServerRow) =>
  createHttpFetch({
    resolve: resolverFor(url ?? "", deps.guard),
    onLog: (text) => logs.write(id, "skep", text),
    userAgent: `Skep/${BUILD.version}`,
    maxBytes: LIMITS.mcpMessageBytes,
    timeoutMs: timeout_ms + LIMITS.mcpTimeoutMs,
  });

interface WebParts {
  deps: Needs;
  logs: McpLogs;
  values: McpValues;
  rows: McpRows;
}

function webTarget({ deps, values, rows, logs }: WebParts, row: ServerRow): Target {
  const { sealer } = deps;
  const kept = row.sealed_tokens === null ? undefined : ownJson<Credentials>(sealer.open(row.sealed_tokens));
  const keep = (now: Credentials) => {
    // Tokens are dropped if the server's address has changed meanwhile: they belong to the former address.
    if (rows.find(row.id)?.url === row.url) rows.keepTokens(row.id, sealer.seal(JSON.stringify(now)));
  };
  return {
    transport: row.transport === "sse" ? ("sse" as const) : ("http" as const),
    url: row.url ?? "",
    headers: values.resolve(row.id, values.open(row.sealed_headers)),
    fetch: fetchOf({ deps, logs }, row),
    ...(kept?.tokens ? { auth: renewingProvider(kept, keep, values.openClient(row.id, row.sealed_oauth)) } : {}),
    onScopeNeeded(scope) {
      if (!kept) return;
      kept.scope = [...new Set([kept.scope, kept.tokens?.scope, scope].flatMap((one) => one?.split(/\s+/) ?? []))]
        .filter(Boolean)
        .join(" ");
      keep(kept);
    },
  };
}
