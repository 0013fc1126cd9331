/**
 * The API's resources as data: the path of each list, the name of an item, the columns that people see, and the verbs.
 * `command.ts` turns them into commands. No other module prints lists or looks up ids.
 */
import type { OptionValues } from "commander";
import type { AnswerOf, RowOf } from "../../api/types.ts";
import type { Client } from "../server/client.ts";
import type { Column } from "../terminal/table.ts";

/** The values of a command's flags, by their names in camel case. */
export type Flags = OptionValues;

export interface OptionSpec {
  /** The flags in commander's notation: `--name <text>`. */
  flags: string;
  about: string;
  choices?: readonly string[];
  default?: string;
}

interface Filter extends OptionSpec {
  /** The query parameter of the list. */
  query: string;
}

export interface ArgumentSpec {
  /** `<agent>`, `[file]`, `<agent...>`. The name decides what a shell completes. */
  name: string;
  about: string;
  choices?: readonly string[];
}

export interface Call<Row = unknown, Address extends string = string> {
  client: Client;
  /** The item that the verb acts on, as the list shows it; empty for a verb that acts on the list. */
  item: Row;
  /** Path of the item, or of the list for a verb that acts on the list. */
  path: Address;
  args: readonly string[];
  flags: Flags;
}

/** What a command prints: as JSON, as text, and its exit code if that is not 0. */
export interface Answer {
  json: unknown;
  text: string | readonly string[];
  /** Written instead of the text if there is no terminal: a file's content, byte for byte. */
  exact?: string | Uint8Array;
  code?: number;
}

interface Act<Called> {
  args?: readonly ArgumentSpec[];
  options?: readonly OptionSpec[];
  run(call: Called): Promise<Answer>;
}
interface VerbWords {
  name: string;
  about: string;
}
/** A verb that acts on one item, which is its first argument. */
export interface OneVerb<Row, List extends string = string> extends VerbWords, Act<Call<Row, `${List}/${string}`>> {
  on: "one";
}
export interface ListVerb<List extends string = string> extends VerbWords, Act<Call<unknown, List>> {
  on: "none";
}
export type Verb<Row, List extends string = string> = OneVerb<Row, List> | ListVerb<List>;

/** What a verb does: a function alone, or with its arguments and options. */
type Acts<Called> = Act<Called> | Act<Called>["run"];
const actOf = <Called>(act: Acts<Called>): Act<Called> => (typeof act === "function" ? { run: act } : act);

/** Functions that create the verbs of the resource whose list is at that address. */
export const verbMakers = <List extends string, Row = RowOf<List>>() => ({
  /** Creates a verb that acts on one item. */
  actOnOne: (name: string, about: string, act: Acts<Call<Row, `${List}/${string}`>>): OneVerb<Row, List> => ({
    name,
    about,
    on: "one",
    ...actOf(act),
  }),
  /** Creates a verb that acts on the list, or on nothing. */
  actOnList: (name: string, about: string, act: Acts<Call<unknown, List>>): ListVerb<List> => ({
    name,
    about,
    on: "none",
    ...actOf(act),
  }),
});

/** Any resource, for code that works with all of them. */
export type AnyResource = Resource<string, object, object>;

/**
 * The resource whose list is at that address. `Row` is an item as the list contains it; `One` is the answer of its own
 * address.
 */
export interface Resource<List extends string, Row = RowOf<List>, One = AnswerOf<"GET", `${List}/${string}`>> {
  /** The name of the command: `projects`. */
  name: string;
  /** What an item is called: `project`. */
  one: string;
  about: string;
  /** Path of the list; empty for a resource with `within`. */
  path: List | "";
  /** For a list below another object: the option that names that object, and the path that follows from it. */
  within?: { option: OptionSpec; pathFor(client: Client, flags: Flags): Promise<List> };
  /** What identifies an item in a path. */
  idOf(item: Row): string;
  /** Other names that an item can be found by. */
  namesOf?(item: Row): readonly string[];
  columns: readonly Column<Row>[];
  filters?: readonly Filter[];
  /** Printed when the list is empty: says how to create the first item. */
  empty: string;
  /** Path of an item, if it is not the list's path plus the id. */
  pathOf?(item: Row): `${List}/${string}`;
  /** The error for a word that matches no item; by default "There is no ONE WORD." */
  absent?(word: string): string;
  /** False if the API has no path for a single item, so that only the list shows it. */
  single?: boolean;
  /** Further options of the command that shows an item. */
  options?: readonly OptionSpec[];
  /** Shows an item in words, or as a complete answer; by default all of its fields. */
  show?(item: One, context: { client: Client; flags: Flags }): Promise<readonly string[] | Answer>;
  verbs: readonly Verb<Row, List>[];
}
