/** /v1/status, and the operational endpoints beside the versioned API. */
import { Type as t } from "@sinclair/typebox";
import { Elysia } from "elysia";
import { unavailable } from "../../core/errors.ts";
import type { Base } from "../../http/base.ts";
import { type Status, StatusAnswer } from "./model.ts";

export interface StatusDeps {
  status(): Promise<Status>;
  /** Why the server cannot take writes, or undefined. */
  notReady(): string | undefined;
  metrics(): Promise<string>;
  metricsType: string;
}

const tags = ["status"];

export function statusRoutes(base: Base, deps: StatusDeps) {
  return new Elysia({ name: "skep/status" })
    .use(base)
    .get(
      "/v1/status",
      async ({ caller }) => {
        const { status, version, setup_required, broker, ...rest } = await deps.status();
        if (caller.kind === "anonymous")
          return { status, version, setup_required, broker: { connected: broker.connected } };
        return { status, version, setup_required, broker, ...rest };
      },
      {
        access: "public",
        response: { 200: StatusAnswer },
        detail: { tags, summary: "Health, bus and summary counts" },
      },
    )
    .get("/healthz", () => ({ status: "ok" as const }), {
      access: "public",
      response: { 200: t.Object({ status: t.Literal("ok") }) },
      detail: { tags, summary: "The process answers" },
    })
    .get(
      "/readyz",
      () => {
        const reason = deps.notReady();
        if (reason) throw unavailable("not_ready", reason);
        return { status: "ready" as const };
      },
      {
        access: "public",
        response: { 200: t.Object({ status: t.Literal("ready") }) },
        detail: { tags, summary: "The database takes writes" },
      },
    )
    .get(
      "/metrics",
      async () => new Response(await deps.metrics(), { headers: { "Content-Type": deps.metricsType } }),
      {
        access: "user",
        detail: {
          tags,
          summary: "Prometheus metrics",
          responses: {
            200: { description: "Prometheus text.", content: { "text/plain": { schema: { type: "string" } } } },
          },
        },
      },
    );
}
