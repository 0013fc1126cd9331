import { Type as t } from "@sinclair/typebox";
import { Elysia } from "elysia";
import type { Base } from "../../http/base.ts";
import { queryInteger } from "../../http/list.ts";
import { FoundList } from "./model.ts";
import type { createSearch } from "./service.ts";

const PER_KIND = 10;
const MOST = 50;

export function searchRoutes(base: Base, { search }: ReturnType<typeof createSearch>) {
  return new Elysia({ name: "skep/search" })
    .use(base)
    .get(
      "/v1/search",
      ({ query, caller }) => ({ items: search(query.q, Math.min(query.limit ?? PER_KIND, MOST), caller) }),
      {
        access: "user",
        query: t.Object({
          q: t.String({ minLength: 1, maxLength: 200, description: "Words; all of them must be there." }),
          limit: t.Optional(
            queryInteger({
              minimum: 1,
              description: `Of each kind; default ${PER_KIND}, more than ${MOST} counts as ${MOST}.`,
            }),
          ),
        }),
        response: { 200: FoundList },
        detail: {
          tags: ["search"],
          operationId: "search",
          summary: "Search runs, tasks, agents, pipelines, skills, projects, your talks and memory by words",
        },
      },
    );
}
