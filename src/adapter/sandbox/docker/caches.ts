/**
 * Caches of sandboxes: one volume for each person and project. Only sandboxes read it.
 * The volume is mounted outside the home folder, and links in the home lead to it. The home is in memory, and mounting
 * caches inside it would make folders there that belong to root.
 */
import { hashJson } from "../../../core/json-hash.ts";
import type { CacheFolders } from "../../../engine/sandbox.ts";
import type { DockerClient } from "../../docker.ts";
import type { Owner } from "../workspace-path.ts";
import { captureOutput } from "./exec.ts";
import { toBindMount } from "./lock-down.ts";
import { filesFolder, makeFilesVolume, mountedVolume } from "./volume.ts";

const CACHES = "/skep/caches";
/**
 * Second mount point of the volume, closed to the container's user. It keeps the engine from removing the volume while
 * it is in use.
 */
const HELD = "/run/skep-caches";
/** Label of a volume: the project and the owner. */
const LABEL = "skep.cache";

/**
 * A cache must never stop work: if the image lacks a program that this script needs, work continues without the cache.
 */
const LINK = `for path do
  [ -e "$HOME/$path" ] || [ -L "$HOME/$path" ] && continue
  case "$path" in */*) mkdir -p "$HOME/\${path%/*}" ;; esac
  mkdir -p "${CACHES}/$path" && ln -s "${CACHES}/$path" "$HOME/$path"
done
true`;

const UNLINK = `for path do
  [ ! -L "$HOME/$path" ] || rm -f "$HOME/$path"
done`;

interface CachesPlan {
  docker: DockerClient;
  instanceId: string;
  caches: CacheFolders;
  imageId: string;
  /** The user that the container runs as. */
  owner: Owner;
}

export async function openCaches({ docker, instanceId, caches, imageId, owner }: CachesPlan) {
  const { projectId, owner: whose } = caches;
  const name = `skep-cache-${hashJson({ instanceId, projectId, whose }).slice(0, 40)}`;
  const labels = { "skep.instance": instanceId, [LABEL]: `${projectId} ${whose}` };
  const folder = filesFolder(await docker.volumes.ensure(name, labels));
  return {
    mounts: [toBindMount({ source: folder, target: CACHES, isEngines: true }), mountedVolume(name, HELD)],
    /**
     * Makes the volume's folder. Call this when the engine does not have it, because the volume is new or was removed
     * by hand.
     */
    async make(): Promise<void> {
      await makeFilesVolume(docker, { name, labels, imageId, owner });
    },
    isMissing: (detail: string): boolean =>
      detail.includes("bind source path does not exist") && detail.includes(folder),
  };
}

type Asked = [docker: DockerClient, containerId: string, caches: CacheFolders | undefined];

/** Links the caches into the home of a running container. Needed after each start, because the home is in memory. */
export const linkCaches = (...asked: Asked): Promise<void> => runInHome(LINK, ...asked);

/**
 * Removes the links before a container becomes an image: the caches are not part of it, so the links would lead
 * nowhere.
 */
export const unlinkCaches = (...asked: Asked): Promise<void> => runInHome(UNLINK, ...asked);

async function runInHome(script: string, ...[docker, containerId, caches]: Asked): Promise<void> {
  if (caches) await captureOutput(docker, containerId, { argv: ["sh", "-c", script, "sh", ...caches.paths], cwd: "/" });
}

export interface CacheVolume {
  name: string;
  projectId: string;
  owner: string;
  bytes: number;
  /** As the engine reports it; empty when it does not. */
  createdAt: string;
}

export type CacheVolumes = ReturnType<typeof createCacheVolumes>;

export function createCacheVolumes(docker: DockerClient, instanceId: string) {
  return {
    async list(): Promise<CacheVolume[]> {
      const rows = await docker.volumes.usage();
      return rows.flatMap(({ name, labels, bytes, createdAt }) => {
        const [projectId, owner] = (labels[LABEL] ?? "").split(" ");
        const isOurs = labels["skep.instance"] === instanceId && projectId && owner;
        return isOurs ? [{ name, projectId, owner, bytes, createdAt }] : [];
      });
    },
    /** Removes a volume. Throws `docker_conflict` while a sandbox uses it. */
    remove: docker.volumes.remove,
  };
}
