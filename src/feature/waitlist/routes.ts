/** /v1/waitlist. Joining answers the same whether the address is new, known or over the bound: it does not reveal who is on it. */
import { Type as t } from "@sinclair/typebox";
import { asc, gt } from "drizzle-orm";
import { Elysia } from "elysia";
import { type Clock, timestamp } from "../../core/clock.ts";
import { EMAIL_CHARACTERS, EMAIL_PATTERN, normalEmail } from "../../core/email.ts";
import { LIMITS } from "../../core/limits.ts";
import type { Base } from "../../http/base.ts";
import { listAnswer, listOf, PageQuery, pageOf } from "../../http/list.ts";
import type { Store } from "../../store/store.ts";
import { waitlist } from "../../store/tables/accounts.ts";

const tags = ["waitlist"];
const Entry = t.Object({ email: t.String(), created_at: t.String({ format: "date-time" }) });

export function waitlistRoutes(base: Base, { store, clock }: { store: Store; clock: Clock }) {
  const { db, sqlite } = store;
  const count = sqlite.prepare("SELECT count(*) FROM waitlist").pluck();
  const entries = () => Number(count.get());
  return new Elysia({ name: "skep/waitlist" })
    .use(base)
    .post(
      "/v1/waitlist",
      ({ body, set }) => {
        store.write(() => {
          if (entries() >= LIMITS.waitlistEntries) return;
          const row = { email: normalEmail(body.email), created_at: timestamp(clock.now()) };
          db.insert(waitlist).values(row).onConflictDoNothing().run();
        });
        set.status = 202;
        return { status: "accepted" as const };
      },
      {
        access: "public",
        limit: "waitlist",
        body: t.Object({ email: t.String({ maxLength: EMAIL_CHARACTERS, pattern: EMAIL_PATTERN }) }),
        response: { 202: t.Object({ status: t.Literal("accepted") }) },
        detail: { tags, summary: "Join the waitlist" },
      },
    )
    .get(
      "/v1/waitlist",
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
      {
        access: "admin",
        query: t.Object(PageQuery),
        response: { 200: listOf(Entry) },
        detail: { tags, summary: "Who waits, by address" },
      },
    );
}
