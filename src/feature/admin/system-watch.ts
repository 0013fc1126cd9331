/**
 * Watches the machine that the instance runs on: free space on the disk, and whether the agents' image exists. It
 * raises notifications and closes them again.
 */
import { statfs } from "node:fs/promises";
import type { DockerClient } from "../../adapter/docker.ts";
import { isProblem } from "../../core/errors.ts";
import { LIMITS } from "../../core/limits.ts";
import type { Notifications } from "../notifications/service.ts";

interface SystemWatchDeps {
  notifications: Pick<Notifications, "notify" | "resolve">;
  /** The data folder. */
  data: string;
  docker: Pick<DockerClient, "images" | "ping"> | undefined;
  /** The image of agents that name none. The setting can change. */
  agentImage(): string;
  /** Builds the image if it is one that Skep builds itself. @returns false when the image does not exist afterwards. */
  makeImage?(image: string): Promise<boolean>;
  /** Free and total bytes of the disk under a folder. */
  diskSpace?(folder: string): Promise<{ free: number; size: number }>;
}

/**
 * Share of the disk. Space is low when less than `diskLowBytes` and also less than this share is free. Below
 * `diskLittleBytes` writes are about to fail, whatever the share.
 */
const LOW_PART = 0.1;
const DISK = "disk-low";
const imageKey = (image: string): string => `image-missing:${image}`;

const spaceOf = async (folder: string) => {
  const { bavail, blocks, bsize } = await statfs(folder);
  return { free: bavail * bsize, size: blocks * bsize };
};

export function createSystemWatch(deps: SystemWatchDeps) {
  const { notifications, data, docker, agentImage, diskSpace = spaceOf } = deps;
  let missing: string | undefined;

  async function lookAtDisk(): Promise<void> {
    const { free, size } = await diskSpace(data);
    const little = free < LIMITS.diskLittleBytes;
    if (!little && !(free < LIMITS.diskLowBytes && free < size * LOW_PART)) return notifications.resolve(DISK);
    notifications.notify({
      level: little ? "error" : "warning",
      title: little ? "The disk is almost full" : "The disk is getting full",
      detail: `${Math.floor(free / 1024 ** 2)} MiB are free on the disk of the data folder. Remove old backups, or make room.`,
      key: DISK,
    });
  }

  async function lookAtImage(): Promise<void> {
    if (!docker) return;
    const image = agentImage();
    if (missing !== undefined && missing !== image) notifications.resolve(imageKey(missing));
    if ((await docker.images.inspect(image)) || (await deps.makeImage?.(image))) {
      missing = undefined;
      return notifications.resolve(imageKey(image));
    }
    missing = image;
    notifications.notify({
      level: "warning",
      title: "The agents' image is missing",
      detail: `${image} is not on this machine. Make one with: skep image build. Load one from a file with: skep image load FILE. Or pull it under containers.`,
      key: imageKey(image),
    });
  }

  return {
    /** Checks everything once. Problems and errors of the system are ignored; other errors are thrown. */
    async look(): Promise<void> {
      // An engine that does not answer does not mean that the image is missing. The status page shows such an engine.
      const parts = [lookAtDisk(), lookAtImage()];
      for (const one of await Promise.allSettled(parts))
        if (one.status === "rejected" && !isProblem(one.reason) && !isSystemError(one.reason)) throw one.reason;
    },
    /** Call when the image has been made or loaded: closes its notification. */
    imageIsThere: (image: string): void => notifications.resolve(imageKey(image)),
  };
}

const isSystemError = (error: unknown): boolean => error instanceof Error && "code" in error;
