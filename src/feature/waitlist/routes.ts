/** /v1/waitlist. Joining answers the same whether the address is new, known or over the bound: it does not reveal who is on it. */

import { Type as t } from "@sinclair/typebox";
import { asc, gt } from "drizzle-orm";
import { type Clock, timestamp } from "../../core/clock.ts";
import { EMAIL_CHARACTERS, EMAIL_PATTERN, normalEmail } from "../../core/email.ts";
import { LIMITS } from "../../core/limits.ts";
import { listAnswer, listOf, PageQuery, pageOf } from "../../http/list.ts";
import { operation, operations } from "../../http/operation.ts";
import type { Store } from "../../store/store.ts";
import { waitlist } from "../../store/tables/accounts.ts";

const Entry = t.Object({ email: t.String(), created_at: t.String({ format: "date-time" }) });

export function waitlistRoutes({ store, clock }: { store: Store; clock: Clock }) {
  const { db, sqlite } = store;
  const count = sqlite.prepare("SELECT count(*) FROM waitlist").pluck();
  const entries = () => Number(count.get());
  return operations("waitlist", [
    operation(
      "waitlist",
      "POST /v1/waitlist",
      {
        access: "public",
        limit: "waitlist",
        body: t.Object({ email: t.String({ maxLength: EMAIL_CHARACTERS, pattern: EMAIL_PATTERN }) }),
        answer: { 202: t.Object({ status: t.Literal("accepted") }) },
        summary: "Join the waitlist",
      },
      ({ body, set }) => {
        store.write(() => {
          if (entries() >= LIMITS.waitlistEntries) return;
          const row = { email: normalEmail(body.email), created_at: timestamp(clock.now()) };
          db.insert(waitlist).values(row).onConflictDoNothing().run();
        });
        set.status = 202;
        return { status: "accepted" as const };
      },
    ),
    operation(
      "listWaitlist",
      "GET /v1/waitlist",
      { access: "admin", query: t.Object(PageQuery), answer: listOf(Entry), summary: "Who waits, by address" },
      ({ query }) => {
        const page = pageOf(query);
        const rows = db
          .select()
          .from(waitlist)
          .where(page.after === null ? undefined : gt(waitlist.email, page.after))
          .orderBy(asc(waitlist.email))
          .limit(page.limit + 1)
          .all();
        return listAnswer(
          rows,
          page,
          (row) => row.email,
          (row) => row,
        );
      },
    ),
  ]);
}
