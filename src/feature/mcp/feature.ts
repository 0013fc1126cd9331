import { mkdir } from "node:fs/promises";
import { join } from "node:path";
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
import { createDockerToolServers } from "../../adapter/sandbox/docker/tool-servers.ts";
import { createProcessToolServers } from "../../adapter/sandbox/process/tool-servers.ts";
import { unavailable } from "../../core/errors.ts";
import { LIMITS } from "../../core/limits.ts";
import { ownJson } from "../../core/own-json.ts";
import type { OpenPipe } from "../../core/pipe.ts";
import { BUILD } from "../../core/version.ts";
import type { ToolServers } from "../../engine/tool-servers.ts";
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
      store,
      rows,
      logs,
      log,
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
    // What their servers print is masked from the first line on.
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

/** Where tool servers run that are programs; no containers where no engine is used. */
interface Places {
  container: ToolServers | undefined;
  /** Why there are none, and what can be done. */
  noContainers: string;
  host: ToolServers;
}

function placesOf({ docker, instanceId, config }: Needs): Places {
  const owner = { uid: process.getuid?.() ?? 0, gid: process.getgid?.() ?? 0 };
  return {
    container:
      docker &&
      createDockerToolServers({
        docker,
        instanceId,
        owner,
        images: createAgentImages({ docker, pull: config.imagePull }),
        carries: config.sandboxWorkspace === "detached",
      }),
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
    const env = values.resolved(server, values.open(row.sealed_env));
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
    // Skipped when the address has changed since: the tokens would be for the former one.
    if (rows.find(row.id)?.url === row.url) rows.keepTokens(row.id, sealer.seal(JSON.stringify(now)));
  };
  return {
    transport: row.transport === "sse" ? ("sse" as const) : ("http" as const),
    url: row.url ?? "",
    headers: values.resolved(row.id, values.open(row.sealed_headers)),
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
