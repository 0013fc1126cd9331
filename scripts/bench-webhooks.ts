/**
 * Webhooks: how long a code host waits for its answer while deliveries arrive at a steady rate and their jobs run.
 * Requests are sent by the clock, whether or not the last one was answered, and timed from when they were due. The
 * bodies are GitHub's own examples. Every other one is a push to a project's branch, on which a job acts; the others
 * are a labeled issue to which no rule applies. Client and server share this machine.
 *   scripts/bench webhooks [SECONDS [DELIVERIES A SECOND]]
 */
import examples from "@octokit/webhooks-examples";
import { signWebhook, startCodeHost } from "../src/testing/code-host.ts";
import { startServer } from "../src/testing/server.ts";
import { quantile } from "./bench-figures.ts";

const SECONDS = Number(process.argv[2] ?? 20);
const PER_SECOND = Number(process.argv[3] ?? 10);
const BOUND_MS = 50;

const host = await startCodeHost();
const server = await startServer({ env: { ...host.env(), RATE_LIMIT: "0" } });
try {
  const issues = examples.find(({ name }) => name === "issues")!.examples as unknown as { action: string }[];
  const example = issues.find(({ action }) => action === "labeled")!;
  await server.request("POST", "/v1/projects", { body: { name: "shop", repository: host.clone } });
  const ms: number[] = [];
  const statuses = new Map<number, number>();
  const pending: Promise<void>[] = [];
  const push = examples.find(({ name }) => name === "push")!.examples[0] as unknown as object;
  const send = async (n: number, due: number) => {
    const [event, payload] = n % 2 === 0 ? ["push", { ...push, ref: "refs/heads/main" }] : ["issues", example];
    const body = JSON.stringify({ ...payload, repository: { full_name: host.repository }, n });
    const headers = signWebhook("github", event as string, body);
    const answer = await fetch(`${server.url}/v1/codehost/webhooks`, { method: "POST", body, headers });
    await answer.arrayBuffer();
    ms.push(performance.now() - due);
    statuses.set(answer.status, (statuses.get(answer.status) ?? 0) + 1);
  };
  for (let n = 0; n < 20; n++) await send(-1 - n, performance.now());
  ms.length = 0;
  statuses.clear();
  const began = performance.now();
  for (let n = 0; n < PER_SECOND * SECONDS; n++) {
    const due = began + (n * 1_000) / PER_SECOND;
    const early = due - performance.now();
    if (early > 0) await Bun.sleep(early);
    pending.push(send(n, due));
  }
  await Promise.all(pending);
  const [p50, p99] = [quantile(ms, 0.5), quantile(ms, 0.99)];
  const counts = [...statuses].map(([status, count]) => `${count} × ${status}`).join(", ");
  console.log(
    `webhooks, ${PER_SECOND} a second: p50 ${p50.toFixed(1)} ms, p99 ${p99.toFixed(1)} ms, max ${Math.max(...ms).toFixed(1)} ms (${counts}); bound p99 ${BOUND_MS} ms`,
  );
  process.exitCode = p99 <= BOUND_MS ? 0 : 1;
} finally {
  await server.remove();
  await host.stop();
}
