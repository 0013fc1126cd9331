/** /v1/history: deletes runs, chats, projects and users with everything that belongs to them. */
import { Type as t } from "@sinclair/typebox";
import { listOf, PageQuery, pageOf } from "../../http/list.ts";
import { defineOperation, type Operation, tagOperations } from "../../http/operation.ts";
import { queryInteger } from "../../http/schema.ts";

import { Job } from "../jobs/model.ts";
import { type HistoryKind, HistoryPreview, Kept, RetentionPreview } from "./model.ts";
import type { RetentionService } from "./retention.ts";
import type { History } from "./service.ts";

const Path = t.Object({ id: t.String({ maxLength: 64 }) });

const WHAT = {
  runs: "a run",
  sessions: "a chat or the work of a routine, a swarm or an onboarding",
  projects: "a project",
  users: "a user or your own account",
} as const;

export function historyRoutes(history: History, retention: RetentionService) {
  const deletionOf = <Kind extends HistoryKind>(kind: Kind, name: string, who: Pick<Operation, "access" | "scope">) => [
    defineOperation(`preview${name}Deletion`, `GET /v1/history/${kind}/:id`, {
      access: who.access,
      params: Path,
      answer: HistoryPreview,
      summary: `Preview the deletion of ${WHAT[kind]}: what is removed and what stays`,
      handler: ({ params, caller }) => history.preview(kind, params.id, caller),
    }),
    defineOperation(`delete${name}History`, `DELETE /v1/history/${kind}/:id`, {
      ...who,
      project: "viewer",
      params: Path,
      answer: { 202: Job },
      summary: `Delete ${WHAT[kind]} with everything that belongs to it, in the background`,
      description:
        "Removes rows, files, containers, branches, events and search texts, also from the bytes of the database. Costs and counts stay. The job can be cancelled until it begins. While work is under way, the answer is 409 `history_active`.",
      handler: ({ params, caller, answer }) =>
        answer.accepted("/v1/jobs/:id", () => history.remove(kind, params.id, caller)),
    }),
  ];
  return tagOperations("history", [
    ...deletionOf("runs", "Run", { access: "user", scope: "runs" }),
    ...deletionOf("sessions", "Session", { access: "user", scope: "runs" }),
    ...deletionOf("projects", "Project", { access: "admin", scope: "admin" }),
    ...deletionOf("users", "User", { access: "user", scope: "accounts" }),
    defineOperation("listKept", "GET /v1/kept-history", {
      access: "user",
      query: t.Object({
        ...PageQuery,
        id: t.Optional(
          t.String({ maxLength: 64, description: "Run or chat to look for. The list is empty if it is not kept." }),
        ),
      }),
      answer: listOf(Kept),
      summary: "List the runs and chats that are kept regardless of the retention settings",
      handler: ({ query, caller }) => history.listKept(pageOf(query), caller, query.id),
    }),
    defineOperation("keepHistory", "PUT /v1/kept-history/:id", {
      access: "user",
      project: "viewer",
      answer: Kept,
      summary: "Keep a run or chat regardless of the retention settings",
      handler: ({ params, caller }) => history.keep(params.id, caller),
    }),
    defineOperation("releaseHistory", "DELETE /v1/kept-history/:id", {
      access: "user",
      project: "viewer",
      answer: 204,
      summary: "Make a run or chat subject to the retention settings again",
      handler: ({ params, caller }) => history.release(params.id, caller),
    }),
    defineOperation("previewRetention", "GET /v1/admin/retention", {
      access: "admin",
      query: t.Object({
        runs_days: t.Optional(queryInteger({ minimum: 1, maximum: 36_500 })),
        chats_days: t.Optional(queryInteger({ minimum: 1, maximum: 36_500 })),
        transcripts_days: t.Optional(queryInteger({ minimum: 1, maximum: 36_500 })),
      }),
      answer: RetentionPreview,
      summary: "Preview what the retention settings, or other numbers of days, would remove now",
      handler: ({ query }) => retention.preview(query),
    }),
  ]);
}
