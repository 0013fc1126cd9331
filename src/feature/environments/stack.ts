/** Functions that stacks share, for reading the files of a repository as hostile text. */
import type { Environment } from "./model.ts";

/** Returns the text of a repository's file; empty when the file is too large, undefined when there is no such file. */
export type TextOf = (path: string) => string | undefined;

export interface Stack {
  files: string[];
  definition: Environment;
  notes?: string[];
}

/** Those of the paths that exist in the repository. */
export const present = (textOf: TextOf, paths: readonly string[]): string[] =>
  paths.filter((path) => textOf(path) !== undefined);

interface TomlTable {
  /** The table's name, such as `project.optional-dependencies`. */
  name: string;
  keys: string[];
  text: string;
}

const TABLE = /^\[{1,2}\s{0,4}([^\]]{1,200}?)\s{0,4}\]{1,2}\s{0,4}(?:#.*)?$/;
const KEY = /^"?([A-Za-z0-9_.-]{1,100})"?\s{0,10}=/;
const MAX_TABLES = 500;

/**
 * The tables of a TOML file and their keys. It reads line by line: deep nesting costs nothing, and values stay plain
 * text.
 */
export function tablesOf(text: string): TomlTable[] {
  const tables: TomlTable[] = [{ name: "", keys: [], text: "" }];
  for (const line of text.split("\n")) {
    const [, name] = TABLE.exec(line.trimEnd()) ?? [];
    if (name !== undefined && tables.length < MAX_TABLES) tables.push({ name, keys: [], text: "" });
    const table = tables.at(-1);
    if (name !== undefined || !table) continue;
    const [, key] = KEY.exec(line) ?? [];
    if (key !== undefined) table.keys.push(key);
    table.text += `${line}\n`;
  }
  return tables;
}
