/** What a handler or the framework throws, as a problem document. First plugin of the application. */
import { Elysia } from "elysia";
import type { Logger } from "../core/log.ts";
import type { Masking } from "../core/masking.ts";
import type { RequestFacts } from "./base.ts";
import { problemResponse, toProblem } from "./problem.ts";

export function problemErrors(
  facts: WeakMap<Request, RequestFacts>,
  { log, masking }: { log: Logger; masking: Pick<Masking, "text"> },
) {
  return new Elysia({ name: "skep/problems" }).onError({ as: "global" }, ({ error, code, request }) => {
    const requestId = facts.get(request)?.requestId ?? "unknown";
    const path = new URL(request.url).pathname;
    const { problem, internal } = toProblem(error, code);
    if (internal) log.error({ requestId, path, err: error }, "request failed");
    return problemResponse(problem, { requestId, path, mask: masking.text });
  });
}
