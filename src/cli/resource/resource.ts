/**
 * The API's resources as tables of data: where each list is, what one is called, which columns people see, what can be
 * done with one. `command.ts` makes commands of it; nothing else writes a list or looks for an id.
 */
import type { Client } from "../server/client.ts";
import type { Column } from "../terminal/table.ts";

/** Whatever the API answers; each resource knows which fields it reads. */
// biome-ignore lint/suspicious/noExplicitAny: the columns and verbs of a resource name the fields of its answers
export type Item = Record<string, any>;

/** The list in that field. */
export const itemsIn = (item: Item, name: string): Item[] => item[name];
/** Values of a command's flags by their camel-cased names. */
// biome-ignore lint/suspicious/noExplicitAny: commander gives them untyped
export type Flags = Record<string, any>;

export interface OptionSpec {
  /** As commander has it: `--name <text>`. */
  flags: string;
  about: string;
  choices?: readonly string[];
  default?: string;
}

export interface Filter extends OptionSpec {
  /** The list's query parameter. */
  query: string;
}

export interface ArgumentSpec {
  /** `<agent>`, `[file]`, `<agent...>`; its name says what a shell completes. */
  name: string;
  about: string;
  choices?: readonly string[];
}

export interface Call {
  client: Client;
  /** What the verb acts on, as the list shows it; empty for a verb that acts on none. */
  item: Item;
  /** Path of the item; of the list for a verb that acts on none. */
  path: string;
  args: readonly string[];
  flags: Flags;
}

/** What a command has to say: in JSON, in words, and with an exit code when it is not 0. */
export interface Answer {
  json: unknown;
  text: string | readonly string[];
  /** What is written instead of the text where there is no terminal: a file's content, byte for byte. */
  exact?: string;
  code?: number;
}

export interface Verb {
  name: string;
  about: string;
  /** Whether it acts on one of the resource, which is its first argument. */
  on: "one" | "none";
  args?: readonly ArgumentSpec[];
  options?: readonly OptionSpec[];
  run(call: Call): Promise<Answer>;
}

export interface Resource {
  /** The command: `projects`. */
  name: string;
  /** One of them: `project`. */
  one: string;
  about: string;
  /** Path of the list; empty for one with `within`. */
  path: string;
  /** For a list that is below another object: the option that names that, and the path it leads to. */
  within?: { option: OptionSpec; pathFor(client: Client, flags: Flags): Promise<string> };
  /** What identifies one in a path. */
  idOf(item: Item): string;
  /** Other names that one may be called by. */
  namesOf?(item: Item): readonly string[];
  columns: readonly Column<Item>[];
  filters?: readonly Filter[];
  /** Printed when the list is empty: how to create the first. */
  empty: string;
  /** Path of one, if it is not the list's path and the id. */
  pathOf?(item: Item): string;
  /** What is said of a word that fits none; "There is no ONE WORD." unless given. */
  absent?(word: string): string;
  /** False where the API answers no single one: the list's item is all there is. */
  single?: boolean;
  /** Further options of the command that shows one. */
  options?: readonly OptionSpec[];
  /** One in words, or a whole answer; its fields unless said otherwise. */
  show?(item: Item, context: { client: Client; flags: Flags }): Promise<readonly string[] | Answer>;
  verbs: readonly Verb[];
}
