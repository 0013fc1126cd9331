/** GET /v1/admin/audit: who did what, newest first. */

import { Type as t } from "@sinclair/typebox";
import { toTimestamp } from "../../core/clock.ts";
import { invalidField } from "../../core/errors.ts";
import { orNull, Time } from "../../core/schema.ts";
import { listById, listOf, PageQuery, pageOf } from "../../http/list.ts";
import { defineOperation, tagOperations } from "../../http/operation.ts";
import { idsSince } from "../../store/id-range.ts";
import { namesOf } from "../../store/names-of.ts";
import type { Condition } from "../../store/reader.ts";
import type { Store } from "../../store/store.ts";
import { audit } from "../../store/tables/foundation.ts";

const AuditRow = t.Object({
  id: t.String(),
  at: Time,
  action: t.String(),
  actor: t.String(),
  actor_name: orNull(t.String(), { description: "Current name of the actor; `null` if the actor has no name." }),
  subject: orNull(t.String()),
  subject_name: orNull(t.String(), {
    description: "Current name of the subject; `null` if there is no subject or it has no name.",
  }),
  address: orNull(t.String()),
  data: t.Record(t.String(), t.Unknown()),
});
const Filter = t.Object({
  ...PageQuery,
  action: t.Optional(
    t.String({
      maxLength: 100,
      description: "Exact action, or a group of actions: `login` also matches every `login.…`.",
    }),
  ),
  actor: t.Optional(t.String({ maxLength: 200 })),
  since: t.Optional(
    t.String({
      maxLength: 40,
      description: "Time of the oldest entry to return, in RFC 3339 or as epoch milliseconds.",
    }),
  ),
});

export function auditRoutes({ rows: rowsOf, statement }: Store) {
  const entries = rowsOf(audit);
  return tagOperations("admin", [
    defineOperation("listAudit", "GET /v1/admin/audit", {
      access: "admin",
      query: Filter,
      answer: listOf(AuditRow),
      summary: "List security events, newest first",
      handler: ({ query }) => {
        const { action, actor } = query;
        const from = query.since === undefined ? undefined : momentOf(query.since);
        const page = pageOf(query);
        const group = action === undefined ? undefined : inGroup(action);
        const rows = entries.page([group, { actor }, from === undefined ? undefined : toCondition(from)], page);
        const nameOf = namesOf(
          statement,
          rows.slice(0, page.limit).flatMap(({ actor, subject }) => [actor, subject ?? ""]),
        );
        return listById(rows, page, (row) => ({
          ...row,
          actor_name: nameOf(row.actor),
          subject_name: row.subject && nameOf(row.subject),
        }));
      },
    }),
  ]);
}

const inGroup = (action: string): Condition => [
  "(action = ? OR (action >= ? AND action < ?))",
  action,
  `${action}.`,
  `${action}/`,
];

const toCondition = (from: string): Condition => [`at >= ? AND ${idsSince("audit", "at")}`, from, from];

function momentOf(text: string): string {
  const ms = /^\d{1,15}$/.test(text) ? Number(text) : Date.parse(text);
  if (!Number.isFinite(ms) || Math.abs(ms) > 8.64e15)
    throw invalidField("since", "Takes RFC 3339 or epoch milliseconds");
  return toTimestamp(ms);
}
