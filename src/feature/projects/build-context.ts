/**
 * Reads a Dockerfile of a commit and the names of the files beside it. It reads from the repository, never from a
 * working copy.
 */
import { posix } from "node:path";
import type { Git } from "../../adapter/git.ts";
import { readDockerignore } from "../../core/dockerfile/context.ts";
import { DockerfileFault } from "../../core/dockerfile/lines.ts";
import { LIMITS } from "../../core/limits.ts";

/** Paths from the top of the repository. */
export interface ContextPlace {
  dockerfile: string;
  /** The folder from which files can be copied; the repository's top when absent. */
  context?: string | undefined;
}

export type BuildContext = Awaited<ReturnType<typeof readContext>>;

/** @throws DockerfileFault, Problem 413 `source_too_large`. */
export async function readContext(
  git: Pick<Git, "sourceFiles" | "fileAt">,
  repository: string,
  commit: string,
  place: ContextPlace,
) {
  const [path, folder] = [requireInside(place.dockerfile), requireInside(place.context ?? ".")];
  const prefix = folder === "" ? "" : `${folder}/`;
  const all = await git.sourceFiles(repository, commit, LIMITS.sourceFiles);
  const kinds = new Map(all.map((file) => [file.path, file.kind]));
  const read = async (file: string): Promise<string | undefined> =>
    (kinds.get(file) ?? "link") === "link" ? undefined : ((await git.fileAt(repository, commit, file)) ?? undefined);
  const text = await read(path);
  if (text === undefined)
    throw new DockerfileFault(1, "There is no such file on the project's branch, or it is a link.");
  const ignore = (await read(`${path}.dockerignore`)) ?? (await read(`${prefix}.dockerignore`)) ?? "";
  const files = all.flatMap((file) =>
    file.path.startsWith(prefix) ? [{ ...file, path: file.path.slice(prefix.length) }] : [],
  );
  return {
    /** Text of the Dockerfile. */
    text,
    /** Files of the context, by their paths from its top. */
    files,
    isIgnored: readDockerignore(ignore),
    /** Folder of the context in the repository: "" or "app/". */
    prefix,
  };
}

/** @throws DockerfileFault for a path that leads out of the repository. */
function requireInside(path: string): string {
  const whole = posix.normalize(path).replace(/\/$/, "");
  if (whole.startsWith("/") || whole.split("/").includes(".."))
    throw new DockerfileFault(1, `${path.slice(0, 100)} leads out of the repository.`);
  return whole === "." ? "" : whole;
}
