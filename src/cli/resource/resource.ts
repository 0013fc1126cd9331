/**
 * The API's resources as tables of data: where each list is, what one is called, which columns people see, what can be
 * done with one. `command.ts` makes commands of it; nothing else writes a list or looks for an id.
 */
import type { OptionValues } from "commander";
import type { AnswerOf, RowOf } from "../../api/types.ts";
import type { Client } from "../server/client.ts";
import type { Column } from "../terminal/table.ts";

/** Values of a command's flags by their camel-cased names. */
export type Flags = OptionValues;

export interface OptionSpec {
  /** As commander has it: `--name <text>`. */
  flags: string;
  about: string;
  choices?: readonly string[];
  default?: string;
}

interface Filter extends OptionSpec {
  /** The list's query parameter. */
  query: string;
}

export interface ArgumentSpec {
  /** `<agent>`, `[file]`, `<agent...>`; its name says what a shell completes. */
  name: string;
  about: string;
  choices?: readonly string[];
}

export interface Call<Row = unknown, Address extends string = string> {
  client: Client;
  /** What the verb acts on, as the list shows it; empty for a verb that acts on none. */
  item: Row;
  /** Path of the item; of the list for a verb that acts on none. */
  path: Address;
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

interface Act<Called> {
  args?: readonly ArgumentSpec[];
  options?: readonly OptionSpec[];
  run(call: Called): Promise<Answer>;
}
interface VerbWords {
  name: string;
  about: string;
}
/** Acts on one of the resource, which is its first argument. */
export interface OneVerb<Row, List extends string = string> extends VerbWords, Act<Call<Row, `${List}/${string}`>> {
  on: "one";
}
export interface ListVerb<List extends string = string> extends VerbWords, Act<Call<unknown, List>> {
  on: "none";
}
export type Verb<Row, List extends string = string> = OneVerb<Row, List> | ListVerb<List>;

/** What a verb does, alone or with its arguments and options. */
type Acts<Called> = Act<Called> | Act<Called>["run"];
const actOf = <Called>(act: Acts<Called>): Act<Called> => (typeof act === "function" ? { run: act } : act);

/** What makes the verbs of the resource whose list is at that address. */
export const verbMakers = <List extends string, Row = RowOf<List>>() => ({
  /** A verb that acts on one. */
  actOnOne: (name: string, about: string, act: Acts<Call<Row, `${List}/${string}`>>): OneVerb<Row, List> => ({
    name,
    about,
    on: "one",
    ...actOf(act),
  }),
  /** A verb that acts on none, or on the list. */
  actOnList: (name: string, about: string, act: Acts<Call<unknown, List>>): ListVerb<List> => ({
    name,
    about,
    on: "none",
    ...actOf(act),
  }),
});

/** Any resource: for what works with all of them. */
export type AnyResource = Resource<string, object, object>;

/** The resource whose list is at that address. `Row`: one as the list has it; `One`: as its own address answers it. */
export interface Resource<List extends string, Row = RowOf<List>, One = AnswerOf<"GET", `${List}/${string}`>> {
  /** The command: `projects`. */
  name: string;
  /** One of them: `project`. */
  one: string;
  about: string;
  /** Path of the list; empty for one with `within`. */
  path: List | "";
  /** For a list that is below another object: the option that names that, and the path it leads to. */
  within?: { option: OptionSpec; pathFor(client: Client, flags: Flags): Promise<List> };
  /** What identifies one in a path. */
  idOf(item: Row): string;
  /** Other names that one may be called by. */
  namesOf?(item: Row): readonly string[];
  columns: readonly Column<Row>[];
  filters?: readonly Filter[];
  /** Printed when the list is empty: how to create the first. */
  empty: string;
  /** Path of one, if it is not the list's path and the id. */
  pathOf?(item: Row): `${List}/${string}`;
  /** What is said of a word that fits none; "There is no ONE WORD." unless given. */
  absent?(word: string): string;
  /** False where the API answers no single one: the list's item is all there is. */
  single?: boolean;
  /** Further options of the command that shows one. */
  options?: readonly OptionSpec[];
  /** One in words, or a whole answer; its fields unless said otherwise. */
  show?(item: One, context: { client: Client; flags: Flags }): Promise<readonly string[] | Answer>;
  verbs: readonly Verb<Row, List>[];
}
