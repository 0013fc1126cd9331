import { Type as t } from "@sinclair/typebox";
import { invalidField } from "../../core/errors.ts";
import { isOneOf } from "../../core/typed-keys.ts";
import { defineOperation, tagOperations } from "../../http/operation.ts";
import { queryInteger } from "../../http/schema.ts";
import { type Found, FoundKind, FoundList } from "./model.ts";
import type { createSearch } from "./service.ts";

const PER_KIND = 10;
const MOST = 50;
const KINDS = FoundKind.anyOf.map(({ const: kind }) => kind);

/** @throws Problem 422 for a word that is not a kind. */
function kindsOf(text: string | undefined): ReadonlySet<Found["kind"]> | undefined {
  if (text === undefined || text.trim() === "") return undefined;
  const words = text.split(",").map((word) => word.trim());
  if (!words.every((word) => isOneOf(KINDS, word))) throw invalidField("kinds", `Some of ${KINDS.join(", ")}`);
  return new Set(words);
}

export function searchRoutes({ search }: ReturnType<typeof createSearch>) {
  return tagOperations("search", [
    defineOperation("search", "GET /v1/search", {
      access: "user",
      query: t.Object({
        q: t.String({ minLength: 1, maxLength: 200, description: "Words that must all occur." }),
        kinds: t.Optional(
          t.String({
            maxLength: 200,
            description: `Kinds to search, separated by commas: ${KINDS.join(", ")}. Symbols take longest if a project's code graph is not open yet.`,
          }),
        ),
        limit: t.Optional(
          queryInteger({
            minimum: 1,
            description: `Most items of each kind; default ${PER_KIND}, at most ${MOST}. Higher numbers count as ${MOST}.`,
          }),
        ),
      }),
      answer: FoundList,
      summary:
        "Search runs, tasks, agents, pipelines, skills, projects, your chats, memory, documents and code symbols by words",
      handler: async ({ query, caller }) => ({
        items: await search(query.q, Math.min(query.limit ?? PER_KIND, MOST), kindsOf(query.kinds), caller),
      }),
    }),
  ]);
}
