/** GET /v1/doctor. */

import { Type as t } from "@sinclair/typebox";
import { oneOf } from "../../core/schema.ts";
import { defineOperation, tagOperations } from "../../http/operation.ts";
import { type Finding, findWorst } from "./model.ts";

const Verdict = oneOf("ok", "warn", "fail");
const Examination = t.Object({
  verdict: Verdict,
  findings: t.Array(
    t.Object({
      check: t.String({ description: "Stable name of the check, in one or two words." }),
      verdict: Verdict,
      detail: t.String(),
      remedy: t.Optional(t.String({ description: "What to do about the finding, as a command where possible." })),
    }),
  ),
});

export function doctorRoutes(examine: () => Promise<Finding[]>) {
  return tagOperations("status", [
    defineOperation("getDoctor", "GET /v1/doctor", {
      access: "admin",
      answer: Examination,
      summary: "Check what keeps this server from working, and what to do about it",
      handler: async () => {
        const findings = await examine();
        return { verdict: findWorst(findings), findings };
      },
    }),
  ]);
}
