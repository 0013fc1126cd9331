/**
 * Provides the image that a sandbox starts from: one that the engine has, or one that is made or pulled. An image with
 * a name of Skep's own is made on this machine and never requested from a registry, where somebody else could own the
 * name. Other images are pulled if that is allowed.
 */

import { isProblem, messageOf, unavailable } from "../../../core/errors.ts";
import type { ImageDetail } from "../../docker/images.ts";
import type { DockerClient } from "../../docker.ts";
import { hasBusybox } from "./busybox-rootfs.ts";
import { createImages, DEFAULT_AGENT_IMAGE } from "./image.ts";

interface AgentImageDeps {
  docker: DockerClient;
  /** Whether images may be pulled from a registry. */
  pull: boolean;
  /** Name of the image that is made here when it is missing. */
  own?: string;
  /** Paths at which a static busybox may be found. */
  busyboxPaths?: readonly string[];
  /** Image that `own` is made of when this machine has no static busybox and pulling is allowed. */
  basis?: string;
  /** Receives what was done, for the log. */
  onNotice?(message: string): void;
}

export type AgentImages = ReturnType<typeof createAgentImages>;

const BASIS_IMAGE = "docker.io/library/busybox:stable";
const REMEDY = "Load one from a file with `skep image load FILE`, or make one with `skep image build`.";

const createMissingProblem = (detail: string) => unavailable("image_missing", `${detail} ${REMEDY}`);
const isOurs = (name: string): boolean => /^skep\//.test(name);
const addTag = (name: string): string => (/[:@]/.test(name.slice(name.lastIndexOf("/") + 1)) ? name : `${name}:latest`);

export function createAgentImages(deps: AgentImageDeps) {
  const { docker, pull, own = DEFAULT_AGENT_IMAGE } = deps;
  let making: Promise<void> | undefined;
  const makeOnce = () => {
    making ??= makeOwn(deps, own).finally(() => {
      making = undefined;
    });
    return making;
  };
  async function fetch(name: string, signal: AbortSignal | undefined): Promise<void> {
    if (addTag(name) === own) return makeOnce();
    if (isOurs(name)) throw createMissingProblem(`The image ${name} is not on this machine, and no registry has it.`);
    if (!pull)
      throw createMissingProblem(`The image ${name} is not on this machine, and IMAGE_PULL forbids pulling it.`);
    await pullImage(deps, name, signal);
  }
  return {
    /** Finds an image; makes or pulls it if necessary. @throws Problem 503 `image_missing` with the remedy. */
    async find(name: string, signal?: AbortSignal): Promise<ImageDetail> {
      const present = await docker.images.inspect(name);
      if (present) return present;
      await fetch(name, signal);
      signal?.throwIfAborted();
      const found = await docker.images.inspect(name);
      if (!found) throw createMissingProblem(`The image ${name} is gone again.`);
      return found;
    },
    /** Whether `make` has what it needs. Does not make anything. */
    canMake: async (name: string): Promise<boolean> =>
      addTag(name) === own && (pull || (await hasBusybox(deps.busyboxPaths))),
    /** Makes the image, if it is the one that is made here. @returns false when it is not, or could not be made. */
    async make(name: string): Promise<boolean> {
      if (addTag(name) !== own) return false;
      return makeOnce().then(
        () => true,
        (error) => {
          if (isProblem(error)) return false;
          throw error;
        },
      );
    },
  };
}

async function pullImage({ docker }: AgentImageDeps, name: string, signal?: AbortSignal): Promise<void> {
  try {
    await docker.images.pull(name, signal ? { signal } : {});
  } catch (error) {
    if (signal?.aborted || isUnreachable(error)) throw error;
    throw createMissingProblem(`The image ${name} could not be pulled: ${messageOf(error)}.`);
  }
}

/** Makes the image from this machine's static busybox, or from a registry's if this machine has none. */
async function makeOwn(deps: AgentImageDeps, own: string): Promise<void> {
  const { docker, pull, busyboxPaths, basis = BASIS_IMAGE, onNotice } = deps;
  try {
    await createImages({ docker }).build({ name: own, ...(busyboxPaths ? { busyboxPaths } : {}) });
    return onNotice?.(`The agents' image ${own} was missing and is made now, from this machine's busybox.`);
  } catch (error) {
    if (isUnreachable(error)) throw error;
    const why = `The agents' image ${own} is not on this machine and could not be made: ${messageOf(error)}`;
    if (!isProblem(error) || error.code !== "busybox_missing" || !pull) throw createMissingProblem(why);
  }
  await pullImage(deps, basis);
  await docker.images.tag(basis, own);
  onNotice?.(`The agents' image ${own} was missing and is made now, from ${basis}.`);
}

const isUnreachable = (error: unknown): boolean => isProblem(error) && error.code === "sandbox_unavailable";
