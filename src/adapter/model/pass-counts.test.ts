/** What is read of a passed-on reply, however its bytes were split into pieces. */
import { expect, test } from "bun:test";
import { LIMITS } from "../../core/limits.ts";
import type { PassRequest } from "../../engine/model.ts";
import { createEventCounter } from "./pass-counts.ts";

const line = (event: object): string => `data: ${JSON.stringify(event)}\n\n`;
const toTextEvent = (content: string): string => line({ choices: [{ delta: { content } }], usage: null });
const toUsageEvent = (input: number): string =>
  line({ usage: { prompt_tokens: input, completion_tokens: 7 }, choices: [] });

/** Counts a reply that arrives in pieces of that size; each piece is emptied after it was passed on. */
function count(text: string, pieceBytes: number, protocol: PassRequest["protocol"] = "chat") {
  const counter = createEventCounter(protocol);
  const bytes = Buffer.from(text);
  for (let at = 0; at < bytes.length; at += pieceBytes) {
    const piece = new Uint8Array(bytes.subarray(at, at + pieceBytes));
    counter.add(piece);
    piece.buffer.transfer(0);
  }
  return counter.end();
}

test.each([1, 2, 7, 50, 1_000_000])("counts and texts are found in pieces of %d bytes", (pieceBytes) => {
  const text = `${toTextEvent("Héllo")}${toTextEvent('its "usage":{"prompt_tokens":1}')}${toUsageEvent(11)}data: [DONE]\n\n`;
  const { usage, received } = count(text, pieceBytes);
  expect(usage).toMatchObject({ input_tokens: 11, output_tokens: 7 });
  // Characters are counted with the escapes of the event's JSON.
  expect({ ...received, characters: received.characters() }).toEqual({
    bytes: Buffer.byteLength(text),
    characters: 5 + 'its \\"usage\\":{\\"prompt_tokens\\":1}'.length,
  });
});

test("later counts replace earlier ones, and what is no JSON is passed over", () => {
  const { usage } = count(`${toUsageEvent(1)}data: {"usage": {"prompt_tokens": 5\n${toUsageEvent(3)}`, 10);
  expect(usage?.input_tokens).toBe(3);
});

test("an event that is too long is passed over, and the next one is read", () => {
  const long = toTextEvent("x".repeat(LIMITS.providerEventBytes));
  const { usage, received } = count(`${long}${toUsageEvent(9)}`, 1_000_003);
  expect([usage?.input_tokens, received.characters()]).toEqual([9, 0]);
});

test.each([100, 16_384, 300_000])(
  "counts at the beginning and in a long last event are found in pieces of %d bytes, whatever is between",
  (pieceBytes) => {
    const between = toTextEvent("word ".repeat(20)).repeat(5_000);
    const begun = line({ type: "message_start", message: { usage: { input_tokens: 21, output_tokens: 1 } } });
    const ended = line({ type: "message_delta", delta: {}, usage: { output_tokens: 500 } });
    const messages = count(`${begun}${between}${ended}${line({ type: "message_stop" })}`, pieceBytes, "messages");
    expect(messages.usage).toMatchObject({ input_tokens: 21, output_tokens: 500 });
    const repeated = { output: "x".repeat(1_000_000), usage: { input_tokens: 11, output_tokens: 7 }, metadata: {} };
    const completed = line({ type: "response.completed", response: repeated });
    for (const after of ["", toTextEvent("late").repeat(500)])
      expect(count(`${between}${completed}${after}`, pieceBytes, "responses").usage).toMatchObject({
        input_tokens: 11,
        output_tokens: 7,
      });
  },
);

test("the texts of a long reply are measured by samples", () => {
  const text = toTextEvent("word ".repeat(20)).repeat(20_000);
  expect(count(text, 16_384).received.characters() / (100 * 20_000)).toBeCloseTo(1, 2);
});

test("samples of a long reply whose pieces are single events, some of them long, measure it, too", () => {
  const events = [toTextEvent("a".repeat(100)), toTextEvent("b".repeat(20_000))];
  const counter = createEventCounter("chat");
  for (let n = 0; n < 600; n++) for (const event of events) counter.add(Buffer.from(event));
  const { received } = counter.end();
  expect(received.characters() / (600 * 20_100)).toBeCloseTo(1, 1);
});

test("Gemini's counts have a name of their own", () => {
  const text = line({ usageMetadata: { promptTokenCount: 4, candidatesTokenCount: 2 } });
  expect(count(text, 5, "gemini").usage).toMatchObject({ input_tokens: 4, output_tokens: 2 });
});
