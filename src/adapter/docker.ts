/**
 * A thin, typed wrapper over the Docker Engine API (Docker and Podman): the calls that Skep needs, in the engine's
 * terms.
 * Every failure is a Problem: `sandbox_unavailable` (503, the engine does not answer), `docker_not_found` (404),
 * `docker_conflict` (409, also "not running"), `docker_error` (502, anything else the engine refuses).
 */
import type Docker from "dockerode";
import { memoize } from "../core/lazy.ts";
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
  /** Whether the engine itself runs without root. Then user 0 of a container is the engine's own user on the host. */
  rootless: boolean;
  /** Folder on the engine's machine that holds its containers and images. */
  dataRoot: string;
  /** Names of the runtimes that the engine can start containers with. */
  runtimes: readonly string[];
}

export type DockerClient = ReturnType<typeof connectDocker>;

const INFO_TIMEOUT_MS = 10_000;

/**
 * Makes a client of the engine at that endpoint. It connects at the first call.
 * @param patience how long to wait for an engine that does not answer.
 */
export function connectDocker(endpoint: DockerEndpoint, patience: Patience = PATIENCE) {
  const { address, ssh } = endpoint;
  const way = ssh && createSshWay(ssh, address);
  const docker = memoize(() => {
    const Client: typeof Docker = require("dockerode");
    const client = new Client(modemOptions(endpoint));
    if (way) goBy(way, client.modem);
    return client;
  });
  const ping = (timeoutMs = patience.pingMs) =>
    callEngine(address, async () => {
      const socketPath = way ? await way.open() : endpoint.socketPath;
      await (socketPath ? pingSocket(socketPath, timeoutMs) : limitTime(timeoutMs, docker().ping()));
    });
  const attend = createAttendance(ping, patience.everyMs);
  const engine: Engine = { docker, address, call: (action) => callEngine(address, () => attend(action)) };
  return {
    /** The address in the form shown to people: `unix:///var/run/docker.sock`. */
    address,
    /** Resolves when the engine answers within `timeoutMs`; throws `sandbox_unavailable` otherwise. */
    ping,
    /** Throws `sandbox_unavailable` when the engine does not answer within some seconds. */
    info: async (): Promise<EngineInfo> => {
      // A ping has a shorter time-out than `info`, so that a frozen engine is noticed sooner than a slow one is given
      // up.
      await ping();
      return await callEngine(address, async () => {
        const answers = Promise.all([docker().version(), docker().info()]);
        return engineInfo(...(await limitTime(INFO_TIMEOUT_MS, answers)));
      });
    },
    images: createImageApi(engine),
    containers: createContainerApi(engine),
    networks: createNetworkApi(engine),
    volumes: createVolumeApi(engine),
  };
}

/**
 * Makes a client of the engine that `find` names. Until an engine has answered, `find` is called at each use, because
 * an engine that starts later than the server may listen at another of the usual sockets. After that, the client keeps
 * its endpoint.
 */
export function connectFound(find: () => DockerEndpoint): DockerClient {
  let client = connectDocker(find());
  let hasAnswered = false;
  const getClient = (): DockerClient => {
    if (hasAnswered) return client;
    const endpoint = find();
    if (endpoint.address !== client.address) client = connectDocker(endpoint);
    return client;
  };
  const settle = async <T>(call: (asked: DockerClient) => Promise<T>): Promise<T> => {
    const asked = getClient();
    const answer = await call(asked);
    if (!hasAnswered) client = asked;
    hasAnswered = true;
    return answer;
  };
  return {
    ping: (timeoutMs) => settle((asked) => asked.ping(timeoutMs)),
    info: () => settle((asked) => asked.info()),
    get address() {
      return getClient().address;
    },
    get images() {
      return getClient().images;
    },
    get containers() {
      return getClient().containers;
    },
    get networks() {
      return getClient().networks;
    },
    get volumes() {
      return getClient().volumes;
    },
  };
}

/** The parts of the client library that send a request. */
interface Modem {
  socketPath?: string;
  getSocketPath?(): Promise<string>;
  dial(options: { file?: unknown }, callback: (error: unknown, answer?: unknown) => void): void;
}

/**
 * Sends each request through the SSH connection. A request first waits for the connection, which may have to be made
 * again and may then have another socket.
 * A request that fails because the connection has just ended is sent once more, unless its body is a stream that has
 * been read already.
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
    // The library would otherwise keep the first socket path for good.
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

/** Pings without the client library: a starting server need not load it to learn whether there is an engine. */
async function pingSocket(unix: string, timeoutMs: number): Promise<void> {
  const answer = await fetch("http://engine/_ping", { unix, signal: AbortSignal.timeout(timeoutMs) });
  await answer.body?.cancel();
  if (!answer.ok) throw new Error(`the engine answers with status ${answer.status}`);
}

/** Bounds a whole call in time; the client library's own time-outs cover only parts of a call. */
async function limitTime<T>(timeoutMs: number, call: Promise<T>): Promise<T> {
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

/** The fields read from the engine's description of itself; the client's types lack most of them. */
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
