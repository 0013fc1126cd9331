/** A look at a folder: which files there are now, and whether they are those of an index. */
import { LANGUAGES, languageOf } from "../language/languages.ts";
import { exactVersion } from "../scip/exact-references.ts";
import type { GitPlace } from "./git.ts";
import { openSources, type SourceFiles } from "./source-files.ts";
import { type Walk, walkFolder } from "./walk.ts";

export interface Look {
  walk: Walk;
  /** Another text for other contents of the configuration files, or other exact references. */
  configs: string;
  /** Of the configuration files alone. */
  hash: string;
  /** A hash of all that an index depends on: the files, their sizes and times, and the configuration files. */
  fingerprint: string;
}

/** Base names of configuration files that some language reads. */
const CONFIG_NAMES = new Set(LANGUAGES.flatMap((language) => language.configNames));

/**
 * @param folder of the graph
 * @param found hears how many bytes each source file has, as it is found
 * @throws when the place cannot be read.
 */
export async function lookAtFiles(
  { root, gitDir }: GitPlace,
  folder: string,
  found?: (bytes: number) => void,
): Promise<Look> {
  const walk = await walkFolder({
    root,
    gitDir,
    supported: (path) => languageOf(path) !== undefined,
    configNames: CONFIG_NAMES,
    found,
  });
  using sources = openSources(root);
  return lookOf(walk, hashOf(sources, walk.configs), folder);
}

/** @param hash of the configuration files. @param folder of the graph. */
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
