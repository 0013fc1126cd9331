/** A pipe that is read in pieces: the writer is paused while much is unread, and every byte arrives, in order. */
import { expect, test } from "bun:test";
import { createBoundedNoise, createPacedChunks } from "./paced-chunks.ts";

const KB = 1024;
/** Blocks for longer than a turn, so that other work has to wait. */
function takeLong(): void {
  const until = performance.now() + 5;
  while (performance.now() < until);
}

test("a writer that floods is paused once there is much to read, and resumed when all of it was read", async () => {
  const said: string[] = [];
  const read: Uint8Array[] = [];
  const chunks = createPacedChunks({
    read(piece) {
      takeLong();
      read.push(piece.slice());
    },
    pause: () => void said.push(`pause at ${sum(read)}`),
    resume: () => void said.push(`resume at ${sum(read)}`),
  });
  const sent = Array.from({ length: 40 }, (_, at) => new Uint8Array(16 * KB).fill(at));
  for (const chunk of sent) chunks.add(chunk);
  chunks.add(new Uint8Array(0));
  await chunks.waitForDrain();
  expect(Buffer.concat(read).equals(Buffer.concat(sent))).toBe(true);
  expect(said).toHaveLength(2);
  expect(said[0]).toStartWith("pause");
  expect(said[1]).toBe(`resume at ${640 * KB}`);
  // A second flood pauses the writer again.
  for (const chunk of sent) chunks.add(chunk);
  await chunks.waitForDrain();
  expect(said.map((one) => one.split(" ")[0])).toEqual(["pause", "resume", "pause", "resume"]);
});

test("others get their turn while a flood is read, and little is read without a pause of its writer", async () => {
  let others = 0;
  const other = setInterval(() => others++, 0);
  let pauses = 0;
  const chunks = createPacedChunks({
    read: takeLong,
    pause: () => void pauses++,
    resume() {},
  });
  chunks.add(new Uint8Array(200 * KB));
  await chunks.waitForDrain();
  clearInterval(other);
  expect(others).toBeGreaterThan(0);
  expect(pauses).toBe(0);
});

test("noise that comes faster than it is read is left out, counted, and read again later", async () => {
  let read = 0;
  const left: number[] = [];
  const noise = createBoundedNoise({
    read(piece) {
      takeLong();
      read += piece.byteLength;
    },
    leftOut: (bytes) => void left.push(bytes),
  });
  for (let n = 0; n < 100; n++) noise.add(new Uint8Array(100 * KB));
  await noise.waitForDrain();
  expect(left).toHaveLength(1);
  expect(read + (left[0] ?? 0)).toBe(10_000 * KB);
  expect(read).toBeLessThan(1_000 * KB);
  noise.add(new Uint8Array(10));
  await noise.waitForDrain();
  expect([read + (left[0] ?? 0), left.length]).toEqual([10_000 * KB + 10, 1]);
});

const sum = (pieces: readonly Uint8Array[]): number => pieces.reduce((bytes, { byteLength }) => bytes + byteLength, 0);
