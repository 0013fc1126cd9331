/**
 * Services that sandboxes use, such as databases. They run in containers of their own, on a network of one run or
 * session. Only its containers are on that network, and it has no way out:
 *
 * - It is internal, so the engine forwards nothing for it. Before Docker 28, the bridge of an internal network still
 *   has an address on the host, through which services that listen on all addresses are reachable; `inhibit_ipv4`
 *   removes it.
 * - Without an address on the host, the host has no route to it. So its range is one that no network uses
 *   (198.18.0.0/15, reserved for benchmarks), not one of the few that the engine keeps for networks in general.
 * - The engine's resolver forwards names that it does not know. Some versions do so in the host's name, even for
 *   internal networks, and a name can carry data out. A resolver that does not exist (`NO_NAMES_OUTSIDE`) prevents
 *   that.
 *
 * Everything is found by labels, so nothing has to be stored: what a killed server left is reused or removed.
 */
import { randomInt } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import type Docker from "dockerode";
import type { Clock } from "../../../core/clock.ts";
import { conflict, isProblem, messageOf } from "../../../core/errors.ts";
import { hashJson } from "../../../core/json-hash.ts";
import type { SandboxServices } from "../../../engine/sandbox.ts";
import type { ImageDetail } from "../../docker/images.ts";
import type { DockerClient } from "../../docker.ts";
import { LABELS } from "./container-spec.ts";
import { execInContainer } from "./exec.ts";
import { CONTAINER_LIMITS, lockedDown, NO_NAMES_OUTSIDE } from "./lock-down.ts";

interface ServicesDeps {
  docker: DockerClient;
  instanceId: string;
  images: { find(name: string, signal?: AbortSignal): Promise<ImageDetail> };
  clock: Clock;
}

export interface ServicePlan {
  name: string;
  image: string;
  env: Readonly<Record<string, string>>;
  /** Arguments that replace the image's. */
  command?: readonly string[] | undefined;
  /** A command line that succeeds once the service can be used. Without it, the service only has to run. */
  health?: string | undefined;
  /** Time limit until the service can be used. */
  startSeconds: number;
}

export interface ServicesPlan {
  /** Name of the services' owner, unique in this instance: letters, digits, `_`, `-`. */
  place: string;
  services: readonly ServicePlan[];
  memoryMb: number;
  cpus: number;
}

export interface OpenServices extends SandboxServices {
  /** Ids of the services' containers, by service name. */
  containers: ReadonlyMap<string, string>;
}

/** A service that cannot be used. */
export class ServiceFailure extends Error {
  constructor(
    readonly service: string,
    /** What is wrong: the rest of a sentence that begins with the service's name. */
    readonly why: string,
    /** The last output of the service, unchanged. */
    readonly tail: string,
  ) {
    super(`${service} ${why}`);
  }
}

export type Services = ReturnType<typeof createServices>;

/**
 * Labels. `PLACE` names the owner of a network or container; `NAME` the service of a container; `RECIPE` is a
 * fingerprint of the plan and image that the container was started with.
 */
const PLACE = "skep.services";
const NAME = "skep.service";
const RECIPE = "skep.recipe";

/** Capabilities that database images need as root of their container, until they have changed to another user. */
const CAPABILITIES = ["CHOWN", "DAC_OVERRIDE", "FOWNER", "SETGID", "SETUID"];
/** Pauses between health checks of a service that is starting, ms; they grow. */
const LOOK_MS = { first: 100, most: 1_000 };
const HEALTH_MS = 10_000;
const HEALTH_BYTES = 2_000;
const TAIL_LINES = 20;
const TAIL_CHARACTERS = 4_000;
/** A service without a health command is checked again after this time, ms. */
const RUNS_MS = 1_000;
const RANGE_TRIES = 100;
/** The first API version whose engines are known to support a bridge without an address. */
const MIN_API_VERSION = 1.41;
/** Attempts to remove a network, because sandboxes leave it a moment after their work has ended. */
const LEAVE = { tries: 40, everyMs: 500 };

