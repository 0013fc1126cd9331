/** Entries of agents' memory as the API shows them. */
import { type Static, Type as t } from "@sinclair/typebox";
import { membersOf } from "../../core/is-object.ts";
import { oneOf, orNull, Time } from "../../core/schema.ts";
import { queryLimit } from "../../http/list.ts";

export const ENTRY_TYPES = [
  "fact",
  "decision",
  "lesson",
  "preference",
  "commitment",
  "relationship",
  "project",
  "note",
] as const;
export const EntryType = oneOf(...ENTRY_TYPES);
export type EntryType = Static<typeof EntryType>;

/** The vault that every agent reads. */
export const SHARED = "shared";

const strict = { additionalProperties: false } as const;

export const Origin = t.Object({
  by: oneOf("person", "agent", "tool", "document"),
  execution: t.Optional(t.String({ description: "Execution that wrote the text." })),
  author: t.Optional(t.String({ description: "Agent or person that wrote the text." })),
  outside: t.Optional(
    t.String({
      description: "Why the text may repeat outside text and therefore needs a person's confirmation.",
    }),
  ),
});
export type Origin = Static<typeof Origin>;

/** The origin as front matter has it. An origin that is missing or broken counts as a person's. */
export function originOf(value: unknown): Origin {
  const origin = membersOf(value);
  const by = (["person", "agent", "tool", "document"] as const).find((one) => one === origin["by"]) ?? "person";
  const { execution, author, outside } = origin;
  return {
    by,
    ...(typeof execution === "string" ? { execution } : {}),
    ...(typeof author === "string" ? { author } : {}),
    ...(typeof outside === "string" ? { outside: outside.slice(0, 300) } : {}),
  };
}

export const MemoryEntry = t.Object(
  {
    agent_id: t.String({
      description: "Agent whose vault holds the entry; `shared` is the vault that every agent reads.",
    }),
    id: t.String({ description: "Path of the entry in the vault, without `.md`." }),
    title: t.String(),
    type: EntryType,
    content: t.String({ description: "Markdown text; `[[entry]]` links to another entry." }),
    tags: t.Array(t.String()),
    links: t.Array(t.String()),
    origin: Origin,
    owner_id: orNull(
      t.String({ description: "The only user for whom the entry is recalled; null if it is recalled for everybody." }),
    ),
    trusted: t.Boolean({
      description:
        "False if the entry was written after outside text was read. Such an entry stays out of prompts until somebody confirms it.",
    }),
    pinned: t.Boolean({ description: "Whether the entry is always in the agent's prompt, as far as there is room." }),
    expires_at: orNull(Time),
    superseded_by: orNull(t.String()),
    problem: orNull(t.String({ description: "What is wrong with the file; an entry with a problem is not recalled." })),
    score: t.Number({ description: "Value of the entry, from 0 to 1." }),
    created_at: Time,
    updated_at: Time,
  },
  { title: "MemoryEntry" },
);
export type MemoryEntry = Static<typeof MemoryEntry>;

export const Vault = t.Object(
  {
    agent_id: t.String(),
    entries: t.Integer(),
    unconfirmed: t.Integer({
      description: "Number of entries that nobody has confirmed, so that they stay out of prompts.",
    }),
    size_bytes: t.Integer(),
    updated_at: orNull(Time),
  },
  { title: "MemoryVault" },
);
export type Vault = Static<typeof Vault>;

export const EntryName = t.String({ minLength: 1, maxLength: 200 });
const Title = t.String({ minLength: 1, maxLength: 200, pattern: "^[^\\S\\r\\n]*[^\\s\\u0000][^\\r\\n\\u0000]*$" });
const Content = t.String({ minLength: 1, maxLength: 20_000, pattern: "\\S" });
const Tags = t.Array(t.String({ minLength: 1, maxLength: 50, pattern: "^[^\\s,]+$" }), { maxItems: 20 });
const Links = t.Array(EntryName, { maxItems: 50 });

export const EntryCreate = t.Object(
  {
    title: Title,
    content: Content,
    type: t.Optional(EntryType),
    tags: t.Optional(Tags),
    links: t.Optional(Links),
    pinned: t.Optional(t.Boolean()),
    expires_at: t.Optional(orNull(Time)),
    supersedes: t.Optional(EntryName),
    private: t.Optional(
      t.Boolean({
        description:
          "Whether the entry is recalled only for you. Only an administrator may write entries for everybody.",
      }),
    ),
  },
  strict,
);
export type EntryCreate = Static<typeof EntryCreate>;

export const EntryUpdate = t.Object(
  {
    title: t.Optional(Title),
    content: t.Optional(Content),
    tags: t.Optional(Tags),
    links: t.Optional(Links),
    pinned: t.Optional(t.Boolean()),
    expires_at: t.Optional(orNull(Time)),
    superseded_by: t.Optional(orNull(EntryName)),
    trusted: t.Optional(t.Boolean({ description: "True confirms the entry." })),
  },
  strict,
);
export type EntryUpdate = Static<typeof EntryUpdate>;

export const SearchQuery = t.Object({
  agent_id: t.Optional(t.String({ maxLength: 64, description: "Search only the vault of this agent." })),
  query: t.String({ minLength: 1, maxLength: 1_000 }),
  limit: t.Optional(queryLimit(10)),
});

export const MemoryHit = t.Object(
  {
    agent_id: t.String(),
    entry: t.String(),
    title: t.String(),
    type: EntryType,
    snippet: t.String({ description: "The paragraph that fits best, with its neighbors." }),
    trusted: t.Boolean(),
    score: t.Number({ description: "Score of the match; higher fits better. Only comparable within one answer." }),
    parts: t.Object({
      text: t.Number({ description: "Score of the match by words, or by words and meaning together." }),
      vector: orNull(
        t.Number({ description: "Similarity in meaning, at most 1; null if the entry was not found by meaning." }),
      ),
      usefulness: t.Number(),
      recency: t.Number(),
      frequency: t.Number(),
    }),
  },
  { title: "MemoryHit" },
);
export type MemoryHit = Static<typeof MemoryHit>;

