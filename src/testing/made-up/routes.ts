import { Type as t } from "@sinclair/typebox";
import { Job } from "../../feature/jobs/model.ts";
import type { Caller } from "../../http/caller.ts";
import { defineOperation, tagOperations } from "../../http/operation.ts";

export function bellRoutes(ring: (times: number, caller: Caller) => Job) {
  return tagOperations("bells", [
    defineOperation("createBell", "POST /v1/bells", {
      access: "user",
      body: t.Object({ times: t.Integer({ minimum: 1, maximum: 10 }) }),
      answer: { 202: Job },
      summary: "Ring the bell",
      handler: ({ body, caller, answer }) =>
        answer.accepted(
          (job) => `/v1/jobs/${job.id}`,
          () => ring(body.times, caller),
        ),
    }),
  ]);
}
