/**
 * Tools with which agents remember. Entries that they write during a user's work belong to that user and are recalled
 * for that user alone.
 */
import { type Static, Type as t } from "@sinclair/typebox";
import { conflict, notFound } from "../../core/errors.ts";
import { OUTSIDE_SOURCES } from "../../core/outside-table.ts";
import type { ExecutionInfo, Tool, ToolContext, ToolResult, ToolSource } from "../../engine/tool.ts";
import { toolMaker, toolsOf } from "../../engine/tool.ts";
import type { Entries, Writer } from "./entries.ts";
import type { EntryRow } from "./entry-index.ts";
import { EntryType, type Origin, SHARED } from "./model.ts";
import { type Recall, readerFor } from "./recall.ts";
import type { Scores } from "./scores.ts";
import type { Search } from "./search.ts";

interface MemoryToolsDeps {
  entries: Entries;
  recalls: Recall;
  search: Search;
  scores: Scores;
  /** Whether the user is an administrator, whose agents' shared entries apply to everybody at once. */
  isAdmin(userId: string): boolean;
}

const RESULTS = 5;
/** Jaccard index of two entries' words from which they count as the same thing said twice. */
const SAME = 0.6;
const Entry = t.String({ minLength: 1, maxLength: 200, description: "Path of an entry, e.g. fact/deploy-day." });
const Written = t.Object({
  title: t.String({ minLength: 1, maxLength: 200, pattern: "^[^\\S\\r\\n]*\\S[^\\r\\n]*$" }),
  content: t.String({ minLength: 1, maxLength: 20_000, pattern: "\\S", description: "Markdown; [[entry]] links." }),
  type: t.Optional(EntryType),
  tags: t.Optional(t.Array(t.String({ minLength: 1, maxLength: 50, pattern: "^[^\\s,]+$" }), { maxItems: 20 })),
});
type Written = Static<typeof Written>;

const succeed = (output: string): ToolResult => ({ ok: true, output });
const tool = toolMaker({ group: "memory", timeoutMs: 10_000 });
const writerOf = ({ id, sessionId, userId }: ExecutionInfo): Writer => ({ executionId: id, sessionId, userId });
const originOf = ({ id, agentId, kind }: ExecutionInfo, outside: string | undefined): Origin => ({
  by: kind === "ingest" ? "document" : "agent",
  execution: id,
  author: agentId,
  ...(outside === undefined ? {} : { outside }),
});
const notConfirmed = (outside: string): string =>
  `It is kept, but not put into prompts until a person confirms it, as this work may repeat outside text. ${outside}`;

const wordsOf = (text: string): Set<string> => new Set(text.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? []);
/** Jaccard index: the share of the words of either set that are in both. */
function measureLikeness(a: Set<string>, b: Set<string>): number {
  const common = [...a].filter((word) => b.has(word)).length;
  return common / Math.max(1, a.size + b.size - common);
}

export function memoryTools(deps: MemoryToolsDeps): ToolSource {
  return toolsOf("memory", [
    onDisk(deps, remember(deps)),
    recall(deps),
    rate(deps),
    onDisk(deps, link(deps)),
    onDisk(deps, share(deps)),
  ]);
}

/** Wraps a tool so that it answers only once its entries are on the disk. */
const onDisk = <Input>({ entries }: MemoryToolsDeps, one: Tool<Input>): Tool<Input> => ({
  ...one,
  async run(input, context) {
    const result = await one.run(input, context);
    await entries.written();
    return result;
  },
});

/** Finds an entry of the agent's own vault that says nearly the same. */
async function nearOf({ search, entries }: MemoryToolsDeps, { title, content }: Written, execution: ExecutionInfo) {
  const words = wordsOf(`${title} ${content}`);
  const reader = readerFor(execution);
  const query = `${title} ${content}`.slice(0, 1_000);
  const hits = await search.find({ query, vaults: [execution.agentId], limit: 5, reader });
  return hits
    .map(({ entry }) => entries.find(execution.agentId, entry, reader))
    .find((row) => measureLikeness(words, wordsOf(`${row.title} ${row.content}`)) >= SAME);
}

/** Work that has read outside text may not change a trusted entry. */
function assertTouchable(row: EntryRow, outside: string | undefined): void {
  if (outside !== undefined && row.trusted)
    throw conflict(`Outside text was read in this work, so it cannot change ${row.entry}. Write a new entry instead.`);
}

