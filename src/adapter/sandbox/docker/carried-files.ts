/**
 * Carried files of sandboxes, for engines that may be on another machine. Each folder of the server has a copy in a
 * volume there. The copy stays from one step to the next, so that each step carries only changes.
 * Copies are a cache of this process: the server's folder is authoritative, and copies of an earlier process are
 * removed.
 */
import { existsSync } from "node:fs";
import { messageOf } from "../../../core/errors.ts";
import { newId } from "../../../core/ids.ts";
import { LIMITS } from "../../../core/limits.ts";
import type { FrameSink } from "../../docker/demux.ts";
import type { DockerClient } from "../../docker.ts";
import { type CarriedFolder, createCarriedFolder } from "../detached/carried-folder.ts";
import { carriedWorkspace } from "../detached/carried-workspace.ts";
import { type Carrier, createLostProblem } from "../detached/carrier.ts";
import { createCarrying, type Link, openLink } from "../detached/carrying.ts";
import { createWorkspaceFiles } from "../workspace-files.ts";
import type { Owner } from "../workspace-path.ts";
import { LABELS } from "./container-spec.ts";
import { CARRIER_PATH, type FilesVolume, makeFilesVolume } from "./volume.ts";

const COPY_LABEL = "skep.copy";
/** Time after which a container that makes a volume counts as left over, ms. Making one only takes a moment. */
const MAKING_MS = 10 * 60_000;

/** The copy of one folder of the server. */
interface Copy extends FilesVolume {
  home: string;
  carried: CarriedFolder;
  /** Number of sandboxes that work on the copy. */
  users: number;
  /** The execution that used the copy last. */
  executionId: string;
}

interface CopyPlan {
  home: string;
  imageId: string;
  owner: Owner;
  arch: string;
}

export type Copies = ReturnType<typeof createCopies>;

export function createCopies(docker: DockerClient, instanceId: string) {
  /** Copies by folder, in the order of their last use. */
  const copies = new Map<string, Promise<Copy>>();
  /** Names of this process's volumes, including those that are being made. */
  const own = new Set<string>();
  const labels = { [LABELS.instance]: instanceId, [COPY_LABEL]: "workspace" };
  const labelled = Object.entries(labels).map(([name, value]) => `${name}=${value}`);

  async function make({ home, ...plan }: CopyPlan): Promise<Copy> {
    const name = `skep-${newId("instance")}`;
    own.add(name);
    try {
      const volume = await makeFilesVolume(docker, { ...plan, name, labels });
      return { ...volume, home, carried: createCarriedFolder(home), users: 0, executionId: "" };
    } catch (error) {
      copies.delete(home);
      await drop(name).catch(() => {});
      throw error;
    }
  }
  async function drop(name: string): Promise<void> {
    await docker.volumes.remove(name);
    own.delete(name);
  }
  /** Removes copies of folders that no longer exist, and, over the limit, those that were unused for longest. */
  async function tidy(): Promise<void> {
    const settled = await Promise.all([...copies.values()].map((one) => one.catch(() => undefined)));
    const unused = settled.filter((one) => one !== undefined).filter(({ users }) => users === 0);
    const gone = unused.filter(({ home }) => !existsSync(home));
    const kept = unused.filter((one) => !gone.includes(one));
    const tooMany = kept.slice(0, Math.max(0, kept.length - LIMITS.carriedCopies));
    for (const { home, name } of [...gone, ...tooMany]) {
      copies.delete(home);
      await drop(name).catch(() => {});
    }
  }
  return {
    async of(plan: CopyPlan): Promise<Copy> {
      const found = copies.get(plan.home);
      copies.delete(plan.home);
      const copy = found ?? make(plan);
      copies.set(plan.home, copy);
      return await copy;
    },
    /** Forgets a copy that the engine no longer has; the next sandbox gets a new one. */
    forget: ({ home, name }: Copy): void => {
      copies.delete(home);
      own.delete(name);
    },
    /** Removes copies of earlier processes, and of folders that no longer exist. */
    async sweep(): Promise<void> {
      await tidy();
      // Containers left by a process that died while it made a copy.
      const makers = await docker.containers.list(labelled);
      const unneeded = makers.filter(({ createdAt }) => createdAt < Date.now() - MAKING_MS);
      await Promise.all(unneeded.map(({ id }) => docker.containers.remove(id)));
      const rows = await docker.volumes.list(labelled);
      // A volume that a container still uses is removed by a later sweep.
      await Promise.all(rows.filter(({ name }) => !own.has(name)).map(({ name }) => drop(name).catch(() => {})));
    },
    /** Removes all copies of this process. */
    async close(): Promise<void> {
      copies.clear();
      await Promise.all([...own].map((name) => drop(name).catch(() => {})));
    },
  };
}