export function createServices(deps: ServicesDeps) {
  const { docker, instanceId } = deps;
  const containersOf = (place: string) =>
    docker.containers.list([`${LABELS.instance}=${instanceId}`, `${PLACE}=${place}`]);
  return {
    /**
     * Starts the planned services that do not run yet, and waits until all are healthy. Running ones are reused. If
     * that fails, all are removed.
     * @throws ServiceFailure, Problem 503 `image_missing`, `sandbox_unavailable`.
     */
    async open(plan: ServicesPlan, onState: OnState, signal: AbortSignal): Promise<OpenServices> {
      try {
        return await openAll(deps, plan, onState, signal);
      } catch (error) {
        await closePlace(deps, plan.place).catch(() => {});
        throw error;
      }
    },
    /** Resolves when a service has ended, with the cause and its last output. */
    async waitForEnd(name: string, containerId: string, signal: AbortSignal): Promise<ServiceFailure> {
      await docker.containers.waitForEnd(containerId, signal).catch((error) => {
        if (!isProblem(error) || error.code !== "docker_not_found") throw error;
      });
      return await failureOf(deps, name, containerId, "");
    },
    /** Bytes that a service has written to its container's disk, not to memory. */
    writtenBytes: docker.containers.writtenBytes,
    kill: docker.containers.kill,
    /** @throws Problem 409 `services_unsupported` when the engine cannot isolate the services' network. */
    assertSupported: () => assertSupported(deps),
    close: (place: string) => closePlace(deps, place),
    /** Owners in this instance that have containers or networks in the engine. */
    async places(): Promise<string[]> {
      const labels = [`${LABELS.instance}=${instanceId}`, PLACE];
      const rows = [...(await docker.containers.list(labels)), ...(await docker.networks.list(labels))];
      return [...new Set(rows.map((row) => row.labels[PLACE] ?? ""))];
    },
    /** Number of the owner's containers that exist. */
    count: async (place: string): Promise<number> => (await containersOf(place)).length,
  };
}

async function assertSupported({ docker }: ServicesDeps): Promise<void> {
  const { engine, version, apiVersion } = await docker.info();
  if (engine === "docker" && Number(apiVersion) >= MIN_API_VERSION) return;
  throw conflict(
    `${engine} ${version} cannot keep the network of services apart from the host's`,
    "services_unsupported",
  );
}

/** Called when a service is about to be started, and when it can be used. */
type OnState = (service: string, state: "starting" | "healthy") => void;

const networkName = ({ instanceId }: ServicesDeps, place: string): string => `skep-${instanceId}-${place}`;

async function openAll(
  deps: ServicesDeps,
  plan: ServicesPlan,
  onState: OnState,
  signal: AbortSignal,
): Promise<OpenServices> {
  const { docker, instanceId, images } = deps;
  const { place, services } = plan;
  await assertSupported(deps);
  const labels = [`${LABELS.instance}=${instanceId}`, `${PLACE}=${place}`];
  const wanted = await Promise.all(
    services.map(async (service) => {
      const image = await images.find(service.image, signal);
      // The fingerprint leaves out memory and processors: a service must not lose its data because such a setting
      // changed.
      return { service, image, recipe: hashJson({ ...service, imageId: image.id }) };
    }),
  );
  const kept = new Map<string, string>();
  for (const row of await docker.containers.list(labels)) {
    const name = row.labels[NAME] ?? "";
    const isWanted = wanted.some((one) => one.service.name === name && one.recipe === row.labels[RECIPE]);
    if (isWanted && row.state === "running" && !kept.has(name)) kept.set(name, row.id);
    else await docker.containers.remove(row.id);
  }
  await ensureNetwork(deps, place);
  const opened = await allOrNone(signal, wanted, async (one, stop): Promise<[string, string]> => {
    const { name } = one.service;
    const found = kept.get(name);
    if (found === undefined) onState(name, "starting");
    const id = found ?? (await startService(deps, plan, one, stop));
    await waitUntilHealthy(deps, one.service, id, stop);
    if (found === undefined) onState(name, "healthy");
    return [name, id];
  });
  return {
    network: networkName(deps, place),
    names: services.map(({ name }) => name),
    containers: new Map(opened),
  };
}

