/** The pure parts of running a command: limiting its output, and the frame around it. */
import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { createExecFrame } from "./docker/exec-frame.ts";
import { createOutputWindow } from "./output-window.ts";

/** Cuts bytes into chunks of these sizes, which are repeated. */
function* cutChunks(data: Uint8Array, sizes: readonly number[]): Generator<Uint8Array> {
  for (let at = 0, turn = 0; at < data.length; turn++) {
    const size = sizes[turn % sizes.length] ?? 1;
    yield data.subarray(at, at + size);
    at += size;
  }
}
const sizes = fc.array(fc.integer({ min: 1, max: 40 }), { minLength: 1, maxLength: 5 });

describe("a window of output", () => {
  test("shows all of what fits, however it came, and tells it as it comes", () => {
    fc.assert(
      fc.property(fc.string({ unit: "grapheme", maxLength: 300 }), sizes, (text, cuts) => {
        const data = Buffer.from(text);
        const window = createOutputWindow(data.length);
        const shown = [...cutChunks(data, cuts)].map((chunk) => window.push("stdout", chunk)).join("");
        expect(window.end()).toEqual({ output: text, omittedBytes: 0 });
        expect(shown).toBe(text);
      }),
    );
  });

  test("of more it keeps head and tail in whole characters, and counts exactly what is left out", () => {
    fc.assert(
      fc.property(
        fc.string({ unit: "grapheme", minLength: 50, maxLength: 400 }),
        fc.integer({ min: 10, max: 40 }),
        sizes,
        (text, max, cuts) => {
          const data = Buffer.from(text);
          const window = createOutputWindow(max);
          for (const chunk of cutChunks(data, cuts)) window.push("stdout", chunk);
          const { output, omittedBytes } = window.end();
          const [head = "", tail = ""] = output.split(/\n\[… \d+ bytes left out …\]\n/);
          expect(text.startsWith(head) && text.endsWith(tail)).toBe(true);
          expect(Buffer.byteLength(head) + Buffer.byteLength(tail) + omittedBytes).toBe(data.length);
          expect(Buffer.byteLength(head) + Buffer.byteLength(tail)).toBeLessThanOrEqual(max);
        },
      ),
    );
  });

  test("bytes that are not text come through without breaking it", () => {
    const window = createOutputWindow(1_000);
    window.push("stdout", Uint8Array.from([0xff, 0xfe, 0x41]));
    expect(window.end().output).toBe("\uFFFD\uFFFDA");
  });
});

describe("the frame around a command", () => {
  const MARKER = "SKEP_EXEC:00ff:";

  test("gives back exactly what the command wrote, its process id and exit code, however the stream is cut", () => {
    const output = fc.oneof(
      fc.uint8Array({ maxLength: 200 }),
      fc
        .constantFrom("SKEP_EXEC:", "SKEP_EXEC:00f", `${MARKER.slice(0, -1)}\n`, "SSKEP", "12\n")
        .map((text) => new Uint8Array(Buffer.from(text))),
    );
    fc.assert(
      fc.property(output, fc.integer({ min: 0, max: 255 }), sizes, (body, code, cuts) => {
        const got: Uint8Array[] = [];
        const frame = createExecFrame(MARKER, (_, chunk) => got.push(chunk.slice()));
        const stream = Buffer.concat([Buffer.from("42\n"), body, Buffer.from(`${MARKER}${code}\n`)]);
        for (const chunk of cutChunks(stream, cuts)) frame.push("stdout", chunk);
        frame.flush();
        expect(Buffer.concat(got).equals(Buffer.from(body))).toBe(true);
        expect([frame.pid, frame.exitCode]).toEqual(["42", code]);
      }),
    );
  });

  test("a stream that is cut off gives its output, and no exit code", () => {
    const got: string[] = [];
    const frame = createExecFrame(MARKER, (_, chunk) => got.push(Buffer.from(chunk).toString()));
    for (const text of ["7", "\nabc", "SKEP_EX"]) frame.push("stdout", Buffer.from(text));
    frame.flush();
    expect([got.join(""), frame.pid, frame.exitCode]).toEqual(["abcSKEP_EX", "7", undefined]);
  });
});
