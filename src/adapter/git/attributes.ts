/** The attributes by which Skep's repositories treat files. */
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";

/**
 * Turns off all conversions: files are stored byte for byte, because `info/attributes` takes precedence over any
 * `.gitattributes` in a working copy. Otherwise a careless or hostile line there (an unknown encoding) would make every
 * commit fail.
 * Diff and merge drivers are off, too: an agent's `*.js -diff` would hide changes from their reviewer. An archive
 * contains every file as it is.
 */
export async function withoutConversions(repository: string): Promise<void> {
  await mkdir(join(repository, "info"), { recursive: true });
  await writeFile(
    join(repository, "info/attributes"),
    "* -text -eol -filter -ident !working-tree-encoding !diff !merge -export-ignore -export-subst\n",
  );
}
