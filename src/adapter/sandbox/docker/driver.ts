/**
 * The Docker sandbox: one restricted container (see container-spec.ts). The server works on files in the workspace's
 * folder; commands run in the container.
 */
import { constants } from "node:fs";
import { access, realpath } from "node:fs/promises";
import { setTimeout } from "node:timers/promises";
import type Docker from "dockerode";
import { type Clock, systemClock } from "../../../core/clock.ts";
import { codeOf, isProblem, unavailable } from "../../../core/errors.ts";
import type { Capabilities, HarnessPlaces, Sandbox, SandboxDriver, SandboxSpec } from "../../../engine/sandbox.ts";
import type { ImageDetail } from "../../docker/images.ts";
import type { DockerClient, EngineInfo } from "../../docker.ts";
import { MOUNT_POINT, type Owner } from "../workspace-path.ts";
import { aboutOf } from "./about.ts";
import type { AgentImages } from "./agent-image.ts";
import { linkCaches, openCaches } from "./caches.ts";
import { type Copies, createCopies, type SandboxFiles } from "./carried-files.ts";
import { containerRequest, HARNESS_STATE, LABELS, userOf } from "./container-spec.ts";
import { writeCookies } from "./cookie-file.ts";
import { execInContainer, openInContainer } from "./exec.ts";
import { LAY_OUT } from "./laid-out.ts";
import { createSandboxNetworks, type SandboxNetworks } from "./network.ts";
import { carriedPlace, mountedPlace, type Place } from "./place.ts";
import { type ContainerRelay, createContainerRelay, routesThrough } from "./relay.ts";
import { createRuntimeTrial } from "./runtime-trial.ts";

export interface DockerSandboxDeps {
  docker: DockerClient;
  /** Id of the server instance that owns the containers; part of their labels and of the network's name. */
  instanceId: string;
  defaultImage: string;
  images: Pick<AgentImages, "find">;
  /** The user the server runs as. */
  server: Owner;
  /** Folder of this host for the relay's program, which sandboxes with routes use. */
  relayFolder: string;
  /** Whether files are carried, so that the engine need not see the server's folders. */
  carries?: boolean;
  clock?: Clock;
}

export interface DockerSandbox extends Sandbox {
  readonly containerId: string;
}

export interface DockerSandboxes extends SandboxDriver {
  start(spec: SandboxSpec, signal: AbortSignal): Promise<DockerSandbox>;
  /** Removes the instance's networks if nothing uses them. */
  close(): Promise<void>;
}

const capabilitiesOf = (carries: boolean): Capabilities => ({
  shell: true,
  network: "own",
  isolation: "container",
  filesAtOnce: 10_000,
  previews: "thawed",
  files: carries ? "carried" : "shared",
});

/** Pauses between attempts of a start that the engine refused, ms. */
const START_PAUSES_MS = [500, 1_500, 4_000];
/** Further attempts when a network disappears between creating a container and starting it. */
const NETWORK_TRIES = 3;

/** Further attempts when the copy of the files has disappeared from the engine. */
const COPY_TRIES = 1;

/** Time limit of a removal, ms. A container that takes longer counts as not removed, and a later sweep tries again. */
const REMOVE_MS = 30_000;
/**
 * Longest that a call takes to report that the engine does not answer, ms. The client gives up sooner; see its
 * `PATIENCE`.
 */
const NOTICE_MS = 30_000;
/** Time limit for copying a set-up's files into a working copy, ms. */
const LAY_OUT_MS = 600_000;
/** States in which no process of a container runs. */
const HALTED = new Set(["created", "paused", "exited", "removing", "dead"]);

const PLACES: HarnessPlaces = { workspace: MOUNT_POINT, state: HARNESS_STATE };

interface Parts extends Required<Pick<DockerSandboxDeps, "clock">> {
  deps: DockerSandboxDeps;
  networks: SandboxNetworks;
  engine(): Promise<EngineInfo>;
  runtimes: ReturnType<typeof createRuntimeTrial>;
  capabilities: Capabilities;
  /** Undefined when the engine sees the server's folders. */
  copies: Copies | undefined;
}

