/** A task's files as one text that a command unpacks in a sandbox. */
import { buffer } from "node:stream/consumers";
import { gzipSync } from "node:zlib";
import { pack } from "tar-stream";
import { invalidField } from "../../core/errors.ts";
import { PACKED_CHARACTERS, type TaskFile } from "./model.ts";

/** Relative, without `.` and `..`, and without anything a shell or tar would read otherwise. */
const PATH = /^[\w@+-][\w.@+ -]*(\/[\w@+.-][\w.@+ -]*)*$/;

const isTaskPath = (path: string): boolean =>
  PATH.test(path) && path.split("/").every((name) => name !== "." && name !== "..");

/**
 * A gzipped tar in base64; the same files give the same text.
 * @param where of the request's body, for what is wrong with it.
 * @throws Problem 422.
 */
export async function packFiles(files: readonly TaskFile[], where: string): Promise<string> {
  const tar = pack();
  const seen = new Set<string>();
  for (const { path, content, executable } of files.toSorted((a, b) => (a.path < b.path ? -1 : 1))) {
    if (!isTaskPath(path) || seen.has(path))
      throw invalidField(where, `${JSON.stringify(path)} is no path of a file of its own in a task's folder`);
    seen.add(path);
    tar.entry({ name: path, mode: executable ? 0o755 : 0o644, mtime: new Date(0) }, Buffer.from(content, "base64"));
  }
  tar.finalize();
  const packed = gzipSync(await buffer(tar)).toString("base64");
  if (packed.length > PACKED_CHARACTERS)
    throw invalidField(where, `The files take ${packed.length} characters packed; ${PACKED_CHARACTERS} fit`);
  return packed;
}
