/** A look at a folder: the files that it has now, and a fingerprint to compare them with an index. */
import { LANGUAGES, languageOf } from "../language/languages.ts";
import { exactVersion } from "../scip/exact-references.ts";
import type { GitPlace } from "./git.ts";
import { openSources, type SourceFiles } from "./source-files.ts";
import { type Walk, walkFolder } from "./walk.ts";

export interface Look {
  walk: Walk;
  /** Identifies the contents of the configuration files together with the exact references. */
  configs: string;
  /** Identifies the contents of the configuration files alone. */
  hash: string;
  /**
   * A hash of everything that an index depends on: files with sizes and times, configuration files, exact references.
   */
  fingerprint: string;
}

/** Base names of configuration files that some language reads. */
const CONFIG_NAMES = new Set(LANGUAGES.flatMap((language) => language.configNames));

/**
 * @param folder the folder of the graph
 * @param onFound called with the size in bytes of each source file, as it is found
 * @throws when the place cannot be read
 */
export async function lookAtFiles(
  { root, gitDir }: GitPlace,
  folder: string,
  onFound?: (bytes: number) => void,
): Promise<Look> {
  const walk = await walkFolder({
    root,
    gitDir,
    isSupported: (path) => languageOf(path) !== undefined,
    configNames: CONFIG_NAMES,
    onFound,
  });
  using sources = openSources(root);
  return lookOf(walk, hashOf(sources, walk.configs), folder);
}

/**
 * @param hash identifies the contents of the configuration files
 * @param folder the folder of the graph
 */
export function lookOf(walk: Walk, hash: string, folder: string): Look {
  const exact = exactVersion(folder);
  let text = `${exact}\n${walk.settings.join("\n")}\n`;
  for (const { path, size, modified } of walk.files) text += `${path}\n${size} ${modified}\n`;
  return { walk, configs: hash + exact, hash, fingerprint: Bun.hash(text + hash).toString(36) };
}

function hashOf(sources: SourceFiles, configs: readonly string[]): string {
  let text = "";
  for (const path of configs) text += `${path}\n${Bun.hash(sources.text(path) ?? "")}\n`;
  return Bun.hash(text).toString(36);
}
