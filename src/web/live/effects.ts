/**
 * Which shown answers an event makes stale. A feature adds its kinds here, with the paths. Those that are on the page are
 * fetched again, once for many events.
 */
import { queries, refresh } from "../api/queries.ts";
import type { LiveEvent } from "./connection.ts";
import { onLive } from "./stream.ts";

type Paths = (event: LiveEvent) => string[];

const RUNS: Paths = () => ["/v1/runs", "/v1/steps", "/v1/status", "/v1/approvals", "/v1/llm-calls/summary"];

const EFFECTS: [kinds: RegExp, paths: Paths][] = [
  [/^run_/, RUNS],
  [/^step_/, () => ["/v1/runs", "/v1/steps"]],
  [/^approval_/, RUNS],
  [/^egress_/, () => ["/v1/runs"]],
  // What its agent said before is its last sentence now.
  [/^tool_call_(start|end)/, () => ["/v1/runs/at-work"]],
  [/^session_/, () => ["/v1/agents", "/v1/status", "/v1/lifecycle", "/v1/spawn-executor"]],
  [/^(step_(complete|failed)|turn_ended|activity|pulse_)/, () => ["/v1/lifecycle/timeline"]],
  [/^(turn|session)_/, () => ["/v1/chat/sessions"]],
  [/^onboarding_/, () => ["/v1/onboarding", "/v1/projects"]],
  [/^pulse_/, () => ["/v1/pulse-routines"]],
  [/^document_/, () => ["/v1/documents"]],
  [/^mcp_/, () => ["/v1/mcp"]],
  [/^swarm_/, () => ["/v1/swarm"]],
  [/^memory_/, () => ["/v1/memory", "/v1/memory-scores"]],
  [/^task_/, () => ["/v1/projects/{id}/tasks"]],
  [/^(project|workspace)_/, () => ["/v1/projects"]],
  [/^index_/, () => ["/v1/projects"]],
  [/^codehost_/, () => ["/v1/codehost"]],
  [/^job_/, () => ["/v1/jobs"]],
  [/^run_(waiting|failed|complete|cancelled)/, () => ["/v1/notification-channels"]],
  [/^notification$/, () => ["/v1/admin/notifications"]],
  [/^budget_/, () => ["/v1/usage", "/v1/admin/notifications"]],
];

/** Events are collected this long before the server is asked, ms: fifty events a second make one request. */
const COLLECT_MS = 700;

export function startEffects(): () => void {
  const stale = new Set<string>();
  let timer: ReturnType<typeof setTimeout> | undefined;
  const flush = () => {
    timer = undefined;
    void refresh(...stale);
    stale.clear();
  };
  const stop = onLive((event) => {
    if (event.kind === "gap") return void queries.invalidateQueries();
    for (const [kinds, paths] of EFFECTS) if (kinds.test(event.kind)) for (const path of paths(event)) stale.add(path);
    if (stale.size > 0) timer ??= setTimeout(flush, COLLECT_MS);
  });
  return () => {
    stop();
    clearTimeout(timer);
  };
}
