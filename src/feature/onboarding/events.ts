/** Events of onboarding sessions. */
import { Type as t } from "@sinclair/typebox";
import { defineEvent } from "../../core/events.ts";
import { oneOf, orNull } from "../../core/schema.ts";
import { PhaseOrDone } from "./context.ts";
import { OnboardingStatus } from "./model.ts";

export const onboardingChanged = defineEvent(
  "onboarding_changed",
  t.Object(
    {
      onboarding_id: t.String(),
      change: oneOf("created", "context", "phase", "completed", "abandoned"),
      status: OnboardingStatus,
      phase: PhaseOrDone,
      project_id: orNull(t.String()),
    },
    { description: "An onboarding session began, learned something, moved to the next interviewer, or ended." },
  ),
  { stale: ["/v1/onboarding", "/v1/projects"] },
);

export const onboardingEvents = [onboardingChanged] as const;
