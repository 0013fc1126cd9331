/** Words and colours that several resources share. */
import { Problem } from "../../core/errors.ts";
import { confirm, hasPerson } from "../terminal/ask.ts";
import type { Style } from "../terminal/style.ts";
import { type Column, shortCostText } from "../terminal/table.ts";
import type { Call, Flags, Item, OptionSpec, Verb } from "./resource.ts";

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

/** What runs, steps, swarms and their tasks have cost. */
export const COST: Column<Item> = {
  head: "COST",
  of: ({ cost_usd, calls_without_price }) => shortCostText({ cost_usd, calls_without_price }),
  right: true,
};

export const YES: OptionSpec = { flags: "--yes", about: "do not ask" };

/** Asks before something is lost, where there is a person. @throws Problem 400 `stopped`. */
export async function assertMeant(question: string, flags: Flags): Promise<void> {
  if (flags["yes"] || flags["json"] || !hasPerson()) return;
  if (!(await confirm(question))) throw new Problem(400, "stopped", "Stopped; nothing was changed.");
}

/** The verb that deletes one. @param losing what is deleted, in the question. @param force for what is refused without it. */
export function deleteVerb(about: string, losing: (call: Call) => string, force?: OptionSpec): Verb {
  return {
    name: "delete",
    about,
    on: "one",
    options: force ? [YES, force] : [YES],
    async run(call) {
      const what = losing(call);
      await assertMeant(`Delete ${what}?`, call.flags);
      await call.client.call("DELETE", call.flags["force"] ? `${call.path}?force=true` : call.path);
      return { json: { deleted: true, what }, text: `deleted ${what}` };
    },
  };
}

/** What the verbs that change one need: its fields from flags, and the text about the changed one. */
export interface ChangeWords {
  fieldsOf(call: Call): Promise<Record<string, unknown>> | Record<string, unknown>;
  linesOf(item: Item): readonly string[];
}

/** The verb that changes what is given of one and leaves the rest. */
export function editVerb(name: string, about: string, options: readonly OptionSpec[], words: ChangeWords): Verb {
  return {
    ...{ name, about, on: "one", options },
    async run(call) {
      const changed = await call.client.call<Item>("PUT", call.path, await words.fieldsOf(call));
      return { json: changed, text: words.linesOf(changed) };
    },
  };
}

/** The verb that switches one on or off. */
export const switchVerb = (name: string, about: string, enabled: boolean, linesOf: ChangeWords["linesOf"]): Verb =>
  editVerb(name, about, [], { fieldsOf: () => ({ enabled }), linesOf });

/** The verb that confirms what an agent wrote after it had read outside text. */
export const confirmVerb = (about: string, linesOf: ChangeWords["linesOf"]): Verb =>
  editVerb("confirm", about, [], { fieldsOf: () => ({ trusted: true }), linesOf });

/** The body of a change from flags: only what was given; an empty text clears. */
export function bodyOf(flags: Flags, fields: Readonly<Record<string, string>>): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(fields).flatMap(([flag, field]) =>
      flags[flag] === undefined ? [] : [[field, flags[flag] === "" ? null : flags[flag]]],
    ),
  );
}

/** A list in one argument: `a,b c`. */
export const listOf = (text: string): string[] => text.split(/[,\s]+/).filter(Boolean);
