/**
 * `/v1/waitlist`. Joining gets the same answer whether the address is new, known or over the limit, so that it does not
 * reveal who is on the list.
 */

import { Type as t } from "@sinclair/typebox";
import { type Clock, toTimestamp } from "../../core/clock.ts";
import { EMAIL_CHARACTERS, EMAIL_PATTERN, normalEmail } from "../../core/email.ts";
import { LIMITS } from "../../core/limits.ts";
import { listAnswer, pageOf, pagesOf } from "../../http/list.ts";
import { defineOperation, tagOperations } from "../../http/operation.ts";
import { seekAbove } from "../../store/reader.ts";
import type { Store } from "../../store/store.ts";
import { waitlist } from "../../store/tables/accounts.ts";

const Entry = t.Object({ email: t.String(), created_at: t.String({ format: "date-time" }) });

export function waitlistRoutes({ store, clock }: { store: Store; clock: Clock }) {
  const entries = store.rows(waitlist);
  return tagOperations("waitlist", [
    defineOperation("waitlist", "POST /v1/waitlist", {
      access: "public",
      limit: "waitlist",
      body: t.Object({ email: t.String({ maxLength: EMAIL_CHARACTERS, pattern: EMAIL_PATTERN }) }),
      answer: { 202: t.Object({ status: t.Literal("accepted") }) },
      summary: "Join the waitlist",
      handler: ({ body, set }) => {
        store.write(() => {
          if (entries.count() >= LIMITS.waitlistEntries) return;
          entries.insertIfNew({ email: normalEmail(body.email), created_at: toTimestamp(clock.now()) });
        });
        set.status = 202;
        return { status: "accepted" as const };
      },
    }),
    defineOperation("listWaitlist", "GET /v1/waitlist", {
      access: "admin",
      ...pagesOf(Entry),
      summary: "List the waitlist by address",
      handler: ({ query }) => {
        const page = pageOf(query);
        const rows = entries.list([seekAbove("email", page)], { order: "email", limit: page.limit + 1 });
        return listAnswer(rows, page, (row) => row.email);
      },
    }),
  ]);
}
