/** Lists the files of a commit and writes them to an archive, without reading a working copy. */
import { stat } from "node:fs/promises";
import { Problem } from "../../core/errors.ts";
import { eachField, type GitCommand } from "./command.ts";
import { assertRef } from "./names.ts";

interface SourceFile {
  path: string;
  kind: "file" | "program" | "link";
  /** Git's object id of the content. */
  oid: string;
}

interface Archive {
  repository: string;
  commit: string;
  /** Path of the tar file to write. All paths in the tar begin with `prefix`. */
  to: string;
  prefix: string;
  maxBytes: number;
  signal?: AbortSignal | undefined;
}

const TIMEOUT_MS = 600_000;

/**
 * Lists files and links of a commit, in git's order; submodules are left out.
 * @throws Problem 413 `source_too_large` for more than `most`.
 */
export async function sourceFiles(
  git: GitCommand,
  repository: string,
  commit: string,
  most: number,
): Promise<SourceFile[]> {
  assertRef(commit);
  const found: SourceFile[] = [];
  let count = 0;
  const at = { cwd: repository, gitDir: repository };
  await eachField(git, ["ls-tree", "-r", "-z", commit], at, (text) => {
    const [, mode, oid, path] = /^(1[02]0\d+) blob ([0-9a-f]{40,64})\t(.*)$/s.exec(text) ?? [];
    if (path === undefined || oid === undefined || mode === undefined || path.includes("\ufffd")) return;
    count++;
    if (count <= most) found.push({ path, kind: kindOf(mode), oid });
  });
  if (count > most) throw new Problem(413, "source_too_large", `The project has more than ${most} files.`);
  return found;
}

const kindOf = (mode: string): SourceFile["kind"] =>
  mode.startsWith("12") ? "link" : mode === "100755" ? "program" : "file";

/** Writes all files of a commit to a tar. @throws Problem 413 `source_too_large`, 502, 504. */
export async function writeArchive(git: GitCommand, archive: Archive): Promise<void> {
  const { repository, commit, to, prefix, maxBytes, signal } = archive;
  assertRef(commit);
  const args = ["archive", "--format=tar", `--prefix=${prefix}`, `--output=${to}`, commit];
  await git(args, { cwd: repository, gitDir: repository, signal, timeoutMs: TIMEOUT_MS });
  const { size } = await stat(to);
  if (size > maxBytes)
    throw new Problem(413, "source_too_large", `The project's files are larger than ${maxBytes} bytes.`);
}
