/** Packs a task's files into one text, which a command unpacks in a sandbox. */
import { buffer } from "node:stream/consumers";
import { gzipSync } from "node:zlib";
import { pack } from "tar-stream";
import { invalidField } from "../../core/errors.ts";
import { PACKED_CHARACTERS, type TaskFile } from "./model.ts";

/** A relative path without `.` and `..`, and without characters that a shell or tar would interpret. */
const PATH = /^[\w@+-][\w.@+ -]*(\/[\w@+.-][\w.@+ -]*)*$/;

const isTaskPath = (path: string): boolean =>
  PATH.test(path) && path.split("/").every((name) => name !== "." && name !== "..");

/**
 * Packs files into a gzipped tar in base64. The same files always give the same text.
 * @param where the place in the request's body, for errors.
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
