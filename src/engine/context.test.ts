import { afterEach, describe, expect, test } from "bun:test";
import fc from "fast-check";
import { countTokens } from "gpt-tokenizer";
import { createRigs } from "../testing/engine-rig.ts";
import { estimateTokens, fitRoom, toSummaryRequest } from "./context.ts";
import type { ModelMessage, ModelPort, ModelReply, ModelRequest } from "./model.ts";
import type { AssistantPart } from "./parts.ts";

const rigs = createRigs();
afterEach(rigs.close);
const AGENTS = { worker: "---\ntools: [read]\n---\nYou work." };

const sizeOf = ({ system, messages }: Pick<ModelRequest, "system" | "messages">) =>
  estimateTokens(system) + estimateTokens(JSON.stringify(messages));

test.each([
  ["Latin", "Alle Menschen sind frei und gleich an Würde und Rechten geboren."],
  ["Cyrillic", "Все люди рождаются свободными и равными в своем достоинстве и правах."],
  ["Greek", "Όλοι οι άνθρωποι γεννιούνται ελεύθεροι και ίσοι στην αξιοπρέπεια."],
  ["Arabic", "يولد جميع الناس أحرارا متساوين في الكرامة والحقوق."],
  ["Devanagari", "सभी मनुष्यों को गौरव और अधिकारों के मामले में जन्मजात स्वतन्त्रता प्राप्त है।"],
  ["Korean", "모든 인간은 태어날 때부터 자유로우며 그 존엄과 권리에 있어 동등하다."],
  ["Chinese", "人人生而自由，在尊严和权利上一律平等。请修改登录页面的错误提示。"],
  ["Japanese", "すべての人間は、生まれながらにして自由である。よろしくお願いいたします。"],
  ["Thai", "มนุษย์ทั้งหลายเกิดมามีอิสระและเสมอภาคกันในเกียรติศักดิ์และสิทธิ"],
])("tokens are estimated as no fewer than a tokenizer counts, in %s writing", (_, text) => {
  const many = text.repeat(20);
  const [estimated, counted] = [estimateTokens(many), countTokens(many)];
  expect(estimated).toBeGreaterThanOrEqual(counted);
  expect(estimated).toBeLessThan(counted * 3);
});

const REPLY: ModelReply = {
  parts: [],
  finish: "stop",
  usage: { input_tokens: 1, output_tokens: 1, cache_read_tokens: 0, cache_write_tokens: 0, reasoning_tokens: 0 },
  cost_usd: 0,
  cost_source: "table",
  key_source: "none",
  provider: "custom-small",
  model: "custom-small/m",
  duration_ms: 1,
  time_to_first_token_ms: 1,
  attempts: 1,
};
const REFUSED: ModelReply = {
  ...REPLY,
  finish: "error",
  error: { code: "context_too_long", message: "The prompt does not fit.", retryable: false },
};

/**
 * A provider that knows its own window but reports it to nobody. Its agent reads a long file in each of the first turns
 * and then completes.
 */
function narrowModel(windowTokens: number, reads: number) {
  const requests: { request: ModelRequest; refused: boolean }[] = [];
  let turns = 0;
  const say = (part: AssistantPart): ModelReply => ({ ...REPLY, parts: [part], finish: "tool_calls" });
  const port: ModelPort = {
    async call(request) {
      const refused = sizeOf(request) > windowTokens;
      requests.push({ request, refused });
      if (refused) return REFUSED;
      if (request.tools.length === 0) return { ...REPLY, parts: [{ type: "text", text: "SUMMARY: read the files." }] };
      turns++;
      const call =
        turns <= reads
          ? { tool: "read", input: { path: "long.txt", limit: 1_000 + turns } }
          : { tool: "complete", input: DONE };
      return say({ type: "tool_call", call_id: `c${turns}`, ...call });
    },
    info: (id) => ({
      id,
      context_window: 1_000_000,
      max_context_window: null,
      max_output_tokens: null,
      input_usd_per_mtok: 0,
      output_usd_per_mtok: 0,
      reasoning: false,
      tools: true,
      images: false,
      documents: false,
    }),
    estimateUsd: () => 0,
  };
  return { port, requests };
}
const DONE = { outputs: {}, summary: "read" };
const pipeline = (input: string) => `
id: one
name: One
steps:
  - { id: work, agent: worker, input: "${input}" }
`;

