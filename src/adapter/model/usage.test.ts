/** Which of a provider's token counts are believed. */
import { expect, test } from "bun:test";
import type { ModelRequest, ModelUsage } from "../../engine/model.ts";
import { measureUsage, NO_USAGE } from "./usage.ts";

const request: Pick<ModelRequest, "system" | "messages" | "tools"> = {
  system: "You are a careful engineer. ".repeat(20),
  messages: [{ role: "user", parts: [{ type: "text", text: "Say what is to be done. ".repeat(20) }] }],
  tools: [],
};
const text = "This is to be done. ".repeat(20);
const received = { parts: [{ type: "text" as const, text }], characters: text.length };
const measure = (usage: ModelUsage | undefined, of = received) => measureUsage(request as ModelRequest, of, usage);

test("counts that are left out or zero though text was sent and received are estimated, and marked as that", () => {
  for (const reported of [
    undefined,
    NO_USAGE,
    { ...NO_USAGE, input_tokens: 200 },
    { ...NO_USAGE, output_tokens: 100 },
  ]) {
    const { usage, estimated } = measure(reported);
    expect(estimated).toBe(true);
    expect(usage.input_tokens).toBeGreaterThan(100);
    expect(usage.output_tokens).toBeGreaterThan(50);
  }
});

test("counts that can be are believed, also none for a reply without text", () => {
  const counted = { ...NO_USAGE, input_tokens: 260, output_tokens: 110 };
  expect(measure(counted)).toEqual({ usage: counted, estimated: false });
  const silent = { ...NO_USAGE, input_tokens: 260 };
  expect(measure(silent, { parts: [], characters: 0 })).toEqual({ usage: silent, estimated: false });
});
