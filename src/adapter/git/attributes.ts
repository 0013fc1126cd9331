/** The attributes by which a repository of ours treats files. */
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";

/**
 * Files are taken byte for byte, whatever `.gitattributes` in a working copy asks for: this file beats it. Without it a
 * careless or hostile line (an unknown encoding) would make every commit fail. Nor do they say how files are compared and
 * joined: an agent's `*.js -diff` would hide changes from their reviewer. An archive has every file as it is.
 */
export async function withoutConversions(repository: string): Promise<void> {
  await mkdir(join(repository, "info"), { recursive: true });
  await writeFile(
    join(repository, "info/attributes"),
    "* -text -eol -filter -ident !working-tree-encoding !diff !merge -export-ignore -export-subst\n",
  );
}
