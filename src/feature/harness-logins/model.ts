/** People's log-ins at the vendors of external agents, as the API shows them: never the log-in itself. */
import { type Static, Type as t } from "@sinclair/typebox";
import { OWN_LOGIN_NAMES } from "../../core/harness-names.ts";
import { LIMITS } from "../../core/limits.ts";
import { oneOf, orNull, Time } from "../../core/schema.ts";

export const HarnessName = oneOf(...OWN_LOGIN_NAMES);
const AgentNames = t.Array(t.String({ minLength: 1, maxLength: 64 }), {
  maxItems: LIMITS.ownLoginAgents,
  uniqueItems: true,
  description: "Agents that may use the log-in when you start them; `*` for every agent that asks for it.",
});

export const HarnessLogin = t.Object({
  harness: HarnessName,
  masked_login: t.String(),
  agents: AgentNames,
  hosts: t.Array(t.String(), { description: "All hosts that a container with this log-in can reach." }),
  not_held: t.String({ description: "What Skep cannot enforce while the log-in is used." }),
  created_at: Time,
  updated_at: Time,
  last_used_at: orNull(Time),
});
export type HarnessLogin = Static<typeof HarnessLogin>;

export const HarnessLoginUpdate = t.Object({
  login: t.Optional(
    t.String({
      minLength: 1,
      maxLength: LIMITS.secretValueBytes,
      description:
        "The log-in, required the first time: the text of auth.json for codex and opencode, a token for claude-code.",
    }),
  ),
  agents: t.Optional(AgentNames),
});
export type HarnessLoginUpdate = Static<typeof HarnessLoginUpdate>;