/**
 * Runs `act` for all items. The first failure stops the others, and is thrown once all have ended, so that nothing is
 * started afterwards.
 */
async function allOrNone<T, R>(
  signal: AbortSignal,
  items: readonly T[],
  act: (item: T, stop: AbortSignal) => Promise<R>,
): Promise<R[]> {
  const failed = new AbortController();
  const stop = AbortSignal.any([signal, failed.signal]);
  const ends = items.map((item) =>
    act(item, stop).catch((error) => {
      failed.abort(error);
      throw error;
    }),
  );
  await Promise.allSettled(ends);
  stop.throwIfAborted();
  return await Promise.all(ends);
}

async function ensureNetwork(deps: ServicesDeps, place: string): Promise<void> {
  const { docker, instanceId } = deps;
  const labels = { [LABELS.instance]: instanceId, [PLACE]: place };
  if ((await docker.networks.list([`${LABELS.instance}=${instanceId}`, `${PLACE}=${place}`])).length > 0) return;
  for (let triesLeft = RANGE_TRIES; ; triesLeft--)
    try {
      await docker.networks.create({
        Name: networkName(deps, place),
        Driver: "bridge",
        Internal: true,
        EnableIPv6: false,
        Labels: labels,
        IPAM: { Driver: "default", Config: [{ Subnet: `198.${randomInt(18, 20)}.${randomInt(256)}.0/24` }] },
        Options: { "com.docker.network.bridge.inhibit_ipv4": "true" },
      });
      return;
    } catch (error) {
      if (isProblem(error) && error.code === "docker_conflict") return;
      if (!/pool overlaps/i.test(messageOf(error)) || triesLeft === 0) throw error;
    }
}

interface Wanted {
  service: ServicePlan;
  image: ImageDetail;
  recipe: string;
}

async function startService(
  deps: ServicesDeps,
  plan: ServicesPlan,
  wanted: Wanted,
  signal: AbortSignal,
): Promise<string> {
  const { docker } = deps;
  signal.throwIfAborted();
  const id = await docker.containers.create(requestOf(deps, plan, wanted));
  try {
    await docker.containers.start(id);
  } catch (error) {
    if (isProblem(error) && error.code === "sandbox_unavailable") throw error;
    throw new ServiceFailure(wanted.service.name, `could not be started: ${messageOf(error)}`, "");
  }
  return id;
}

function requestOf(deps: ServicesDeps, plan: ServicesPlan, wanted: Wanted): Docker.ContainerCreateOptions {
  const { memoryMb, cpus, place } = plan;
  const { service, image, recipe } = wanted;
  const network = networkName(deps, place);
  const locked = lockedDown({ memoryMb, cpus, network, imageVolumes: image.volumes });
  return {
    Image: image.id,
    ...(service.command === undefined ? {} : { Cmd: [...service.command] }),
    Hostname: service.name,
    Env: Object.entries(service.env).map(([name, value]) => `${name}=${value}`),
    Labels: {
      [LABELS.instance]: deps.instanceId,
      [PLACE]: place,
      [NAME]: service.name,
      [RECIPE]: recipe,
    },
    Tty: false,
    Healthcheck: { Test: ["NONE"] },
    NetworkingConfig: { EndpointsConfig: { [network]: { Aliases: [service.name] } } },
    HostConfig: {
      ...locked,
      ...NO_NAMES_OUTSIDE,
      // Volumes that an image declares are in memory, and count towards the service's own memory.
      Mounts: (locked.Mounts ?? []).map((mount) => ({
        ...mount,
        TmpfsOptions: { SizeBytes: Math.max(memoryMb * 1024 * 1024, CONTAINER_LIMITS.homeBytes), Mode: 0o1777 },
      })),
      ReadonlyRootfs: false,
      CapAdd: CAPABILITIES,
    },
  };
}

