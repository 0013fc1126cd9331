/**
 * A thin, typed wrapper over the Docker Engine API (Docker and Podman): what the product needs, in the engine's terms.
 * Every failure is a Problem: `sandbox_unavailable` (503, the engine does not answer), `docker_not_found` (404),
 * `docker_conflict` (409, also "not running"), `docker_error` (502, anything else the engine refuses).
 */
import type Docker from "dockerode";
import { lazy } from "../core/lazy.ts";
import { createAttendance, PATIENCE, type Patience } from "./docker/attendance.ts";
import { createContainerApi } from "./docker/containers.ts";
import { type DockerEndpoint, modemOptions } from "./docker/endpoint.ts";
import { asProblem, callEngine, type Engine } from "./docker/failures.ts";
import { createImageApi } from "./docker/images.ts";
import { createNetworkApi } from "./docker/networks.ts";
import { createSshWay, type SshWay } from "./docker/ssh.ts";
import { createVolumeApi } from "./docker/volumes.ts";

export interface EngineInfo {
  engine: "docker" | "podman";
  version: string;
  /** E.g. `1.41`. */
  apiVersion: string;
  os: string;
  arch: string;
  /** The engine itself runs without root: user 0 of a container is the engine's own user on the host. */
  rootless: boolean;
  /** Folder of its machine where it keeps containers and images. */
  dataRoot: string;
  /** Names of the runtimes that it can start containers with. */
  runtimes: readonly string[];
}

export type DockerClient = ReturnType<typeof connectDocker>;

const INFO_TIMEOUT_MS = 10_000;

/**
 * A client of the engine at that endpoint. Opens nothing until the first call.
 * @param patience with an engine that does not answer.
 */
export function connectDocker(endpoint: DockerEndpoint, patience: Patience = PATIENCE) {
  const { address, ssh } = endpoint;
  const way = ssh && createSshWay(ssh, address);
  const docker = lazy(() => {
    const Client: typeof Docker = require("dockerode");
    const client = new Client(modemOptions(endpoint));
    if (way) goBy(way, client.modem);
    return client;
  });
  const ping = (timeoutMs = patience.pingMs) =>
    callEngine(address, async () => {
      const socketPath = way ? await way.open() : endpoint.socketPath;
      await (socketPath ? pingSocket(socketPath, timeoutMs) : within(timeoutMs, docker().ping()));
    });
  const attend = createAttendance(ping, patience.everyMs);
  const engine: Engine = { docker, address, call: (action) => callEngine(address, () => attend(action)) };
  return {
    /** For people: `unix:///var/run/docker.sock`. */
    address,
    /** Resolves when the engine answers within `timeoutMs`; throws `sandbox_unavailable` otherwise. */
    ping,
    /** Throws `sandbox_unavailable` when the engine does not answer within some seconds. */
    info: async (): Promise<EngineInfo> => {
      // A frozen engine is found out sooner than a slow one is given up.
      await ping();
      return await callEngine(address, async () => {
        const answers = Promise.all([docker().version(), docker().info()]);
        return engineInfo(...(await within(INFO_TIMEOUT_MS, answers)));
      });
    },
    images: createImageApi(engine),
    containers: createContainerApi(engine),
    networks: createNetworkApi(engine),
    volumes: createVolumeApi(engine),
  };
}

/**
 * A client of the engine that `find` names. It is looked for again at each use until one has answered: an engine that starts
 * later than the server may listen at another of the usual sockets. Then the client stays with it.
 */
export function connectFound(find: () => DockerEndpoint): DockerClient {
  let client = connectDocker(find());
  let hasAnswered = false;
  const now = (): DockerClient => {
    if (hasAnswered) return client;
    const endpoint = find();
    if (endpoint.address !== client.address) client = connectDocker(endpoint);
    return client;
  };
  const settle = async <T>(call: (asked: DockerClient) => Promise<T>): Promise<T> => {
    const asked = now();
    const answer = await call(asked);
    if (!hasAnswered) client = asked;
    hasAnswered = true;
    return answer;
  };
  return {
    ping: (timeoutMs) => settle((asked) => asked.ping(timeoutMs)),
    info: () => settle((asked) => asked.info()),
    get address() {
      return now().address;
    },
    get images() {
      return now().images;
    },
    get containers() {
      return now().containers;
    },
    get networks() {
      return now().networks;
    },
    get volumes() {
      return now().volumes;
    },
  };
}

/** What the client library sends each request with. */
interface Modem {
  socketPath?: string;
  getSocketPath?(): Promise<string>;
  dial(options: { file?: unknown }, callback: (error: unknown, answer?: unknown) => void): void;
}

/**
 * Each request waits for the way, which may have to be made again, and lead over another socket then. One that came too late
 * for a way that has just ended goes once more, unless what it sends is read already.
 */
function goBy(way: SshWay, modem: Modem): void {
  const dial = modem.dial.bind(modem);
  const go = async (options: { file?: unknown }, callback: Parameters<Modem["dial"]>[1], isLast: boolean) => {
    let socketPath: string;
    try {
      socketPath = await way.open();
    } catch (error) {
      return callback(error);
    }
    modem.socketPath = socketPath;
    // It keeps the first for good.
    modem.getSocketPath = async () => socketPath;
    dial({ ...options }, (error, answer) => {
      const isShut = error instanceof Error && "code" in error && /^(ECONNREFUSED|ENOENT)$/.test(String(error.code));
      if (!isShut) return callback(error, answer);
      way.drop(socketPath);
      if (isLast) return callback(error, answer);
      void go(options, callback, true);
    });
  };
  modem.dial = (options, callback) => void go(options, callback, options.file !== undefined);
}

/** Without the client library, which a server that starts need not load to learn whether there is an engine. */
async function pingSocket(unix: string, timeoutMs: number): Promise<void> {
  const answer = await fetch("http://engine/_ping", { unix, signal: AbortSignal.timeout(timeoutMs) });
  await answer.body?.cancel();
  if (!answer.ok) throw new Error(`the engine answers with status ${answer.status}`);
}

/** The client library's own time-outs cover only parts of a call. */
async function within<T>(timeoutMs: number, call: Promise<T>): Promise<T> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`no answer within ${timeoutMs} ms`)), timeoutMs);
  });
  try {
    return await Promise.race([call, late]);
  } finally {
    clearTimeout(timer);
  }
}

/** What is read of the engine's own description; the client's types leave most of it out. */
interface EngineFacts {
  SecurityOptions?: string[];
  DockerRootDir?: string;
  Runtimes?: Record<string, unknown>;
}

function engineInfo(version: Docker.DockerVersion, info: EngineFacts): EngineInfo {
  if (!version?.Version) throw asProblem(new Error("it does not speak the Docker Engine API"), "");
  const components = version.Components ?? [];
  return {
    engine: components.some((part) => /podman/i.test(part.Name)) ? "podman" : "docker",
    version: version.Version,
    apiVersion: version.ApiVersion,
    os: version.Os,
    arch: version.Arch,
    rootless: (info.SecurityOptions ?? []).some((option) => option.includes("rootless")),
    dataRoot: info.DockerRootDir ?? "",
    runtimes: Object.keys(info.Runtimes ?? {}),
  };
}