export const MemoryScore = t.Object(
  {
    entry: t.String(),
    accesses: t.Integer(),
    useful: t.Integer(),
    not_useful: t.Integer(),
    usefulness: t.Number(),
    recency: t.Number(),
    frequency: t.Number(),
    score: t.Number(),
    pinned: t.Boolean(),
    last_accessed_at: orNull(Time),
  },
  { title: "MemoryScore" },
);
export type MemoryScore = Static<typeof MemoryScore>;

export const ScoreUpdate = t.Object(
  {
    useful: t.Optional(t.Boolean({ description: "Whether the entry was useful; each rating counts once more." })),
    pinned: t.Optional(t.Boolean()),
    score: t.Optional(
      orNull(
        t.Number({ minimum: 0, maximum: 1, description: "Score to set; null lets Skep compute the score again." }),
      ),
    ),
  },
  { ...strict, minProperties: 1 },
);
export type ScoreUpdate = Static<typeof ScoreUpdate>;

const Weight = () => t.Number({ minimum: 0, maximum: 1 });
const scoreFields = {
  usefulness_weight: Weight(),
  recency_weight: Weight(),
  frequency_weight: Weight(),
  half_life_days: t.Number({
    minimum: 1,
    maximum: 36_500,
    description: "Days after which an entry's recency has halved.",
  }),
  recency_floor: t.Number({ minimum: 0, maximum: 1, description: "Lowest value of an entry's recency." }),
  frequency_cap: t.Integer({
    minimum: 1,
    maximum: 100_000,
    description: "Number of accesses from which an entry counts as most frequent.",
  }),
  recall_tokens: t.Integer({
    minimum: 0,
    maximum: 20_000,
    description: "Most tokens of a prompt that memory may take.",
  }),
  consolidate_daily: t.Boolean({
    description:
      "Whether vaults that changed are tidied every day: entries that say the same are merged, and contradictions are listed.",
  }),
};
export const ScoreSettings = t.Object(scoreFields, { ...strict, title: "MemoryScoreSettings" });
export type ScoreSettings = Static<typeof ScoreSettings>;
export const ScoreSettingsUpdate = t.Partial(t.Object(scoreFields, strict));

export const DEFAULT_SCORE_SETTINGS: ScoreSettings = {
  usefulness_weight: 0.5,
  recency_weight: 0.3,
  frequency_weight: 0.2,
  half_life_days: 30,
  recency_floor: 0.1,
  frequency_cap: 50,
  recall_tokens: 1_500,
  consolidate_daily: true,
};

export const MemoryGraph = t.Object(
  {
    agent_id: t.String(),
    nodes: t.Array(
      t.Object({ entry: t.String(), title: t.String(), type: EntryType, trusted: t.Boolean(), pinned: t.Boolean() }),
    ),
    links: t.Array(
      t.Object({
        from: t.String(),
        to: t.String(),
        kind: oneOf("link", "superseded_by"),
        broken: t.Boolean({ description: "Whether the entry that the link names is missing." }),
      }),
    ),
    truncated: t.Boolean({ description: "Whether there are more entries than the 5,000 shown." }),
  },
  { title: "MemoryGraph" },
);
export type MemoryGraph = Static<typeof MemoryGraph>;

export const ExecutionMemory = t.Object(
  {
    execution_id: t.String(),
    recalled: t.Array(t.Object({ agent_id: t.String(), entry: t.String(), trusted: t.Boolean() })),
    written: t.Array(t.Object({ agent_id: t.String(), entry: t.String() })),
  },
  { title: "ExecutionMemory" },
);
export type ExecutionMemory = Static<typeof ExecutionMemory>;

export const MemoryRecall = t.Object(
  {
    execution_id: t.String(),
    session_id: t.String(),
    agent_id: t.String({ description: "The agent that was given the entry." }),
    kind: t.String({ description: "Kind of the session, such as `pipeline` or `chat`." }),
    title: orNull(t.String({ description: "Title of the work; for a run, the first line of its task." })),
    run_id: orNull(t.String()),
    at: Time,
  },
  { title: "MemoryRecall" },
);
export type MemoryRecall = Static<typeof MemoryRecall>;

export const TakenBack = t.Object(
  {
    execution_id: t.String(),
    taken_back: t.Array(t.Object({ agent_id: t.String(), entry: t.String() })),
    left: t.Array(t.Object({ agent_id: t.String(), entry: t.String(), reason: t.String() }), {
      description: "Entries that somebody else has changed since, which were left as they are.",
    }),
  },
  { title: "TakenBackMemory" },
);
export type TakenBack = Static<typeof TakenBack>;

const ContradictionSide = t.Object({
  entry: t.String(),
  title: t.String(),
  type: EntryType,
  content: t.String(),
  trusted: t.Boolean(),
  says: t.Array(t.String(), {
    description: "Words that occur in this entry but not in the other one, without their endings.",
  }),
  updated_at: Time,
});
export const Contradiction = t.Object(
  { id: t.String(), agent_id: t.String(), a: ContradictionSide, b: ContradictionSide, found_at: Time },
  { title: "MemoryContradiction" },
);
export type Contradiction = Static<typeof Contradiction>;

export const ContradictionVerdict = t.Object(
  {
    keep: orNull(
      t.String({ minLength: 1, maxLength: 200, description: "The entry that holds; null if both are true." }),
    ),
  },
  strict,
);
export type ContradictionVerdict = Static<typeof ContradictionVerdict>;
