import { expect, test } from "bun:test";
import { createCircuit } from "./circuit.ts";
import type { Failure } from "./failure.ts";

function createClock() {
  let at = 1_000;
  return {
    now: () => at,
    monotonic: () => at,
    advance(ms: number) {
      at += ms;
    },
  };
}
const DOWN: Failure = { code: "provider_unreachable", message: "no", retryable: true };

test("a provider that failed five times in a minute is left alone, then asked once, until a call succeeds", () => {
  const clock = createClock();
  const circuit = createCircuit(clock);
  for (let failures = 0; failures < 5; failures++) {
    expect(circuit.refusal("lab", "a")).toBeUndefined();
    circuit.recordEnd("a", DOWN);
  }
  expect(circuit.refusal("lab", "a")).toMatchObject({
    code: "provider_unreachable",
    isWait: true,
    retryAfterMs: 30_000,
  });
  expect(circuit.refusal("lab", "b")).toBeUndefined();
  clock.advance(30_000);
  expect(circuit.refusal("lab", "a")).toBeUndefined();
  expect(circuit.refusal("lab", "a")).toBeDefined();
  circuit.recordEnd("a", undefined);
  expect(circuit.refusal("lab", "a")).toBeUndefined();
});

test("failures over more than a minute, and calls that a provider refuses, do not count", () => {
  const clock = createClock();
  const circuit = createCircuit(clock);
  for (let failures = 0; failures < 9; failures++) {
    circuit.recordEnd("a", DOWN);
    clock.advance(20_000);
  }
  expect(circuit.refusal("lab", "a")).toBeUndefined();
  for (let failures = 0; failures < 9; failures++)
    circuit.recordEnd("a", { code: "provider_auth", message: "no", retryable: false });
  expect(circuit.refusal("lab", "a")).toBeUndefined();
});
