/** /v1/status, and the operational endpoints beside the versioned API. */

import { Type as t } from "@sinclair/typebox";
import { unavailable } from "../../core/errors.ts";
import { defineOperation, tagOperations } from "../../http/operation.ts";
import { type Status, StatusAnswer } from "./model.ts";

interface StatusDeps {
  status(): Promise<Status>;
  /** Why the server cannot write; undefined when it can. */
  notReady(): string | undefined;
  metrics(): Promise<string>;
  metricsType: string;
}

export function statusRoutes(deps: StatusDeps) {
  return tagOperations("status", [
    defineOperation("getStatus", "GET /v1/status", {
      access: "public",
      answer: StatusAnswer,
      summary: "Get the server's health, event bus and counts",
      handler: async ({ caller }) => {
        const { status, version, setup_required, broker, ...rest } = await deps.status();
        if (caller.kind === "anonymous")
          return { status, version, setup_required, broker: { connected: broker.connected } };
        return { status, version, setup_required, broker, ...rest };
      },
    }),
    defineOperation("getHealthz", "GET /healthz", {
      access: "public",
      answer: t.Object({ status: t.Literal("ok") }),
      summary: "Check that the process answers",
      handler: () => ({ status: "ok" as const }),
    }),
    defineOperation("getReadyz", "GET /readyz", {
      access: "public",
      answer: t.Object({ status: t.Literal("ready") }),
      summary: "Check that the database accepts writes",
      handler: () => {
        const reason = deps.notReady();
        if (reason) throw unavailable("not_ready", reason);
        return { status: "ready" as const };
      },
    }),
    defineOperation("getMetrics", "GET /metrics", {
      access: "user",
      summary: "Get Prometheus metrics",
      documented: {
        responses: {
          200: {
            description: "Metrics in Prometheus text format.",
            content: { "text/plain": { schema: { type: "string" } } },
          },
        },
      },
      handler: async () => new Response(await deps.metrics(), { headers: { "Content-Type": deps.metricsType } }),
    }),
  ]);
}
