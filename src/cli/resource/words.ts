/** Words, colors and verbs that several resources share. */

import type { AnswerOf } from "../../api/types.ts";
import { badUsage, isProblem, Problem } from "../../core/errors.ts";
import { hostEntry } from "../../core/network.ts";
import type { Client } from "../server/client.ts";
import { confirm, hasPerson } from "../terminal/ask.ts";
import type { Style } from "../terminal/style.ts";
import { type Column, type Cost, shortCostText, tableLines } from "../terminal/table.ts";
import { readPages } from "./find.ts";
import {
  type Answer,
  type ArgumentSpec,
  type Call,
  type Flags,
  type ListVerb,
  type OneVerb,
  type OptionSpec,
  type Resource,
  verbMakers,
} from "./resource.ts";

const STATUS_STYLES: Readonly<Record<string, Style>> = {
  succeeded: "green",
  ready: "green",
  failed: "red",
  running: "cyan",
  working: "cyan",
  cloning: "cyan",
  waiting: "yellow",
  cancelled: "dim",
  skipped: "dim",
  pending: "dim",
};

export const statusStyle = (status: string): Style | undefined => STATUS_STYLES[status];

/** The column with the cost of runs, steps, swarms and their tasks. */
export const COST: Column<Cost> = {
  head: "COST",
  of: ({ cost_usd, calls_without_price }) => shortCostText({ cost_usd, calls_without_price }),
  right: true,
};

export const YES: OptionSpec = { flags: "--yes", about: "do not ask for confirmation" };

/** If a person is there, asks before something is deleted. @throws Problem 400 `stopped`. */
export async function assertMeant(question: string, flags: Flags): Promise<void> {
  if (flags["yes"] || flags["json"] || !hasPerson()) return;
  if (!(await confirm(question))) throw new Problem(400, "stopped", "Stopped; nothing was changed.");
}

/** The verb that excludes an item from the retention settings. */
export function keepVerb<Row extends { id: string }, List extends string>(one: string): OneVerb<Row, List> {
  return verbMakers<List, Row>().actOnOne("keep", `exempt a ${one} from deletion by age (settings retention.*)`, {
    options: [{ flags: "--off", about: "end the exemption" }],
    async run({ client, item: { id }, flags }) {
      const isKept = flags["off"] !== true;
      await client.ask(isKept ? "PUT" : "DELETE", `/v1/kept-history/${id}`);
      return { json: { id, kept: isKept }, text: isKept ? `${id} is kept` : `${id} goes by retention.*` };
    },
  });
}

/** What a deletion can be told. */
interface DeleteChoices<Row> {
  /** The option for deletions that are refused without it. */
  force?: OptionSpec;
  /** For an item that can be deleted with all that belongs to it. */
  everything?: { options: readonly OptionSpec[]; run(call: Call<Row>, what: string): Promise<Answer> };
}

/** The verb that deletes an item. @param losing describes, for the question, what is deleted. */
export function deleteVerb<Row, List extends string>(
  about: string,
  losing: (item: Row) => string,
  { force, everything }: DeleteChoices<Row> = {},
): OneVerb<Row, List> {
  return verbMakers<List, Row>().actOnOne("delete", about, {
    options: [YES, ...(force ? [force] : []), ...(everything?.options ?? [])],
    async run(call) {
      const what = losing(call.item);
      if (everything && call.flags["everything"]) return everything.run(call, what);
      await assertMeant(`Delete ${what}?`, call.flags);
      await call.client.ask("DELETE", call.flags["force"] ? `${call.path}?force=true` : call.path);
      return { json: { deleted: true, what }, text: `deleted ${what}` };
    },
  });
}

/**
 * The verb that lists, as the command without a verb does. @param resource a function, because the resource is created
 * after its verbs.
 */
export const listVerb = <Row, List extends string>(
  about: string,
  most: number,
  resource: () => Pick<Resource<List, Row, unknown>, "columns" | "empty">,
): ListVerb<List> =>
  verbMakers<List, Row>().actOnList("list", about, async ({ client, path }) => {
    const { columns, empty } = resource();
    const found = await readPages<Row>(client, path, most);
    return { json: found, text: found.items.length === 0 ? empty : tableLines(columns, found.items) };
  });

