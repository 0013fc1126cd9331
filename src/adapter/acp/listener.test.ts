/** The listener of the model gateway: what it passes on, and that it frees the memory of large pieces. */
import { expect, test } from "bun:test";
import { createHash, randomBytes } from "node:crypto";
import { listen } from "./listener.ts";

const EVENTS = { headers: { "content-type": "text/event-stream" } };
const listenTo = (handler: () => Promise<Response>) =>
  listen(async (_, port = 0) => ({ host: "127.0.0.1", port, close() {} }), handler);
const streamOf = (pull: (controller: ReadableStreamDefaultController<Uint8Array>) => void, cancel?: () => void) =>
  new Response(new ReadableStream<Uint8Array>({ pull, ...(cancel ? { cancel } : {}) }), EVENTS);

test("a stream arrives whole, and each large piece of it is freed once it was sent", async () => {
  const sizes = [100, 131_072, 262_144, 40_000].flatMap((size) => Array<number>(20).fill(size));
  const [sent, arrived] = [createHash("sha256"), createHash("sha256")];
  const large: Uint8Array[] = [];
  let made = 0;
  const listener = await listenTo(async () =>
    streamOf((controller) => {
      const size = sizes[made++];
      if (size === undefined) return controller.close();
      const piece = new Uint8Array(randomBytes(size));
      sent.update(piece);
      if (size > 32_768) large.push(piece);
      controller.enqueue(piece);
    }),
  );
  try {
    const answer = await fetch(listener.url);
    for await (const piece of answer.body ?? []) arrived.update(piece);
    expect(arrived.digest("hex")).toBe(sent.digest("hex"));
    expect(large.filter(({ byteLength }) => byteLength > 0)).toEqual([]);
  } finally {
    await listener.close();
  }
});

test("a stream that breaks off does not end well for who reads it", async () => {
  let made = 0;
  const listener = await listenTo(async () =>
    streamOf((controller) => {
      if (made++ === 0) controller.enqueue(new Uint8Array(100_000));
      else controller.error(new Error("cut"));
    }),
  );
  try {
    const answer = await fetch(listener.url);
    expect(
      await answer.bytes().then(
        () => "ended well",
        () => "broke off",
      ),
    ).toBe("broke off");
  } finally {
    await listener.close();
  }
});

test("a reader that goes away ends the stream that it read", async () => {
  const cancelled = Promise.withResolvers<string>();
  const listener = await listenTo(async () =>
    streamOf(
      (controller) => controller.enqueue(new Uint8Array(100_000)),
      () => cancelled.resolve("cancelled"),
    ),
  );
  try {
    const leaves = new AbortController();
    const answer = await fetch(listener.url, { signal: leaves.signal });
    await answer.body?.getReader().read();
    leaves.abort();
    expect(await cancelled.promise).toBe("cancelled");
  } finally {
    await listener.close();
  }
});