async function waitUntilHealthy(
  deps: ServicesDeps,
  service: ServicePlan,
  id: string,
  signal: AbortSignal,
): Promise<void> {
  const { docker, clock } = deps;
  const { name, health, startSeconds } = service;
  const until = clock.monotonic() + startSeconds * 1_000;
  let pauseMs = LOOK_MS.first;
  if (health === undefined) await sleep(RUNS_MS, undefined, { signal });
  for (;;) {
    if (!(await docker.containers.state(id)).running)
      throw await failureOf(deps, name, id, health === undefined ? "" : " before it was healthy");
    const said = health === undefined ? undefined : await askHealth(deps, id, health, signal);
    if (said === undefined) return;
    if (clock.monotonic() >= until) {
      const why = `did not become healthy in ${startSeconds} s: \`${health}\` ${said}`;
      throw new ServiceFailure(name, why, await tailOf(deps, id));
    }
    await sleep(pauseMs, undefined, { signal });
    pauseMs = Math.min(2 * pauseMs, LOOK_MS.most);
  }
}

/**
 * Runs the health command. @returns undefined when it succeeded, else the rest of a sentence that says how it failed.
 */
async function askHealth(
  { docker, clock }: ServicesDeps,
  containerId: string,
  health: string,
  signal: AbortSignal,
): Promise<string | undefined> {
  try {
    const exec = { docker, containerId, clock, restart: async () => {} };
    const { exitCode, timedOut, output } = await execInContainer(exec, ["sh", "-c", health], {
      cwd: "/",
      timeoutMs: HEALTH_MS,
      maxOutputBytes: HEALTH_BYTES,
      signal,
    });
    signal.throwIfAborted();
    if (exitCode === 0) return undefined;
    const words = output.trim().split("\n").at(-1) ?? "";
    return `${timedOut ? "did not answer" : `ended with exit code ${exitCode}`}${words === "" ? "" : `: ${words}`}`;
  } catch (error) {
    // If the service has ended, its state tells so.
    if (signal.aborted || !isProblem(error) || error.code === "sandbox_unavailable") throw error;
    return `could not be run: ${messageOf(error)}`;
  }
}

/** Describes how a service ended. */
async function failureOf(deps: ServicesDeps, name: string, id: string, when: string): Promise<ServiceFailure> {
  try {
    const { oomKilled, exitCode } = await deps.docker.containers.state(id);
    const how = oomKilled ? "needed more memory than it may have" : `ended with exit code ${exitCode}`;
    return new ServiceFailure(name, `${how}${when}`, await tailOf(deps, id));
  } catch (error) {
    if (!isProblem(error) || error.code !== "docker_not_found") throw error;
    return new ServiceFailure(name, "is gone: its container was removed", "");
  }
}

async function tailOf({ docker }: ServicesDeps, id: string): Promise<string> {
  let text = "";
  for await (const chunk of docker.containers.logs(id, { follow: false, tail: TAIL_LINES }))
    text = (text + chunk.text).slice(-TAIL_CHARACTERS);
  return text;
}

async function closePlace(deps: ServicesDeps, place: string): Promise<void> {
  const { docker, instanceId } = deps;
  const labels = [`${LABELS.instance}=${instanceId}`, `${PLACE}=${place}`];
  const rows = await docker.containers.list(labels);
  await Promise.all(rows.map(({ id }) => docker.containers.remove(id)));
  for (const { id } of await docker.networks.list(labels)) await removeNetwork(deps, id);
}

/** Removes a network. One that a sandbox is still connected to is removed by a later sweep. */
async function removeNetwork({ docker }: ServicesDeps, id: string): Promise<void> {
  for (let triesLeft = LEAVE.tries; ; triesLeft--)
    try {
      await docker.networks.remove(id);
      return;
    } catch (error) {
      if (isProblem(error) && error.code === "docker_not_found") return;
      if (!/active endpoints/i.test(messageOf(error)) || triesLeft === 0) throw error;
      await sleep(LEAVE.everyMs);
    }
}