async function run(windowTokens: number, reads: number, input = "Read it.") {
  const model = narrowModel(windowTokens, reads);
  const rig = await rigs.open({ pipelines: { one: pipeline(input) }, agents: AGENTS, models: model.port });
  const { id } = rig.create("one");
  await Bun.write(`${rig.workspaceOf(id)}/long.txt`, "a line of the long file\n".repeat(600));
  await rig.start();
  return { ended: await rig.waitForEnd(id), requests: model.requests, rig };
}

describe("a provider that refuses what is too long", () => {
  test("is asked again with less, until it fits; the work continues to its end", async () => {
    const { ended, requests, rig } = await run(7_000, 8);
    expect(ended).toMatchObject({ status: "succeeded", error: null });
    expect(requests.filter(({ refused }) => refused).length).toBeGreaterThan(0);
    // Every call is logged, including the refused ones.
    expect(rig.calls()).toBe(requests.length);
  });

  test("gets a summary with the task when shorter outputs are not enough", async () => {
    const { ended, requests } = await run(3_600, 12, "Read it, says the marked task.");
    expect(ended.status).toBe("succeeded");
    const asked = requests.filter(({ request, refused }) => request.tools.length === 0 && !refused);
    expect(asked.length).toBeGreaterThan(0);
    const next = requests[requests.indexOf(asked[0]!) + 1]!.request.messages;
    expect(next).toHaveLength(1);
    expect(JSON.stringify(next)).toContain("Read it, says the marked task.");
    expect(JSON.stringify(next)).toContain("SUMMARY: read the files.");
  });

  test("fails the work with context_too_long when nothing is left to shorten, after one call", async () => {
    const { ended, requests } = await run(200, 1, "x".repeat(4_000));
    expect(ended).toMatchObject({ status: "failed", error: { code: "context_too_long", step_id: "work" } });
    expect(requests).toHaveLength(1);
  });

  test("ends in a bounded number of calls when it refuses everything after the first turn", async () => {
    const model = narrowModel(1_000_000, 3);
    const call: ModelPort["call"] = async (request) =>
      request.messages.length > 1 || request.tools.length === 0 ? REFUSED : model.port.call(request);
    const models = { ...model.port, call };
    const rig = await rigs.startRig({ pipelines: { one: pipeline("Go.") }, agents: AGENTS, models });
    expect(await rig.waitForEnd(rig.create("one").id)).toMatchObject({ error: { code: "context_too_long" } });
    expect(rig.calls()).toBeLessThan(12);
  });
});

describe("fitRoom", () => {
  /** Summed per message, because the tokens of each text are rounded up. */
  const total = (messages: readonly ModelMessage[]) =>
    messages.reduce((sum, message) => sum + estimateTokens(JSON.stringify(message)), estimateTokens("system"));
  const tool = fc
    .string({ maxLength: 9_000 })
    .map((output): ModelMessage => ({ role: "tool", results: [{ call_id: "c", tool: "read", ok: true, output }] }));
  const said = fc
    .string({ maxLength: 300 })
    .map((text): ModelMessage => ({ role: "assistant", parts: [{ type: "text", text }] }));

  test("keeps every message and call in place, only shortens outputs, and says truly whether all fits", () => {
    fc.assert(
      fc.property(
        fc.array(fc.oneof(tool, said), { maxLength: 14 }),
        fc.integer({ min: 1, max: 9_000 }),
        (all, room) => {
          const { messages, fits, tokens } = fitRoom("system", all, room);
          expect(tokens).toBe(total(messages));
          expect(fits).toBe(tokens <= room);
          expect(messages.map(({ role }) => role)).toEqual(all.map(({ role }) => role));
          expect(messages.filter(({ role }) => role !== "tool")).toEqual(all.filter(({ role }) => role !== "tool"));
          if (total(all) <= room) expect(messages).toEqual(all);
        },
      ),
      { numRuns: 80 },
    );
  });

  test("a summary's request stays inside the room, ends with what is asked, and holds the newest words", () => {
    const all: ModelMessage[] = Array.from({ length: 400 }, (_, at) => ({
      role: "user",
      parts: [{ type: "text", text: `message ${at} ` }],
    }));
    const text = toSummaryRequest("system", all, 2_000, "ASKED");
    expect(estimateTokens(text)).toBeLessThanOrEqual(2_000);
    expect(text).toEndWith("ASKED");
    expect(text).toContain("message 0 ");
    expect(text).toContain("message 399 ");
  });
});
