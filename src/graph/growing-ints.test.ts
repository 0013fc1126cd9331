import { expect, test } from "bun:test";
import { GrowingBytes, GrowingInts } from "./growing-ints.ts";

test("a column in another's memory takes no memory where there is enough, and more where there is not", () => {
  const before = new GrowingInts();
  before.append(Array.from({ length: 3_000 }, (_, i) => i));
  const next = new GrowingInts();
  next.takeMemory(before);
  next.reserve(3_000);
  next.append([7, 8]);
  expect([next.memory === before.memory, [...next.view]]).toEqual([true, [7, 8]]);
  next.reserve(before.memory.byteLength);
  next.push(9);
  expect([next.memory === before.memory, [...next.view]]).toEqual([false, [7, 8, 9]]);
});

test("memory is whole again after a view with more numbers was cut out of it", () => {
  const before = new GrowingBytes();
  before.append([1, 2, 3]);
  expect([...before.viewWith({ view: Uint8Array.of(4, 5) })]).toEqual([1, 2, 3, 4, 5]);
  const next = new GrowingBytes();
  next.takeMemory(before);
  next.reserve(1_000);
  next.append(new Uint8Array(1_000));
  expect(next.memory).toBe(before.memory);
});
