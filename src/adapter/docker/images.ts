/** Images: list, inspect, load from a saved tar, import a root file system, pull. */
import type { Readable } from "node:stream";
import type Docker from "dockerode";
import { asProblem, type Engine } from "./failures.ts";
import { followProgress, type ImageProgress } from "./progress.ts";
import { requireReadable } from "./streams.ts";

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
  /** Paths that the image declares as volumes. */
  volumes: string[];
  env: string[];
  /** The user that the image declares; empty when it declares none. */
  user: string;
  workdir: string;
  sizeBytes: number;
}

/** Splits `host:5000/a/b:tag` into name and tag. The tag is `latest` when there is none. A digest stays in the name. */
export function splitImageName(name: string): { repository: string; tag: string } {
  const colon = name.lastIndexOf(":");
  if (name.includes("@") || colon <= name.lastIndexOf("/"))
    return { repository: name, tag: name.includes("@") ? "" : "latest" };
  return { repository: name.slice(0, colon), tag: name.slice(colon + 1) };
}

export function createImageApi(engine: Engine) {
  const { docker, call } = engine;
  return {
    list: (): Promise<ImageRow[]> => call(async () => (await docker().listImages()).map(imageRow)),
    /** Undefined when there is no such image. */
    inspect: (name: string): Promise<ImageDetail | undefined> => call(() => inspectImage(engine, name)),
    /**
     * Loads an archive written by `docker save` (uncompressed or gzip). @returns the names (or ids) of the loaded
     * images.
     */
    load: (tar: Readable, onProgress?: (progress: ImageProgress) => void): Promise<string[]> =>
      call(async (givenUp) => {
        const answer = requireReadable(await docker().loadImage(tar, { quiet: false, abortSignal: givenUp }));
        const lines = await followProgress(answer, givenUp, onProgress);
        return lines.flatMap((line) => /^Loaded image(?: ID)?: (.+)$/.exec(line)?.[1] ?? []);
      }),
    /** Makes an image of one layer from a tar of a root file system. `changes` are Dockerfile lines (ENV, LABEL…). */
    importRootfs: (tar: Readable, name: string, changes: readonly string[]): Promise<void> =>
      call(async (givenUp) => {
        // Name and tag are given in one field, because Podman ignores a separate tag.
        const { repository, tag } = splitImageName(name);
        const asked = { repo: `${repository}:${tag}`, changes, abortSignal: givenUp };
        await followProgress(requireReadable(await docker().importImage(tar, asked)), givenUp);
      }),
    /** Pulls an image; `onProgress` gets the progress of each layer. */
    pull: (
      name: string,
      { onProgress, signal }: { onProgress?(progress: ImageProgress): void; signal?: AbortSignal } = {},
    ): Promise<void> =>
      call(async (givenUp) => {
        const { repository, tag } = splitImageName(name);
        const abortSignal = signal ? AbortSignal.any([signal, givenUp]) : givenUp;
        const asked = { fromImage: repository, ...(tag ? { tag } : {}), abortSignal };
        await followProgress(requireReadable(await docker().createImage(asked)), abortSignal, onProgress);
      }),
    /** Gives an image another name. */
    tag: (image: string, name: string): Promise<void> =>
      call(async () => {
        const { repository, tag } = splitImageName(name);
        await docker().getImage(image).tag({ repo: repository, tag });
      }),
    remove: (name: string): Promise<void> => call(() => docker().getImage(name).remove({ force: true })),
  };
}

const imageRow = (image: Docker.ImageInfo): ImageRow => ({
  id: image.Id,
  tags: (image.RepoTags ?? []).filter((tag) => tag !== "<none>:<none>"),
  sizeBytes: image.Size,
  createdAt: image.Created * 1000,
  labels: image.Labels ?? {},
});

async function inspectImage({ docker, address }: Engine, name: string): Promise<ImageDetail | undefined> {
  try {
    const image = await docker().getImage(name).inspect();
    return {
      id: image.Id,
      tags: image.RepoTags ?? [],
      volumes: Object.keys(image.Config?.Volumes ?? {}),
      env: image.Config?.Env ?? [],
      user: image.Config?.User ?? "",
      workdir: image.Config?.WorkingDir ?? "",
      sizeBytes: image.Size ?? 0,
    };
  } catch (error) {
    const problem = asProblem(error, address);
    if (problem.code === "docker_not_found") return undefined;
    throw problem;
  }
}
