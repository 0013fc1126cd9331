/** Cookie sets as the API shows them. The API never returns the cookies' values. */
import { type Static, Type as t } from "@sinclair/typebox";
import { LIMITS } from "../../core/limits.ts";

export const CookieSet = t.Object({
  id: t.String(),
  name: t.String(),
  domains: t.Array(t.String(), { description: "Domains of the cookies, in order." }),
  cookie_count: t.Integer(),
  expires_at: t.Union([t.String({ format: "date-time" }), t.Null()], {
    description: "When the last cookie expires; null when one lasts as long as its session.",
  }),
  expired: t.Boolean({ description: "Every cookie has expired: export the set again." }),
  owner_id: t.Union([t.String(), t.Null()], { description: "Null: the local administrator." }),
  granted_agents: t.Array(t.String()),
  created_at: t.String({ format: "date-time" }),
});
export type CookieSet = Static<typeof CookieSet>;

export const CookieSetName = t.String({ minLength: 1, maxLength: LIMITS.nameCharacters });