const remember = (deps: MemoryToolsDeps) =>
  tool({
    name: "remember",
    description:
      "Writes down what will help in later work: a fact, decision, lesson, preference or commitment, one thing per entry, in words that stand alone. Never secrets. When there is an entry that says nearly the same you are shown it: call again with `update` to replace its text, `supersedes` when the old one is no longer true, or `new: true`.",
    parameters: t.Object({
      ...Written.properties,
      update: t.Optional(Entry),
      supersedes: t.Optional(Entry),
      new: t.Optional(t.Boolean()),
      expires_at: t.Optional(t.String({ format: "date-time", description: "When it stops being true." })),
    }),
    async run({ update, supersedes, new: isNew, ...given }, context) {
      const { entries } = deps;
      const { execution, masker } = context;
      const outside = context.outside();
      const input = masker.json(given);
      const { agentId } = execution;
      for (const named of [update, supersedes])
        if (named !== undefined) assertTouchable(entries.findForChange(agentId, named, readerFor(execution)), outside);
      if (update !== undefined) {
        const row = entries.findForChange(agentId, update, readerFor(execution));
        const { type: _, ...fields } = input;
        const distrust = outside === undefined ? {} : { trusted: false, origin: { ...row.origin, outside } };
        entries.change(row, { ...fields, ...distrust }, writerOf(execution));
        return succeed(`Changed ${row.entry}.`);
      }
      const near = isNew || supersedes !== undefined ? undefined : await nearOf(deps, input, execution);
      if (near)
        return {
          ok: false,
          ...(near.trusted ? {} : { outside: OUTSIDE_SOURCES.memory }),
          output: `Nothing was written: ${near.entry} says nearly the same.\n\n${near.title}\n${near.content.slice(0, 2_000)}\n\nCall again with update: "${near.entry}", supersedes: "${near.entry}" or new: true.`,
        };
      const fresh = { ...input, ...(supersedes === undefined ? {} : { supersedes }) };
      const origin = originOf(execution, outside);
      const trusted = outside === undefined;
      const row = entries.add(
        agentId,
        { ...fresh, owner: execution.userId ?? null, trusted, origin },
        writerOf(execution),
      );
      return succeed(`Written as ${row.entry}.${trusted ? "" : ` ${notConfirmed(outside)}`}`);
    },
  });

const recall = ({ search, recalls }: MemoryToolsDeps) =>
  tool({
    name: "recall",
    description:
      "Searches your memory and what all agents share: words, names, dates. Entries marked as not confirmed may come from outside text: check them before you rely on them.",
    parameters: t.Object({
      query: t.String({ minLength: 1, maxLength: 1_000 }),
      limit: t.Optional(t.Integer({ minimum: 1, maximum: 20, description: `Default ${RESULTS}.` })),
    }),
    async run({ query, limit = RESULTS }, { execution }: ToolContext) {
      const vaults = [execution.agentId, SHARED];
      const hits = await search.find({ query, vaults, limit, reader: readerFor(execution) });
      if (hits.length === 0) return succeed("Nothing is remembered about that.");
      recalls.record(
        execution,
        hits.map(({ agent_id, entry, trusted }) => ({ vault: agent_id, entry, trusted })),
      );
      const isOutside = hits.some(({ trusted }) => !trusted);
      return {
        ok: true,
        ...(isOutside ? { outside: OUTSIDE_SOURCES.memory } : {}),
        output: hits
          .map(({ agent_id, entry, title, snippet, trusted }) => {
            const marks = `${agent_id === SHARED ? " (shared)" : ""}${trusted ? "" : " (not confirmed)"}`;
            return `[[${entry}]]${marks} ${title}\n${snippet}`;
          })
          .join("\n\n---\n\n"),
      };
    },
  });

const rate = ({ entries, recalls, scores }: MemoryToolsDeps) =>
  tool({
    name: "rate_memories",
    description: "Says which of the entries that you were given or recalled helped and which misled you.",
    parameters: t.Object({
      ratings: t.Array(t.Object({ entry: Entry, useful: t.Boolean() }), { minItems: 1, maxItems: 50 }),
    }),
    async run({ ratings }, { execution }) {
      const recalled = ratings.map(({ entry, useful }) => {
        const vault = [execution.agentId, SHARED].find((one) => recalls.was(execution, { vault: one, entry }));
        if (vault === undefined) throw notFound("entry among those recalled in this work");
        return { row: entries.find(vault, entry, readerFor(execution)), useful };
      });
      for (const { row, useful } of recalled) scores.rate(row, useful);
      return succeed(`Rated ${ratings.length}.`);
    },
  });

const link = ({ entries }: MemoryToolsDeps) =>
  tool({
    name: "link_memory",
    description: "Links one entry of your memory to another that belongs with it.",
    parameters: t.Object({ from: Entry, to: Entry }),
    async run({ from, to }, { execution, outside }) {
      const reader = readerFor(execution);
      const row = entries.findForChange(execution.agentId, from, reader);
      const target = entries.find(execution.agentId, to, reader);
      assertTouchable(row, outside());
      entries.change(row, { links: [...new Set([...row.links, target.entry])] }, writerOf(execution));
      return succeed(`${row.entry} links to ${target.entry}.`);
    },
  });

const share = ({ entries, isAdmin }: MemoryToolsDeps) =>
  tool({
    name: "share_knowledge",
    description:
      "Writes an entry that every agent reads, for every person: only what is true and fit for all, nothing private of the person you work for.",
    parameters: Written,
    async run(given, { execution, masker, outside: reasonOf }) {
      const { userId } = execution;
      const outside = reasonOf();
      const trusted = outside === undefined && (userId === undefined || isAdmin(userId));
      const entry = { ...masker.json(given), owner: null, trusted, origin: originOf(execution, outside) };
      const row = entries.add(SHARED, entry, writerOf(execution));
      return succeed(
        `Shared as ${row.entry}.${trusted ? "" : " An administrator confirms it before it is put into prompts."}`,
      );
    },
  });