export function createDockerSandboxes(deps: DockerSandboxDeps): DockerSandboxes {
  const { docker, instanceId, carries = false, clock = systemClock } = deps;
  const engine = remember(() => docker.info());
  const networks = createSandboxNetworks({ docker, instanceId, engine });
  const runtimes = createRuntimeTrial(docker, instanceId);
  const capabilities = capabilitiesOf(carries);
  const copies = carries ? createCopies(docker, instanceId) : undefined;
  const parts: Parts = { deps, clock, networks, engine, runtimes, capabilities, copies };
  return {
    name: "docker",
    capabilities,
    noticeMs: NOTICE_MS,
    about: async (spec) => aboutOf(spec, userOf(await engine(), deps.server).owner),
    start: (spec, signal) => startPatiently(parts, spec, signal),
    sweep: async (isLive) => {
      const signal = AbortSignal.timeout(REMOVE_MS);
      const rows = await docker.containers.list([`${LABELS.instance}=${instanceId}`, LABELS.execution], signal);
      const isNeeded = (executionId: string) => isLive(executionId) || runtimes.isUnderWay(executionId);
      const dead = rows.filter((row) => !isNeeded(row.labels[LABELS.execution] ?? ""));
      const removals = dead.map((row) => docker.containers.remove(row.id, { signal, mustBeGone: true }));
      const ends = await Promise.allSettled(removals);
      const there = dead.filter((_, index) => ends[index]?.status === "rejected");
      const left = there.filter(({ state }) => !HALTED.has(state));
      await copies?.sweep();
      const places = left.map(({ labels }) => labels[LABELS.work] ?? labels[LABELS.session] ?? "");
      return { removed: dead.length - there.length, left: places };
    },
    close: async () => {
      await networks.close();
      await copies?.close();
    },
  };
}

/** Remembers the value of the first call that succeeds. */
function remember<T>(ask: () => Promise<T>): () => Promise<T> {
  let known: T | undefined;
  return async () => {
    known ??= await ask();
    return known;
  };
}

/**
 * Starts a sandbox with several attempts. An engine that is restarting or briefly out of a resource answers with an
 * error.
 */
async function startPatiently(parts: Parts, spec: SandboxSpec, signal: AbortSignal): Promise<DockerSandbox> {
  for (const pauseMs of START_PAUSES_MS)
    try {
      return await startSandbox(parts, spec, signal);
    } catch (error) {
      if (codeOf(error) !== "docker_error") throw error;
      await setTimeout(pauseMs, undefined, { signal });
    }
  return await startSandbox(parts, spec, signal);
}

async function startSandbox(parts: Parts, spec: SandboxSpec, signal: AbortSignal): Promise<DockerSandbox> {
  const { server, relayFolder } = parts.deps;
  signal.throwIfAborted();
  const home = await homeOf(spec);
  const layer = spec.layer === undefined ? undefined : await parts.deps.docker.images.inspect(spec.layer);
  const image = layer ?? (await parts.deps.images.find(spec.image ?? parts.deps.defaultImage, signal));
  const info = await parts.engine();
  const { engine, arch } = info;
  const { owner, usernsMode } = userOf(info, server);
  if (spec.runtime !== undefined) await parts.runtimes.assertWorks(spec.runtime, image.id, signal);
  const wanted = { docker: parts.deps.docker, spec, home, server, owner, arch, relayFolder };
  const network = spec.network === "bridge" ? await parts.networks.bridge() : (spec.services?.network ?? "none");
  const caches = spec.caches && (await openCaches({ ...parts.deps, caches: spec.caches, imageId: image.id, owner }));
  for (let triesLeft = COPY_TRIES + (caches ? 1 : 0); ; triesLeft--) {
    const { copies } = parts;
    const place = copies ? await carriedPlace(copies, wanted, image.id) : await mountedPlace(wanted);
    const harness = place.state === undefined ? undefined : { state: place.state };
    const request = containerRequest({
      instanceId: parts.deps.instanceId,
      imageId: image.id,
      imageVolumes: image.volumes,
      engine,
      owner,
      network,
      usernsMode,
      mounts: [...place.mounts, ...(caches?.mounts ?? [])],
      isEngines: place.isEngines,
      program: place.program,
      spec: { ...spec, home: place.home, harness },
    });
    try {
      const id = await startContainer(parts, { spec, request, attach: place.attach }, signal);
      return await beginSandbox(parts, { id, spec, owner, place, isSetUp: layer !== undefined });
    } catch (error) {
      if (caches && triesLeft > 0 && isProblem(error) && caches.isMissing(error.detail)) {
        await caches.make();
        continue;
      }
      // If somebody removed a copy from the engine, it is made again.
      const gone = isProblem(error) && /bind source path does not exist/.test(error.detail);
      if (!gone || !copies || triesLeft === 0) throw startFailure(error, image);
      place.forget();
    }
  }
}

