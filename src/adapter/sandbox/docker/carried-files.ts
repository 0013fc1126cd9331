/**
 * Files of sandboxes whose engine may be on another machine: each folder of the server has a copy in a volume there, which stays
 * from one step to the next, so that each carries only what has changed. Copies are a cache of this process: the server's folder
 * is what counts, and a process that finds copies of an earlier one removes them.
 */
import { existsSync } from "node:fs";
import { messageOf } from "../../../core/errors.ts";
import { newId } from "../../../core/ids.ts";
import { LIMITS } from "../../../core/limits.ts";
import type { FrameSink } from "../../docker/demux.ts";
import type { DockerClient } from "../../docker.ts";
import { type CarriedFolder, createCarriedFolder } from "../detached/carried-folder.ts";
import { carriedWorkspace } from "../detached/carried-workspace.ts";
import { type Carrier, lost } from "../detached/carrier.ts";
import { createCarrying, type Link, openLink } from "../detached/carrying.ts";
import { createWorkspaceFiles } from "../workspace-files.ts";
import type { Owner } from "../workspace-path.ts";
import { LABELS } from "./container-spec.ts";
import { CARRIER_PATH, type FilesVolume, makeFilesVolume } from "./volume.ts";

const COPY_LABEL = "skep.copy";
/** It takes a moment. */
const MAKING_MS = 10 * 60_000;

/** The copy of one folder of the server. */
interface Copy extends FilesVolume {
  home: string;
  carried: CarriedFolder;
  /** Sandboxes that work on it. */
  users: number;
  /** That used it last. */
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
  /** By folder, the one that was used last at the end. */
  const copies = new Map<string, Promise<Copy>>();
  /** Volumes of this process, also those that are being made. */
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
  /** Removes copies of folders that are gone, and of those that were not used for longest. */
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
    /** It is not on the engine any more: the next sandbox gets another. */
    forget: ({ home, name }: Copy): void => {
      copies.delete(home);
      own.delete(name);
    },
    /** Removes those of earlier processes, and of folders that are gone. */
    async sweep(): Promise<void> {
      await tidy();
      // What a process left that died while it made one.
      const makers = await docker.containers.list(labelled);
      const unneeded = makers.filter(({ createdAt }) => createdAt < Date.now() - MAKING_MS);
      await Promise.all(unneeded.map(({ id }) => docker.containers.remove(id)));
      const rows = await docker.volumes.list(labelled);
      // One that a container still has goes with the next sweep.
      await Promise.all(rows.filter(({ name }) => !own.has(name)).map(({ name }) => drop(name).catch(() => {})));
    },
    /** Removes all of this process. */
    async close(): Promise<void> {
      copies.clear();
      await Promise.all([...own].map((name) => drop(name).catch(() => {})));
    },
  };
}

/** A copy, and where the container has it. */
interface CarriedPlace {
  copy: Copy;
  root: string;
}

/** The files of one sandbox. */
export type SandboxFiles = ReturnType<typeof createCarriedFiles>;

export interface CarriedFilesDeps {
  docker: DockerClient;
  containerId: string;
  /** The first is the workspace. */
  places: readonly CarriedPlace[];
  /** To the carrier of the workspace. */
  attached: Promise<Link> | undefined;
  /** Resolves when the container is not just being started again. */
  ready(): Promise<void>;
}

/** How long a container that is removed may take to give what was not brought back. */
const LAST_MS = 10_000;

export function createCarriedFiles({ docker, containerId, places, attached, ready }: CarriedFilesDeps) {
  const links = places.map(({ root }, index) =>
    createCarrying((feed) => execCarrier(docker, containerId, root, feed), index === 0 ? attached : undefined),
  );
  let ended = false;
  /** Commands have run, and may have changed files since. */
  let used = false;
  const each = async (act: (carried: CarriedFolder, carrier: Carrier) => Promise<void>): Promise<void> => {
    await ready();
    if (ended) throw lost("it was stopped");
    await Promise.all(places.map(({ copy }, index) => links[index]!.use((carrier) => act(copy.carried, carrier))));
  };
  const bringBack = async () => {
    if (used && !ended) await each((carried, carrier) => carried.bringBack(carrier));
  };
  /** It has just begun: both sides are alike. */
  let fresh = false;
  const near = createWorkspaceFiles(places[0]!.copy.home);
  for (const { copy } of places) copy.users += 1;
  return {
    workspace: carriedWorkspace(near, bringBack, async (path, data) => {
      fresh = false;
      await near.write(path, data);
    }),
    /** Once its container runs, before anything else runs in it. */
    async begin(executionId: string): Promise<void> {
      await each(async (carried, carrier) => {
        const { copy } = places.find((place) => place.copy.carried === carried)!;
        // What others work on there counts, and what this very execution left when its sandbox was lost.
        const keeps = copy.users > 1 || copy.executionId === executionId;
        copy.executionId = executionId;
        if (!keeps) return await carried.reset(carrier);
        await carried.bringBack(carrier);
        await carried.bringIn(carrier);
      });
      fresh = true;
    },
    /** Before a command runs: what the server has changed is there. */
    async bringIn(): Promise<void> {
      if (!fresh) await each((carried, carrier) => carried.bringIn(carrier));
      fresh = false;
      used = true;
    },
    /** Before its container is removed. @param brings also what was not brought back yet. */
    async end(brings: boolean): Promise<void> {
      if (ended) return;
      const last = brings ? bringBack().catch(() => {}) : undefined;
      await Promise.race([last, new Promise((wake) => setTimeout(wake, LAST_MS).unref())]);
      ended = true;
      for (const { copy } of places) copy.users -= 1;
      for (const link of links) link.end(lost("it was stopped"));
    },
  };
}

/** To the carrier that is the container's own process. Before it is started. */
export const attachLink = (docker: DockerClient, containerId: string): Promise<Link> =>
  openLink((feed) => docker.containers.attach(containerId, onlyStdout(feed)));

/** To one more, where the first connection is lost and the container is not. */
const execCarrier = (docker: DockerClient, containerId: string, root: string, feed: (chunk: Uint8Array) => void) =>
  docker.containers
    .openExec(containerId, { argv: [CARRIER_PATH, root], cwd: "/", onOutput: onlyStdout(feed) })
    .catch((error) => {
      throw lost(messageOf(error));
    });

const onlyStdout =
  (feed: (chunk: Uint8Array) => void): FrameSink =>
  (stream, chunk) => {
    if (stream === "stdout") feed(chunk);
  };
