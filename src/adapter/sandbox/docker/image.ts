/**
 * The agents' container images: loads one from a file, builds a small one on the spot, lists them. No registry is
 * needed.
 */
import { pipeline, type Readable } from "node:stream";
import { isProblem, Problem } from "../../../core/errors.ts";
import type { ImageRow } from "../../docker/images.ts";
import type { ImageProgress } from "../../docker/progress.ts";
import type { DockerClient } from "../../docker.ts";
import type { ArchiveKind, ArchiveLimits } from "./image-archive.ts";

export const DEFAULT_AGENT_IMAGE = "skep/agent:latest";

interface BuildRequest {
  /** Name of the image; `skep/agent:latest` when absent. */
  name?: string;
  /**
   * A tar (or tar.gz) of a root file system that contains `sh`. Without it, the image is made from a static busybox.
   */
  rootfs?: Readable;
  busyboxPaths?: readonly string[];
}

const PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";

export function createImages(deps: { docker: DockerClient; limits?: ArchiveLimits }) {
  const { docker, limits } = deps;
  return {
    /**
     * Loads a file written by `docker save` (tar or tar.gz). @returns the loaded names. @throws Problem 422
     * `archive_refused`, `image_refused`.
     */
    load: async (file: Readable, onProgress?: (progress: ImageProgress) => void): Promise<string[]> => {
      try {
        return await sendGuarded(file, "saved", limits, (tar) => docker.images.load(tar, onProgress));
      } catch (error) {
        if (!isProblem(error) || error.code !== "docker_error") throw error;
        const hint = "If it is a root file system, use `skep image build --rootfs FILE`.";
        throw new Problem(422, "image_refused", `This is not a saved image: ${error.detail}. ${hint}`);
      }
    },
    /** Makes an image. @returns its name and id. */
    build: async ({
      name = DEFAULT_AGENT_IMAGE,
      rootfs,
      busyboxPaths,
    }: BuildRequest = {}): Promise<{ name: string; id: string }> => {
      const made = rootfs ? undefined : await (await import("./busybox-rootfs.ts")).busyboxRootfs(busyboxPaths);
      const changes = [`ENV PATH=${PATH}`, 'CMD ["/bin/sh"]', "LABEL skep.image=agent"];
      if (made) changes.push(`LABEL skep.content=${made.hash}`);
      const source = rootfs ?? made?.tar;
      if (source) await sendGuarded(source, "rootfs", limits, (tar) => docker.images.importRootfs(tar, name, changes));
      const image = await docker.images.inspect(name);
      if (!image) throw new Error(`the image ${name} does not exist after its import`);
      return { name, id: image.id };
    },
    list: (): Promise<ImageRow[]> => docker.images.list(),
  };
}

/**
 * Unpacks gzip, checks the archive and sends it. If the check fails, its fault is thrown instead of the engine's
 * message about a broken upload.
 */
async function sendGuarded<T>(
  file: Readable,
  kind: ArchiveKind,
  limits: ArchiveLimits | undefined,
  send: (tar: Readable) => Promise<T>,
): Promise<T> {
  const { guardArchive } = await import("./image-archive.ts");
  const guard = guardArchive(kind, limits);
  let fault: Error | undefined;
  const onEnd = (error: Error | null | undefined) => {
    fault ??= error ? toReadableError(error) : undefined;
  };
  const { first, rest } = await peek(file);
  if (first[0] === 0x1f && first[1] === 0x8b) pipeline(rest, (await import("node:zlib")).createGunzip(), guard, onEnd);
  else pipeline(rest, guard, onEnd);
  try {
    return await send(guard);
  } catch (error) {
    throw fault ?? error;
  } finally {
    guard.destroy();
  }
}

/** Turns zlib's errors about a damaged file into a Problem 422, because the sender made the mistake. */
function toReadableError(error: NodeJS.ErrnoException): Error {
  const damaged = /^Z_/.test(error.code ?? "");
  return damaged ? new Problem(422, "archive_refused", `The gzip file is damaged: ${error.message}.`) : error;
}

/** Reads the first chunk. @returns it, and a source that begins with it again. */
async function peek(file: Readable): Promise<{ first: Uint8Array; rest: AsyncIterable<Uint8Array> }> {
  const chunks = file[Symbol.asyncIterator]();
  const head = await chunks.next();
  const first = head.done ? new Uint8Array() : head.value;
  async function* rest() {
    if (head.done) return;
    yield first;
    for (let next = await chunks.next(); !next.done; next = await chunks.next()) yield next.value;
  }
  return { first, rest: rest() };
}
