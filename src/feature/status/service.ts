/** The server's health and summary counts. */
import { statfsSync } from "node:fs";
import { dirname } from "node:path";
import type { Config } from "../../core/config.ts";
import { messageOf } from "../../core/errors.ts";
import { hasAdministrator } from "../../store/administrators.ts";
import type { Standby } from "../../store/identity.ts";
import type { Core } from "../feature.ts";
import type { Status } from "./model.ts";

interface StatusSources extends Pick<Core, "store" | "bus" | "clock"> {
  version: string;
  /** Whether credentials are required. */
  authRequired: boolean;
  lastEventId(): number;
  /** Version of the container engine; undefined when none is used. Throws when the engine does not answer. */
  dockerVersion(): Promise<string | undefined>;
  /** Counts of all features. */
  counts(): Record<string, number>;
  standby: Pick<Standby, "since">;
  startFailures(): readonly Status["start_failures"][number][];
  sandbox: Omit<Status["sandbox"], "reason">;
  config: Pick<Config, "sandbox">;
}

/** Shortest time between two requests to the container engine, ms. */
const DOCKER_EVERY_MS = 5_000;
const MIN_FREE_BYTES = 32 * 1024 * 1024;

export function createStatus(sources: StatusSources) {
  const { store, bus, clock, version, sandbox } = sources;
  let docker: { at: number; state: Status["docker"] } | undefined;
  let asking: Promise<Status["docker"]> | undefined;
  const ask = async (): Promise<Status["docker"]> => {
    const found = await sources.dockerVersion().catch(() => undefined);
    const state = found === undefined ? { connected: false } : { connected: true, version: found };
    docker = { at: clock.monotonic(), state };
    return state;
  };
  const dockerState = async (): Promise<Status["docker"]> => {
    if (docker && clock.monotonic() - docker.at < DOCKER_EVERY_MS) return docker.state;
    // Requests during a slow answer of the engine share that answer.
    asking ??= ask().finally(() => {
      asking = undefined;
    });
    return await asking;
  };
  /** Why writes would fail; undefined when they work. */
  const notReady = (): string | undefined => {
    try {
      store.sqlite.prepare("SELECT 1 FROM migrations LIMIT 1").get();
      const { bavail, bsize } = statfsSync(dirname(store.sqlite.name));
      return bavail * bsize < MIN_FREE_BYTES ? "The disk of the data folder is nearly full." : undefined;
    } catch (error) {
      return `The database does not answer: ${messageOf(error)}`;
    }
  };
  return {
    notReady,
    async status(): Promise<Status> {
      const dockerNow = await dockerState();
      const start_failures = sources.startFailures().map(({ feature, when }) => ({ feature, when }));
      const standby = sources.standby.since();
      const degraded =
        standby !== null ||
        start_failures.length > 0 ||
        notReady() !== undefined ||
        (sandbox.kind === "docker" && !dockerNow.connected);
      return {
        status: degraded ? "degraded" : "ok",
        version,
        setup_required: sources.authRequired && !hasAdministrator(store),
        broker: {
          kind: "in-process",
          connected: true,
          subscribers: bus.subscribers,
          last_event_id: sources.lastEventId(),
          dropped: bus.dropped,
        },
        uptime_ms: Math.round(clock.monotonic()),
        database: { connected: store.sqlite.open },
        docker: dockerNow,
        sandbox: { ...sandbox, reason: reasonOf(sandbox.kind, sources.config.sandbox, dockerNow.connected) },
        start_failures,
        standby,
        counts: sources.counts(),
      };
    },
  };
}

/** Why agents work in the sandbox that was chosen at the start, as things are now. */
function reasonOf(kind: string, wanted: Config["sandbox"], isConnected: boolean): string {
  if (kind === "docker")
    return isConnected
      ? "The container engine answers."
      : "The container engine does not answer, and work that needs a sandbox waits for it. Start the engine, or restart the server with SANDBOX=process.";
  if (kind === "kubernetes") return "SANDBOX is set to kubernetes.";
  if (kind !== "process") return "";
  if (wanted === "process") return "SANDBOX is set to process.";
  return isConnected
    ? "No container engine answered at the start, and one does now. Restart the server to work in containers."
    : "No container engine answered at the start. To work in containers, install and start one, such as Docker, and restart the server.";
}
