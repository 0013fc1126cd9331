/** GET /v1/admin/audit: who did what, newest first. */

import { Type as t } from "@sinclair/typebox";
import { and, desc, eq, gte, lt, or } from "drizzle-orm";
import { timestamp } from "../../core/clock.ts";
import { invalidField } from "../../core/errors.ts";
import { listAnswer, listOf, PageQuery, pageOf } from "../../http/list.ts";
import { operation, operations } from "../../http/operation.ts";
import { idsSince, withTime } from "../../store/id-range.ts";
import type { Store } from "../../store/store.ts";
import { audit } from "../../store/tables/foundation.ts";
import { namesOf } from "./names.ts";

const Nullable = t.Union([t.String(), t.Null()]);
const AuditRow = t.Object({
  id: t.String(),
  at: t.String({ format: "date-time" }),
  action: t.String(),
  actor: t.String(),
  actor_name: t.Union([t.String(), t.Null()], { description: "As it is called now; null where it has no name." }),
  subject: Nullable,
  subject_name: t.Union([t.String(), t.Null()], { description: "As for the actor." }),
  address: Nullable,
  data: t.Record(t.String(), t.Unknown()),
});
const Filter = t.Object({
  ...PageQuery,
  action: t.Optional(t.String({ maxLength: 100, description: "Exact, or a group: `login` means every `login.…`." })),
  actor: t.Optional(t.String({ maxLength: 200 })),
  since: t.Optional(t.String({ maxLength: 40, description: "RFC 3339, or epoch milliseconds." })),
});

export function auditRoutes({ db, statement }: Store) {
  return operations("admin", [
    operation(
      "listAudit",
      "GET /v1/admin/audit",
      { access: "admin", query: Filter, answer: listOf(AuditRow), summary: "Security events, newest first" },
      ({ query }) => {
        const { action, actor, since } = query;
        const from = since === undefined ? undefined : momentOf(since);
        const page = pageOf(query);
        const where = and(
          page.after === null ? undefined : lt(audit.id, page.after),
          action === undefined
            ? undefined
            : or(eq(audit.action, action), and(gte(audit.action, `${action}.`), lt(audit.action, `${action}/`))),
          actor === undefined ? undefined : eq(audit.actor, actor),
          from === undefined ? undefined : and(gte(audit.at, from), withTime(idsSince("audit", "at"), from)),
        );
        const rows = db
          .select()
          .from(audit)
          .where(where)
          .orderBy(desc(audit.id))
          .limit(page.limit + 1)
          .all();
        const nameOf = namesOf(
          statement,
          rows.slice(0, page.limit).flatMap(({ actor, subject }) => [actor, subject ?? ""]),
        );
        return listAnswer(
          rows,
          page,
          (row) => row.id,
          (row) => ({ ...row, actor_name: nameOf(row.actor), subject_name: row.subject && nameOf(row.subject) }),
        );
      },
    ),
  ]);
}

function momentOf(text: string): string {
  const ms = /^\d{1,15}$/.test(text) ? Number(text) : Date.parse(text);
  if (!Number.isFinite(ms) || Math.abs(ms) > 8.64e15)
    throw invalidField("since", "Takes RFC 3339 or epoch milliseconds");
  return timestamp(ms);
}
