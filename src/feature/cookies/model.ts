/** Cookie sets as the API shows them. The API never returns the cookies' values. */
import { type Static, Type as t } from "@sinclair/typebox";
import { LIMITS } from "../../core/limits.ts";

export const CookieSet = t.Object({
  id: t.String(),
  name: t.String(),
  domains: t.Array(t.String(), { description: "Domains of the cookies, sorted." }),
  cookie_count: t.Integer(),
  expires_at: t.Union([t.String({ format: "date-time" }), t.Null()], {
    description: "Time at which the last cookie expires; `null` if a cookie lasts until its browser session ends.",
  }),
  expired: t.Boolean({ description: "Whether every cookie has expired. If so, export the cookies again." }),
  owner_id: t.Union([t.String(), t.Null()], {
    description: "User who owns the set; `null` for the local administrator.",
  }),
  granted_agents: t.Array(t.String()),
  created_at: t.String({ format: "date-time" }),
});
export type CookieSet = Static<typeof CookieSet>;

export const CookieSetName = t.String({ minLength: 1, maxLength: LIMITS.nameCharacters });
