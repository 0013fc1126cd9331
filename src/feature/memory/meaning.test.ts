/** Search by meaning, against a provider of embeddings over its real wire protocol. Its vectors count concepts of words. */
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from "bun:test";
import { startServer, type TestServer } from "../../testing/server.ts";
import type { MemoryHit } from "./model.ts";
import { fuse } from "./search.ts";

setDefaultTimeout(300_000);

const CONCEPTS = [/dog|hound|puppy/g, /car|automobile|vehicle/g, /port|listen/g, /./g];
let asked: { model: string; input: string[] }[] = [];
let answer: "vectors" | "error" | "garbage" = "vectors";
const provider = Bun.serve({
  hostname: "127.0.0.1",
  port: 0,
  async fetch(request) {
    if (new URL(request.url).pathname !== "/v1/embeddings") return new Response("no", { status: 404 });
    const body = (await request.json()) as { model: string; input: string[] };
    asked.push(body);
    if (answer === "error") return Response.json({ error: { message: "out of order" } }, { status: 400 });
    const turned = body.model === "second" ? [...CONCEPTS].reverse() : CONCEPTS;
    const data = body.input.map((text, index) => ({
      object: "embedding",
      index,
      embedding:
        answer === "garbage"
          ? []
          : turned.map((words) => (words.source === "." ? 0.3 : (text.toLowerCase().match(words) ?? []).length)),
    }));
    return Response.json({ object: "list", model: body.model, data, usage: { prompt_tokens: 7, total_tokens: 7 } });
  },
});

let server: TestServer;
beforeAll(async () => {
  server = await startServer();
  const put = async (path: string, body: object) =>
    expect((await server.request("PUT", path, { body })).status).toBeLessThan(300);
  await put("/v1/settings/providers/custom-lab", {
    base_url: `http://127.0.0.1:${provider.port}/v1`,
    api_key: "sk-lab-0123456789",
  });
});
afterAll(async () => {
  await server.remove();
  await provider.stop(true);
});

const setModel = async (embedding: string | null) =>
  expect((await server.request("PUT", "/v1/settings", { body: { models: { embedding } } })).status).toBe(200);
const write = async (title: string, content: string) =>
  expect((await server.request("POST", "/v1/memory/vaults/lead/entries", { body: { title, content } })).status).toBe(
    201,
  );
const find = async (query: string) => {
  const { status, body } = await server.request<{ items: MemoryHit[] }>(
    "GET",
    `/v1/memory/search?query=${encodeURIComponent(query)}&limit=2`,
  );
  expect(status).toBe(200);
  return body.items.map(({ title }) => title);
};
/** Waits for the vectors, which are made in the background. A restart begins making them at once. */
async function untilEmbedded(model: string): Promise<void> {
  await server.stop();
  server = await startServer({ data: server.data });
  for (;;) {
    const { body } = await server.request<{ items: { kind: string; subject: string; state: string }[] }>(
      "GET",
      "/v1/jobs",
    );
    if (body.items.some((job) => job.kind === "embed_memory" && job.subject === model && job.state === "succeeded"))
      return;
    await Bun.sleep(30);
  }
}

test("finds what was said in other words, counts what it costs, and starts over when the model changes", async () => {
  await write("Hounds", "The hound of the house sleeps in the kitchen.");
  await write("Parking", "Every automobile is behind the barn.");
  await write("Bread", "Flour and water are all it takes.");
  expect(await find("Where is the puppy?")).toEqual([]);
  await setModel("custom-lab/first");
  await untilEmbedded("custom-lab/first");
  expect(asked.flatMap(({ input }) => input)).toContain("Hounds\nThe hound of the house sleeps in the kitchen.");
  // Entries with another meaning are not found.
  expect(await find("Where is the puppy?")).toEqual(["Hounds"]);
  expect(await find("my vehicle")).toEqual(["Parking"]);
  const hits = await server.request<{ items: MemoryHit[] }>("GET", "/v1/memory/search?query=puppy");
  expect(hits.body.items[0]?.parts.vector).toBeGreaterThan(0.9);
  const words = await server.request<{ items: MemoryHit[] }>("GET", "/v1/memory/search?query=flour");
  expect(words.body.items.find(({ title }) => title === "Bread")?.parts).toMatchObject({ text: expect.any(Number) });
  const { body } = await server.request<{ items: Record<string, unknown>[] }>("GET", "/v1/llm-calls");
  expect(body.items[0]).toMatchObject({
    purpose: "embedding",
    model: "custom-lab/first",
    input_tokens: 7,
  });
  // The vector of a repeated question is not requested again.
  const before = asked.length;
  await find("my vehicle");
  expect(asked).toHaveLength(before);
  asked = [];
  await setModel("custom-lab/second");
  await untilEmbedded("custom-lab/second");
  expect(asked.flatMap(({ input }) => input).length).toBeGreaterThanOrEqual(3);
  expect((await find("Where is the puppy?"))[0]).toBe("Hounds");
});

test("searches by words alone while the provider fails, or gives what is no vector", async () => {
  for (const way of ["error", "garbage"] as const) {
    answer = way;
    expect(await find(`flour ${way}`)).toEqual(["Bread"]);
  }
  answer = "vectors";
  await setModel(null);
  asked = [];
  expect(await find("puppy again")).toEqual([]);
  expect(asked).toEqual([]);
});

test("two orders become one: what both name comes first, and neither alone decides", () => {
  const fit = (entry: string) => ({ vault: "v", entry, position: 0, text: 9 });
  const order = fuse([fit("a"), fit("b")], [fit("b"), fit("c")]).sort((x, y) => y.text - x.text);
  expect(order.map(({ entry }) => entry)).toEqual(["b", "a", "c"]);
  expect(fuse([fit("a")], [fit("a")])[0]?.text).toBe(1);
});
