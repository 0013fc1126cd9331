/** /v1/history: deletes runs, chats, projects and users with everything that belongs to them. */
import { Type as t } from "@sinclair/typebox";
import { listOf, PageQuery, pageOf } from "../../http/list.ts";
import { type Operation, operation, operations } from "../../http/operation.ts";
import { queryInteger } from "../../http/schema.ts";

import { Job } from "../jobs/model.ts";
import { type HistoryKind, HistoryPreview, Kept, RetentionPreview } from "./model.ts";
import type { RetentionService } from "./retention.ts";
import type { History } from "./service.ts";

const Path = t.Object({ id: t.String({ maxLength: 64 }) });

const WHAT = {
  runs: "a run",
  sessions: "a chat, or the work of a routine, a swarm or an onboarding,",
  projects: "a project",
  users: "a user, or your own account,",
} as const;

export function historyRoutes(history: History, retention: RetentionService) {
  const deletionOf = <Kind extends HistoryKind>(kind: Kind, name: string, who: Pick<Operation, "access" | "scope">) => [
    operation(`preview${name}Deletion`, `GET /v1/history/${kind}/:id`, {
      access: who.access,
      params: Path,
      answer: HistoryPreview,
      summary: `What goes, and what stays, when ${WHAT[kind]} is deleted with everything`,
      handler: ({ params, caller }) => history.preview(kind, params.id, caller),
    }),
    operation(`delete${name}History`, `DELETE /v1/history/${kind}/:id`, {
      ...who,
      project: "viewer",
      params: Path,
      answer: { 202: Job },
      summary: `Delete ${WHAT[kind]} with everything, in the background`,
      description:
        "Rows, files, containers, branches, events and texts in search go, also from the bytes of the database. It can be cancelled until it begins. Money and counts stay. 409 `history_active` while work of it is under way.",
      handler: ({ params, caller, answer }) =>
        answer.accepted("/v1/jobs/:id", () => history.remove(kind, params.id, caller)),
    }),
  ];
  return operations("history", [
    ...deletionOf("runs", "Run", { access: "user", scope: "runs" }),
    ...deletionOf("sessions", "Session", { access: "user", scope: "runs" }),
    ...deletionOf("projects", "Project", { access: "admin", scope: "admin" }),
    ...deletionOf("users", "User", { access: "user", scope: "accounts" }),
    operation("listKept", "GET /v1/kept-history", {
      access: "user",
      query: t.Object({
        ...PageQuery,
        id: t.Optional(
          t.String({ maxLength: 64, description: "Only this run or chat: nothing where it is not kept." }),
        ),
      }),
      answer: listOf(Kept),
      summary: "Runs and chats that the settings for retention leave alone",
      handler: ({ query, caller }) => history.kept(pageOf(query), caller, query.id),
    }),
    operation("keepHistory", "PUT /v1/kept-history/:id", {
      access: "user",
      project: "viewer",
      answer: Kept,
      summary: "Keep a run or chat, whatever the settings for retention say",
      handler: ({ params, caller }) => history.keep(params.id, caller),
    }),
    operation("releaseHistory", "DELETE /v1/kept-history/:id", {
      access: "user",
      project: "viewer",
      answer: 204,
      summary: "Let a run or chat go by the settings for retention again",
      handler: ({ params, caller }) => history.release(params.id, caller),
    }),
    operation("previewRetention", "GET /v1/admin/retention", {
      access: "admin",
      query: t.Object({
        runs_days: t.Optional(queryInteger({ minimum: 1, maximum: 36_500 })),
        chats_days: t.Optional(queryInteger({ minimum: 1, maximum: 36_500 })),
        transcripts_days: t.Optional(queryInteger({ minimum: 1, maximum: 36_500 })),
      }),
      answer: RetentionPreview,
      summary: "What the settings for retention would remove now, or other numbers of days would",
      handler: ({ query }) => retention.preview(query),
    }),
  ]);
}