interface Starting extends Pick<Place, "attach"> {
  spec: SandboxSpec;
  request: Docker.ContainerCreateOptions;
}

/** Creates and starts a container. If that fails, no container is left behind. */
async function startContainer(parts: Parts, { spec, request, attach }: Starting, signal: AbortSignal): Promise<string> {
  const { docker } = parts.deps;
  for (let triesLeft = NETWORK_TRIES; ; triesLeft--) {
    const id = await docker.containers.create(request);
    try {
      if (spec.network === "bridge") {
        await parts.networks.guard(id);
        if (spec.services) await docker.networks.connect(spec.services.network, id);
      }
      await attach(id);
      await docker.containers.start(id);
      await writeCookies(docker, id, spec.cookies);
      await linkCaches(docker, id, spec.caches);
      signal.throwIfAborted();
      return id;
    } catch (error) {
      await docker.containers.remove(id).catch(() => {});
      // Another instance may remove a network while only containers use it that have not started yet.
      const gone = isProblem(error) && error.code === "docker_not_found" && /^network /.test(error.detail);
      if (!gone || triesLeft === 0) throw error;
      parts.networks.forget();
      if (spec.network === "bridge") await parts.networks.bridge();
    }
  }
}

interface Started {
  id: string;
  spec: SandboxSpec;
  owner: Owner;
  place: Place;
  /** Whether the image contains files that a set-up left for the workspace. */
  isSetUp: boolean;
}

/** Makes the sandbox over a running container, once its files are there. */
async function beginSandbox(parts: Parts, { id, spec, owner, place, isSetUp }: Started): Promise<DockerSandbox> {
  const { docker, server } = parts.deps;
  // Only the server's user can open the program, so that user runs it, without any capability.
  const { uid, gid } = (await parts.engine()).rootless ? owner : server;
  const relay =
    place.relay === undefined
      ? undefined
      : createContainerRelay({ docker, containerId: id, user: `${uid}:${gid}`, program: place.relay });
  let sandbox: DockerSandbox | undefined;
  try {
    let restarting: Promise<void> | undefined;
    const files = place.files({ docker, containerId: id, ready: async () => await restarting });
    const noteRestart = (restart: Promise<void> | undefined) => {
      restarting = restart;
    };
    sandbox = createSandbox(parts, { id, spec, relay, files, noteRestart });
    await files.begin(spec.executionId);
    if (isSetUp) await layOut(sandbox);
    return sandbox;
  } catch (error) {
    await (sandbox ? sandbox.stop() : docker.containers.remove(id)).catch(() => {});
    throw error;
  }
}

/**
 * Copies files that the set-up left into the workspace, where they are missing. @throws Problem 503 `setup_not_given`.
 */
