import { Type as t } from "@sinclair/typebox";
import { Elysia } from "elysia";
import { Job } from "../../feature/jobs/model.ts";
import type { Base } from "../../http/base.ts";
import type { Caller } from "../../http/caller.ts";

export function bellRoutes(base: Base, ring: (times: number, caller: Caller) => Job) {
  return new Elysia({ name: "skep/bells" }).use(base).post(
    "/v1/bells",
    ({ body, caller, answer }) =>
      answer.accepted(
        (job) => `/v1/jobs/${job.id}`,
        () => ring(body.times, caller),
      ),
    {
      access: "user",
      body: t.Object({ times: t.Integer({ minimum: 1, maximum: 10 }) }),
      response: { 202: Job },
      detail: { tags: ["bells"], summary: "Ring the bell" },
    },
  );
}
