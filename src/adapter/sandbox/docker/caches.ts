/**
 * Caches of sandboxes: one volume for each person and project, mounted away from the home. The home is in memory and would get
 * folders of root for what is mounted in it; links lead from it to the volume instead. Only sandboxes read what is there.
 */
import { hashJson } from "../../../core/json-hash.ts";
import type { CacheFolders } from "../../../engine/sandbox.ts";
import type { DockerClient } from "../../docker.ts";
import type { Owner } from "../workspace-path.ts";
import { hear } from "./exec.ts";
import { bound } from "./lock-down.ts";
import { filesFolder, makeFilesVolume, mountedVolume } from "./volume.ts";

const CACHES = "/skep/caches";
/** Closed to the container's user: it keeps the engine from removing the volume meanwhile. */
const HELD = "/run/skep-caches";
/** On a volume: project and whose. */
const LABEL = "skep.cache";

/** A cache must never hold work up: where the image lacks what this needs, it goes on without. */
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
  /** The container's user. */
  owner: Owner;
}

export async function openCaches({ docker, instanceId, caches, imageId, owner }: CachesPlan) {
  const { projectId, owner: whose } = caches;
  const name = `skep-cache-${hashJson({ instanceId, projectId, whose }).slice(0, 40)}`;
  const labels = { "skep.instance": instanceId, [LABEL]: `${projectId} ${whose}` };
  const folder = filesFolder(await docker.volumes.ensure(name, labels));
  return {
    mounts: [bound({ source: folder, target: CACHES, isEngines: true }), mountedVolume(name, HELD)],
    /** Called when the engine does not have the folder that is mounted: it is new, or was removed by hand. */
    async make(): Promise<void> {
      await makeFilesVolume(docker, { name, labels, imageId, owner });
    },
    isMissing: (detail: string): boolean =>
      detail.includes("bind source path does not exist") && detail.includes(folder),
  };
}

type Asked = [docker: DockerClient, containerId: string, caches: CacheFolders | undefined];

/** Leads from the home to them, in a container that runs: what is in memory is gone after each start. */
export const linkCaches = (...asked: Asked): Promise<void> => runInHome(LINK, ...asked);

/** Before a container becomes an image: what is kept is not in it, and the links would lead nowhere. */
export const unlinkCaches = (...asked: Asked): Promise<void> => runInHome(UNLINK, ...asked);

async function runInHome(script: string, ...[docker, containerId, caches]: Asked): Promise<void> {
  if (caches) await hear(docker, containerId, { argv: ["sh", "-c", script, "sh", ...caches.paths], cwd: "/" });
}

export interface CacheVolume {
  name: string;
  projectId: string;
  owner: string;
  bytes: number;
  /** As the engine says it; empty where it does not. */
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
    /** Throws `docker_conflict` while a sandbox has it. */
    remove: docker.volumes.remove,
  };
}
