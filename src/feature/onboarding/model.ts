/** Onboarding sessions as the API shows them. */
import { type Static, Type as t } from "@sinclair/typebox";
import { LIMITS } from "../../core/limits.ts";
import { oneOf, orNull, Time } from "../../core/schema.ts";
import { ChatDetail, ChatSend, ChatSent } from "../chat/model.ts";
import { CallsWithoutPrice } from "../usage/model.ts";
import { OnboardingContext, PhaseOrDone } from "./context.ts";

export const OnboardingStatus = oneOf("active", "completed", "abandoned");
export type OnboardingStatus = Static<typeof OnboardingStatus>;

export const OnboardingSession = t.Object({
  id: t.String(),
  session_id: t.String({ description: "Session of the onboarding, by which its events can be followed." }),
  status: OnboardingStatus,
  phase: PhaseOrDone,
  agent_id: t.String({ description: "The agent that interviews now." }),
  busy: t.Boolean({ description: "Whether an interviewer is at work or about to be." }),
  title: orNull(t.String()),
  context: OnboardingContext,
  project_id: orNull(t.String({ description: "The project that was created from the onboarding." })),
  message_count: t.Integer(),
  cost_usd: t.Number(),
  calls_without_price: CallsWithoutPrice,
  tokens: t.Integer(),
  created_at: Time,
  last_activity_at: Time,
});
export type OnboardingSession = Static<typeof OnboardingSession>;

const { messages, earlier, reply } = ChatDetail.properties;
export const OnboardingDetail = t.Composite([OnboardingSession, t.Object({ messages, earlier, reply })]);
export type OnboardingDetail = Static<typeof OnboardingDetail>;

export const OnboardingCreate = t.Object({
  message: t.Optional(
    t.String({
      minLength: 1,
      maxLength: LIMITS.textCharacters,
      description: "What you want, in your own words. Without it, the interviewer asks first.",
    }),
  ),
  model: t.Optional(ChatSend.properties.model),
});
export type OnboardingCreate = Static<typeof OnboardingCreate>;

export const OnboardingSend = t.Pick(ChatSend, ["message", "attachment_ids", "mode"]);
export type OnboardingSend = Static<typeof OnboardingSend>;
export const OnboardingSent = t.Object({ ...ChatSent.properties, id: t.String() });
export type OnboardingSent = Static<typeof OnboardingSent>;