/** A copy, and its path in the container. */
interface CarriedPlace {
  copy: Copy;
  root: string;
}

/** The carried files of one sandbox. */
export type SandboxFiles = ReturnType<typeof createCarriedFiles>;

export interface CarriedFilesDeps {
  docker: DockerClient;
  containerId: string;
  /** The first place is the workspace. */
  places: readonly CarriedPlace[];
  /** Connection to the carrier of the workspace. */
  attached: Promise<Link> | undefined;
  /** Resolves once the container is not being restarted. */
  ready(): Promise<void>;
}

/** When a container is removed, how long it may take to bring back the remaining changes, ms. */
const LAST_MS = 10_000;

export function createCarriedFiles({ docker, containerId, places, attached, ready }: CarriedFilesDeps) {
  const links = places.map(({ root }, index) =>
    createCarrying((feed) => execCarrier(docker, containerId, root, feed), index === 0 ? attached : undefined),
  );
  let ended = false;
  /** Whether commands have run, which may have changed files. */
  let used = false;
  const actOnEach = async (act: (carried: CarriedFolder, carrier: Carrier) => Promise<void>): Promise<void> => {
    await ready();
    if (ended) throw createLostProblem("it was stopped");
    await Promise.all(places.map(({ copy }, index) => links[index]!.use((carrier) => act(copy.carried, carrier))));
  };
  const bringBack = async () => {
    if (used && !ended) await actOnEach((carried, carrier) => carried.bringBack(carrier));
  };
  /** Whether both sides are known to be the same, because the sandbox has just begun. */
  let fresh = false;
  const near = createWorkspaceFiles(places[0]!.copy.home);
  for (const { copy } of places) copy.users += 1;
  return {
    workspace: carriedWorkspace(near, bringBack, async (path, data) => {
      fresh = false;
      await near.write(path, data);
    }),
    /** Makes both sides the same. Call it when the container runs, before anything else runs in it. */
    async begin(executionId: string): Promise<void> {
      await actOnEach(async (carried, carrier) => {
        const { copy } = places.find((place) => place.copy.carried === carried)!;
        // Keep the copy's changes if other sandboxes work on it, or if this same execution left them when its sandbox
        // was lost.
        const keeps = copy.users > 1 || copy.executionId === executionId;
        copy.executionId = executionId;
        if (!keeps) return await carried.reset(carrier);
        await carried.bringBack(carrier);
        await carried.bringIn(carrier);
      });
      fresh = true;
    },
    /** Carries the server's changes to the container, before a command runs. */
    async bringIn(): Promise<void> {
      if (!fresh) await actOnEach((carried, carrier) => carried.bringIn(carrier));
      fresh = false;
      used = true;
    },
    /**
     * Ends the connections, before the container is removed. @param brings whether to bring back remaining changes
     * first.
     */
    async end(brings: boolean): Promise<void> {
      if (ended) return;
      const last = brings ? bringBack().catch(() => {}) : undefined;
      await Promise.race([last, new Promise((wake) => setTimeout(wake, LAST_MS).unref())]);
      ended = true;
      for (const { copy } of places) copy.users -= 1;
      for (const link of links) link.end(createLostProblem("it was stopped"));
    },
  };
}

/** Connects to the carrier that is the container's main process. Call it before the container is started. */
export const attachLink = (docker: DockerClient, containerId: string): Promise<Link> =>
  openLink((feed) => docker.containers.attach(containerId, onlyStdout(feed)));

/** Starts another carrier in the container, when the first connection was lost but the container was not. */
const execCarrier = (docker: DockerClient, containerId: string, root: string, feed: (chunk: Uint8Array) => void) =>
  docker.containers
    .openExec(containerId, { argv: [CARRIER_PATH, root], cwd: "/", onOutput: onlyStdout(feed) })
    .catch((error) => {
      throw createLostProblem(messageOf(error));
    });

const onlyStdout =
  (feed: (chunk: Uint8Array) => void): FrameSink =>
  (stream, chunk) => {
    if (stream === "stdout") feed(chunk);
  };
