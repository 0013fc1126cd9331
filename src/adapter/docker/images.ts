/** Images: list, look, load from a saved tar, import a root file system, pull. */
import type { Readable } from "node:stream";
import type Docker from "dockerode";
import type { Attend } from "./attendance.ts";
import { asProblem, guarded } from "./failures.ts";
import { followProgress, type ImageProgress } from "./progress.ts";
import { readable } from "./streams.ts";

export interface ImageRow {
  id: string;
  tags: string[];
  sizeBytes: number;
  /** Unix milliseconds. */
  createdAt: number;
  labels: Record<string, string>;
}

export interface ImageDetail {
  id: string;
  tags: string[];
  /** Paths the image declares as volumes. */
  volumes: string[];
  env: string[];
}

export interface ImageApi {
  list(): Promise<ImageRow[]>;
  /** Undefined when there is no such image. */
  inspect(name: string): Promise<ImageDetail | undefined>;
  /** Loads what `docker save` wrote (uncompressed or gzip). Returns the names (or ids) of the images loaded. */
  load(tar: Readable, onProgress?: (progress: ImageProgress) => void): Promise<string[]>;
  /** Makes an image of one layer from a tar of a root file system. `changes` are Dockerfile lines (ENV, LABEL…). */
  importRootfs(tar: Readable, name: string, changes: readonly string[]): Promise<void>;
  /** Pulls; `onProgress` gets each layer. */
  pull(name: string, options?: { onProgress?(progress: ImageProgress): void; signal?: AbortSignal }): Promise<void>;
  /** Gives an image a further name. */
  tag(image: string, name: string): Promise<void>;
  remove(name: string): Promise<void>;
}

/** Splits `host:5000/a/b:tag` into name and tag; `latest` when it has none. A digest stays in the name. */
export function splitImageName(name: string): { repository: string; tag: string } {
  const colon = name.lastIndexOf(":");
  if (name.includes("@") || colon <= name.lastIndexOf("/"))
    return { repository: name, tag: name.includes("@") ? "" : "latest" };
  return { repository: name.slice(0, colon), tag: name.slice(colon + 1) };
}

export function createImageApi(docker: () => Docker, address: string, attend: Attend): ImageApi {
  return {
    list: () => guarded(address, async () => (await attend(() => docker().listImages())).map(imageRow)),
    inspect: (name) => attend(() => inspectImage(docker, address, name)),
    load: (tar, onProgress) =>
      guarded(address, async () => {
        const lines = await followProgress(await docker().loadImage(tar, { quiet: false }), onProgress);
        return lines.flatMap((line) => /^Loaded image(?: ID)?: (.+)$/.exec(line)?.[1] ?? []);
      }),
    importRootfs: (tar, name, changes) =>
      guarded(address, async () => {
        // Name and tag in one: Podman does not read a tag that is given separately.
        const { repository, tag } = splitImageName(name);
        await followProgress(await docker().importImage(tar, { repo: `${repository}:${tag}`, changes }));
      }),
    pull: (name, { onProgress, signal } = {}) =>
      guarded(address, async () => {
        const { repository, tag } = splitImageName(name);
        const asked = { fromImage: repository, ...(tag ? { tag } : {}), ...(signal ? { abortSignal: signal } : {}) };
        const answer = readable(await docker().createImage(asked));
        const stop = () => answer.destroy(signal?.reason instanceof Error ? signal.reason : new Error("cancelled"));
        signal?.addEventListener("abort", stop, { once: true });
        try {
          await followProgress(answer, onProgress);
          signal?.throwIfAborted();
        } finally {
          signal?.removeEventListener("abort", stop);
        }
      }),
    tag: (image, name) =>
      guarded(address, async () => {
        const { repository, tag } = splitImageName(name);
        await docker().getImage(image).tag({ repo: repository, tag });
      }),
    remove: (name) => guarded(address, () => docker().getImage(name).remove({ force: true })),
  };
}

const imageRow = (image: Docker.ImageInfo): ImageRow => ({
  id: image.Id,
  tags: (image.RepoTags ?? []).filter((tag) => tag !== "<none>:<none>"),
  sizeBytes: image.Size,
  createdAt: image.Created * 1000,
  labels: image.Labels ?? {},
});

async function inspectImage(docker: () => Docker, address: string, name: string): Promise<ImageDetail | undefined> {
  try {
    const image = await docker().getImage(name).inspect();
    return {
      id: image.Id,
      tags: image.RepoTags ?? [],
      volumes: Object.keys(image.Config?.Volumes ?? {}),
      env: image.Config?.Env ?? [],
    };
  } catch (error) {
    const problem = asProblem(error, address);
    if (problem.code === "docker_not_found") return undefined;
    throw problem;
  }
}