async function layOut(sandbox: Sandbox): Promise<void> {
  const given = await sandbox.exec(["sh", "-c", LAY_OUT], { timeoutMs: LAY_OUT_MS, maxOutputBytes: 4_096 });
  if (given.exitCode === 0) return;
  const why = given.output.trim().slice(-300) || "it took too long, or was ended";
  throw unavailable("setup_not_given", `What the project's set-up left could not be put into the files: ${why}.`);
}

/** The workspace's real path. The engine must mount the same folder that the file tools work on. */
async function homeOf(spec: SandboxSpec): Promise<string> {
  try {
    const path = await realpath(spec.home);
    await access(path, constants.R_OK | constants.X_OK);
    return path;
  } catch {
    throw unavailable("workspace_missing", "The workspace's folder does not exist or is not open to the server.");
  }
}

function startFailure(error: unknown, image: ImageDetail): unknown {
  if (!isProblem(error) || !/"sh": (executable file not found|no such file)/.test(error.detail)) return error;
  const name = image.tags[0] ?? image.id;
  return unavailable("image_unusable", `The image ${name} has no \`sh\`; an agent's image needs one.`);
}

interface SandboxParts {
  id: string;
  spec: SandboxSpec;
  relay: ContainerRelay | undefined;
  files: SandboxFiles;
  /** Called with the restart while the container is restarted, and with undefined when it is over. */
  noteRestart(restart: Promise<void> | undefined): void;
}

function createSandbox(parts: Parts, { id, spec, relay, files, noteRestart }: SandboxParts): DockerSandbox {
  const { docker } = parts.deps;
  const { clock } = parts;
  const { cookies, caches, env } = spec;
  let restarting: Promise<void> | undefined;
  let freezing: Promise<void> | undefined;
  let stopping: Promise<void> | undefined;
  const restart = () => {
    const killAndStart = async () => {
      await docker.containers.kill(id);
      if (stopping) return;
      await docker.containers.start(id);
      // The restart has emptied the folders in memory.
      await writeCookies(docker, id, cookies);
      await linkCaches(docker, id, caches);
    };
    restarting ??= (relay ? relay.restartWith(killAndStart) : killAndStart()).finally(() => {
      restarting = undefined;
      noteRestart(undefined);
    });
    noteRestart(restarting);
    return restarting;
  };
  const stop = () => {
    relay?.end();
    stopping ??= (async () => {
      // A frozen container cannot bring back changes; it brought them back before it was frozen.
      await files.end(freezing === undefined);
      const signal = AbortSignal.timeout(REMOVE_MS);
      await docker.containers.remove(id, { signal, mustBeGone: true });
    })().catch((error) => {
      stopping = undefined;
      throw error;
    });
    return stopping;
  };
  return {
    containerId: id,
    capabilities: parts.capabilities,
    workspace: files.workspace,
    exec: async (argv, options) => {
      await restarting;
      await files.bringIn();
      const all = { ...options, env: { ...env, ...options.env } };
      return await execInContainer({ docker, containerId: id, clock, restart }, argv, all);
    },
    open: async (program, events, signal) => {
      await files.bringIn();
      const { argv, env: own } = program(PLACES);
      const all = { argv, env: { ...env, ...own } };
      return await openInContainer({ docker, containerId: id, restart }, all, events, signal);
    },
    ...routesThrough(relay, () => restarting),
    isAlive: async () => {
      try {
        return (await docker.containers.inspect(id)).State.Running;
      } catch (error) {
        if (isProblem(error)) return false;
        throw error;
      }
    },
    freeze: () => {
      // Engines without root cannot always pause; then the container is stopped.
      freezing ??= (async () => {
        await restarting;
        if (!stopping) await docker.containers.pause(id).catch(stop);
      })();
      return freezing;
    },
    thaw: async () => {
      if (!freezing) return;
      await freezing;
      if (stopping) throw unavailable("sandbox_lost", "The sandbox could not be paused and was stopped.");
      await docker.containers.unpause(id);
    },
    stop,
  };
}
