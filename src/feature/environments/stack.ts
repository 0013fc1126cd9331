/** What stacks share: how the files of a repository are read as hostile text, and how a line of commands is made of them. */
import type { Environment } from "./model.ts";

/** Text of a file of a repository; empty where the file is too large to be read. */
export type TextOf = (path: string) => string | undefined;

export interface Stack {
  files: string[];
  definition: Environment;
  notes?: string[];
}

/** The names that the repository has. */
export const present = (textOf: TextOf, paths: readonly string[]): string[] =>
  paths.filter((path) => textOf(path) !== undefined);

interface TomlTable {
  /** Such as `project.optional-dependencies`. */
  name: string;
  keys: string[];
  text: string;
}

const TABLE = /^\[{1,2}\s{0,4}([^\]]{1,200}?)\s{0,4}\]{1,2}\s{0,4}(?:#.*)?$/;
const KEY = /^"?([A-Za-z0-9_.-]{1,100})"?\s{0,10}=/;
const MAX_TABLES = 500;

/** The tables of a TOML file, and their keys. A line reader: deep values cost nothing, and their insides are only text. */
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