/** What the verbs that change an item need: its fields from flags, and the text about the changed item. */
interface ChangeWords<Row, One> {
  options?: readonly OptionSpec[];
  fieldsOf(call: Call<Row>): Promise<object> | object;
  linesOf(item: One): readonly string[];
}

/** The verb that changes only the given fields of an item. */
export const editVerb = <Row, List extends string, One = AnswerOf<"PUT", `${List}/${string}`>>(
  name: string,
  about: string,
  { options = [], fieldsOf, linesOf }: ChangeWords<Row, One>,
): OneVerb<Row, List> =>
  verbMakers<List, Row>().actOnOne(name, about, {
    options,
    async run(call) {
      const changed = await call.client.ask<One>("PUT", call.path, await fieldsOf(call));
      return { json: changed, text: linesOf(changed) };
    },
  });

/** The verbs that switch an item on and off. */
export const switchVerbs = <Row, List extends string, One>(
  on: string,
  off: string,
  linesOf: ChangeWords<unknown, One>["linesOf"],
): OneVerb<Row, List>[] => [
  editVerb("enable", on, { fieldsOf: () => ({ enabled: true }), linesOf }),
  editVerb("disable", off, { fieldsOf: () => ({ enabled: false }), linesOf }),
];

/** The verb that confirms what an agent wrote after it had read outside text. */
export const confirmVerb = <Row, List extends string, One>(
  about: string,
  linesOf: ChangeWords<unknown, One>["linesOf"],
): OneVerb<Row, List> => editVerb("confirm", about, { fieldsOf: () => ({ trusted: true }), linesOf });

/** The body of a change, built from flags. It contains only the given fields; an empty text clears a field. */
export function bodyOf<Field extends string>(
  flags: Flags,
  fields: Readonly<Record<string, Field>>,
): Partial<Record<Field, Flags[string]>> {
  const body: Partial<Record<Field, Flags[string]>> = {};
  for (const [flag, field] of Object.entries(fields))
    if (flags[flag] !== undefined) body[field] = flags[flag] === "" ? null : flags[flag];
  return body;
}

/** @throws Problem 404 that names the agent. Called before a command stores what it then grants to agents. */
export async function assertAgents(client: Client, ids: readonly string[]): Promise<void> {
  for (const id of ids)
    await client.call("GET", `/v1/agents/${encodeURIComponent(id)}`).catch((error) => {
      if (!isProblem(error) || error.status !== 404) throw error;
      throw new Problem(404, error.code, `There is no agent ${id}. List them with: skep agents`);
    });
}

export const ALLOWED_HOST: ArgumentSpec = {
  name: "<host>",
  about: "host or address, or host:port; an IPv6 address with a port as [address]:port (default port: 443)",
};

const HOST_AND_PORT = /^(?:\[([^\]]*)\]|([^:]*))(?::(\d+))?$/;

/**
 * Reads the host of an allow-list: a name or an address, with or without a port. An IPv6 address with a port stands in
 * brackets. `entry` is how the server lists it. @throws Problem 422.
 */
export function readAllowedHost(given: string): { host: string; port: number; entry: string } {
  if (given.includes("/"))
    throw badUsage(`${given}: give one host or address, with or without a port: example.org:443, [2001:db8::1]:443.`);
  // An address with several colons and no brackets has no port.
  const [, address, name, port = "443"] = HOST_AND_PORT.exec(given) ?? [];
  const host = address ?? name ?? given;
  try {
    return { host, port: Number(port), entry: hostEntry(host, port) };
  } catch {
    throw badUsage(`${given}: this is no host name or address. Give one such as example.org:443 or [2001:db8::1]:443.`);
  }
}

/** Splits a list in one argument: `a,b c`. */
export const listOf = (text: string): string[] => text.split(/[,\s]+/).filter(Boolean);
