/**
 * Chat: the server's share of the time until the first byte of a reply, and what idle chats cost. The model is a local
 * server that answers at once with a real provider's protocol.
 *
 *   bun scripts/bench-chat.ts [--turns 100] [--idle 1000]
 */
import { readFileSync } from "node:fs";
import { loadavg } from "node:os";
import { parseArgs } from "node:util";
import { createModelServer } from "../src/testing/model-server.ts";
import { startServer } from "../src/testing/server.ts";
import { median, quantile } from "./bench-figures.ts";

const { values } = parseArgs({
  options: { turns: { type: "string", default: "100" }, idle: { type: "string", default: "1000" } },
});
const [turns, idle] = [Number(values.turns), Number(values.idle)];

const models = await createModelServer();
const server = await startServer({
  env: { RATE_LIMIT: "0", OPENAI_API_KEY: "sk-none", OPENAI_BASE_URL: `${models.origin}/v1` },
});
const readRss = () => Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${server.pid}/status`, "utf8"))?.[1]) / 1024;
const begin = async () =>
  (
    await server.request<{ id: string }>("POST", "/v1/chat/sessions", {
      body: { agent_id: "scribe", model: "openai/gpt-4.1" },
    })
  ).body.id;
const say = (what: string, figure: string) => console.log(`| ${what} | ${figure} |`);
const formatTimes = (times: number[]) => `${median(times).toFixed(1)} ms, ${quantile(times, 0.99).toFixed(1)} ms`;

/**
 * @returns ms from the message to the request to the model, and ms from the model's answer to the first piece of the
 * reply.
 */
async function firstByte(id: string): Promise<{ there: number; back: number }> {
  let requested = 0;
  const until = async () => {
    requested = performance.now();
  };
  models.next({ kind: "reply", reply: { text: "Hello there." }, until });
  const asked = performance.now();
  const answer = await fetch(`${server.url}/v1/chat/sessions/${id}/message?stream=true`, {
    method: "POST",
    headers: { "Content-Type": "application/json" },
    body: JSON.stringify({ message: "Hello" }),
  });
  let text = "";
  let first: number | undefined;
  for await (const chunk of answer.body!.pipeThrough(new TextDecoderStream())) {
    text += chunk;
    if (first === undefined && text.includes("event: agent_output")) first = performance.now();
  }
  if (first === undefined) throw new Error(`no reply came: ${text.slice(0, 500)}`);
  return { there: requested - asked, back: first - requested };
}

try {
  console.log(`load ${loadavg()[0]?.toFixed(1)}`);
  for (let n = 0; n < 5; n++) await firstByte(await begin());
  const times: { there: number; back: number }[] = [];
  for (let n = 0; n < turns; n++) times.push(await firstByte(await begin()));
  const [there, back] = [times.map((one) => one.there), times.map((one) => one.back)];
  say("message to the model's request, p50, p99", formatTimes(there));
  say("the model's answer to the first byte of the reply, p50, p99", formatTimes(back));
  say("both, p50, p99", formatTimes(times.map((one) => one.there + one.back)));
  const before = readRss();
  for (let n = 0; n < idle; n++) await begin();
  say(
    `server's memory before and after ${idle} chats are opened`,
    `${before.toFixed(0)} MB, ${readRss().toFixed(0)} MB`,
  );
} finally {
  await server.remove();
  await models.stop();
}
