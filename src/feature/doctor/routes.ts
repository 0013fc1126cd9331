/** GET /v1/doctor. */
import { Type as t } from "@sinclair/typebox";
import { Elysia } from "elysia";
import { oneOf } from "../../core/schema.ts";
import type { Base } from "../../http/base.ts";
import { type Finding, worst } from "./model.ts";

const Verdict = oneOf("ok", "warn", "fail");
const Examination = t.Object({
  verdict: Verdict,
  findings: t.Array(
    t.Object({
      check: t.String({ description: "What was checked: a stable word or two." }),
      verdict: Verdict,
      detail: t.String(),
      remedy: t.Optional(t.String({ description: "What to do about it, a command where one helps." })),
    }),
  ),
});

export function doctorRoutes(base: Base, examine: () => Promise<Finding[]>) {
  return new Elysia({ name: "skep/doctor" }).use(base).get(
    "/v1/doctor",
    async () => {
      const findings = await examine();
      return { verdict: worst(findings), findings };
    },
    {
      access: "admin",
      response: { 200: Examination },
      detail: { tags: ["status"], summary: "What keeps this server from working, and what to do" },
    },
  );
}
