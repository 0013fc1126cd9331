/**
 * A31: 100 kB of text that makes patterns backtrack, in every text field of every operation. Others must be answered
 * meanwhile.
 */
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from "bun:test";
import { expectWork } from "../busy-machine.ts";
import { mainThreadMs } from "../main-thread.ts";
import { startServer, type TestServer } from "../server.ts";
import { createDice, createInputs, resolver, type Schema } from "./fuzz-input.ts";

// Thousands of requests in sequence, which a busy machine makes slow, not wrong.
setDefaultTimeout(300_000);

interface Operation {
  parameters?: { name: string; in: string; schema?: Schema }[];
  requestBody?: { content: Record<string, { schema?: Schema }> };
}
interface Document {
  paths: Record<string, Record<string, Operation>>;
  components: { schemas: Record<string, Schema> };
}

const LENGTH = 100_000;
/** Headers and addresses are limited to 16 kB, so the longest text that fits is used there. */
const IN_ADDRESS = 7_000;
/**
 * How much of the server's main thread one request may use, in ms. A pattern that backtracks takes minutes on any
 * machine.
 */
const COST_MS = 200;
const REPEATED = ["a", "a-", "A_", "0", "a.", "a@", " ", "/", "(", "a,", "\\", "${", "{{", "[[", "- a\n", "*", "é"];

let server: TestServer;
beforeAll(async () => {
  server = await startServer();
});
afterAll(() => server.remove());

const long = (piece: string, length: number): string =>
  `${piece.repeat(Math.ceil(length / piece.length)).slice(0, length - 1)}!`;

/** The names of an object's members that accept text, whatever else they accept. */
function textFields(schema: Schema | undefined, resolve: (ref: string) => Schema): string[] {
  const whole = schema?.$ref ? resolve(schema.$ref) : schema;
  const takesText = (one: Schema): boolean =>
    one.type === "string" || [...(one.anyOf ?? []), ...(one.items ? [one.items] : [])].some(takesText);
  return Object.entries(whole?.properties ?? {}).flatMap(([name, one]) => (takesText(one) ? [name] : []));
}

test("A31: no field of any operation lets long input stall the server", async () => {
  const { body: document } = await server.request<Document>("GET", "/openapi.json");
  const resolve = resolver(document);
  const dice = createDice(31);
  const inputs = createInputs(dice, {}, resolve);
  let worst = { ms: 0, what: "" };
  let sent = 0;
  const measure = async (what: string, method: string, path: string, body?: unknown) => {
    const before = mainThreadMs(server.pid);
    const leave = new AbortController();
    const answering = fetch(server.url + path, {
      method,
      redirect: "manual" as const,
      signal: leave.signal,
      ...(body === undefined ? {} : { body: JSON.stringify(body), headers: { "Content-Type": "application/json" } }),
    });
    // A neighbor's request: how long somebody else would have to wait.
    const [answer] = await Promise.all([answering, fetch(`${server.url}/healthz`)]);
    const ms = mainThreadMs(server.pid) - before;
    leave.abort();
    sent++;
    expect([what, answer.status < 500 || answer.status === 503]).toEqual([what, true]);
    if (ms > worst.ms) worst = { ms, what };
  };
  for (const [path, item] of Object.entries(document.paths))
    for (const [method, { parameters = [], requestBody }] of Object.entries(item)) {
      if (path.startsWith("/v1/auth/login") || path === "/v1/auth/setup" || path === "/v1/users") continue;
      const verb = method.toUpperCase();
      const schema = requestBody?.content["application/json"]?.schema;
      const plain = path.replace(/\{\w+\}/g, "x");
      const body = () => (schema ? (inputs.valid(schema) as Record<string, unknown>) : undefined);
      for (const { name, in: where } of parameters) {
        const text = encodeURIComponent(long(dice.pick(REPEATED), IN_ADDRESS / 3))
          .slice(0, IN_ADDRESS)
          .replace(/%.?$/, "");
        const address =
          where === "path" ? path.replace(`{${name}}`, text).replace(/\{\w+\}/g, "x") : `${plain}?${name}=${text}`;
        await measure(`${verb} ${path} ${where} ${name}`, verb, address, body());
      }
      for (const name of textFields(schema, resolve))
        for (const piece of [dice.pick(REPEATED), dice.pick(REPEATED)])
          await measure(`${verb} ${path} body ${name}`, verb, plain, { ...body(), [name]: long(piece, LENGTH) });
    }
  expect(sent).toBeGreaterThan(200);
  expectWork(worst.what, worst.ms, COST_MS);
}, 1_200_000);
