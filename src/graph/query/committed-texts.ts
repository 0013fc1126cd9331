/**
 * Texts of files at a commit. They are read from git's objects, so the repository's filters and attributes do not
 * apply.
 */
import { type GitPlace, gitBytes } from "../index/git.ts";
import { MAX_FILE_BYTES } from "../index/source-files.ts";
import type { CommitPlace } from "./changed-files.ts";

/**
 * At most this many bytes are read for one question. Files beyond it are left out, as are files over `MAX_FILE_BYTES`.
 */
const MAX_BYTES = 64 * 1024 * 1024;

/**
 * @param start path of the place's root from the top of the repository; "" if it is the top
 * @param paths paths from the place's root
 */
export async function committedTexts(
  place: GitPlace,
  { commit, start }: CommitPlace,
  paths: readonly string[],
): Promise<Map<string, string>> {
  const texts = new Map<string, string>();
  const asked = paths.filter((path) => !path.includes("\n"));
  if (asked.length === 0) return texts;
  const names = asked.map((path) => `${commit}:${start === "" ? "" : `${start}/`}${path}`);
  const sizes = await gitBytes(place, ["cat-file", "--batch-check=%(objecttype) %(objectsize)"], toStdin(names));
  const heads = new TextDecoder().decode(sizes).split("\n");
  let sum = 0;
  const wanted = asked.filter((_, at) => {
    const size = Number(/^blob (\d+)$/.exec(heads[at] ?? "")?.[1] ?? Number.NaN);
    if (!(size <= MAX_FILE_BYTES) || sum + size > MAX_BYTES) return false;
    sum += size;
    return true;
  });
  const chosen = wanted.map((path) => names[asked.indexOf(path)]!);
  const all = (await gitBytes(place, ["cat-file", "--batch=%(objectsize)"], toStdin(chosen))) ?? new Uint8Array();
  let at = 0;
  for (const path of wanted) {
    const end = all.indexOf(0x0a, at);
    if (end < 0) break;
    const size = Number(new TextDecoder().decode(all.subarray(at, end)));
    if (!Number.isInteger(size)) break;
    texts.set(path, new TextDecoder().decode(all.subarray(end + 1, end + 1 + size)));
    at = end + 1 + size + 1;
  }
  return texts;
}

const toStdin = (names: readonly string[]) => ({ stdin: new Blob([names.map((name) => `${name}\n`).join("")]) });
