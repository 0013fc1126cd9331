/** Operations as they are served: input validated, answer shaped, and sent with the declared status. */
import { describe, expect, test } from "bun:test";
import { Type as t } from "@sinclair/typebox";
import pino from "pino";
import { OPEN_PROJECTS } from "../testing/open-projects.ts";
import { ANONYMOUS } from "./caller.ts";
import { defineOperation, type Operation, tagOperations } from "./operation.ts";
import { createPerform, type PerformDeps } from "./perform.ts";
import { createRouteTable } from "./route-table.ts";
import { scopeDenial } from "./scopes.ts";

const Person = t.Object({ name: t.String(), born: t.Union([t.String(), t.Null()]) });
const ada = { name: "Ada", born: null };

function deps(checkAnswers: boolean): PerformDeps {
  const refuse = () => {
    throw new Error("not needed here");
  };
  const idempotency = { begin: () => null, remember: refuse, done: refuse, prune: refuse } as never;
  const log = pino({ level: "silent" });
  const masking = { text: (text: string) => text };
  const store = { write: (work: (tx: never) => unknown) => work(undefined as never) } as never;
  return { log, masking, store, idempotency, checkAnswers, assertRole: () => {} };
}

const tableOf = (list: readonly Operation[], checkAnswers = true) =>
  createRouteTable(
    [{ owner: "people", routes: list }],
    (operation) => createPerform(operation, deps(checkAnswers)),
    () => {},
  );

async function ask(list: readonly Operation[], method: string, path: string, body?: unknown, checkAnswers = true) {
  const url = new URL(`http://skep.internal${path}`);
  const request = new Request(url.href, { method });
  const bytes = body === undefined ? null : new TextEncoder().encode(JSON.stringify(body));
  const known = { caller: ANONYMOUS, requestId: "req_test", pending: null, bytes, form: null };
  const response = await tableOf(list, checkAnswers).dispatch(request, (route, params) =>
    route.perform({ request, path: url.pathname, query: url.searchParams, params, ...known }),
  );
  const text = (await response?.text()) ?? "";
  return { status: response?.status ?? 0, body: text === "" ? undefined : JSON.parse(text) };
}

describe("an operation", () => {
  const people = tagOperations("people", [
    defineOperation("getPerson", "GET /people/:name", {
      access: "public",
      answer: Person,
      summary: "One",
      handler: ({ params }) => ({ ...ada, name: params.name, password_hash: "argon2" }),
    }),
    defineOperation("getBad", "GET /bad", {
      access: "public",
      answer: Person,
      summary: "Bad",
      handler: () => ({ name: 1 }) as never,
    }),
    defineOperation("echoPerson", "POST /people", {
      access: "public",
      strict: true,
      body: Person,
      answer: Person,
      summary: "Echo",
      handler: ({ body }) => body,
    }),
    defineOperation("removePerson", "DELETE /people/:name", {
      access: "public",
      answer: 204,
      summary: "Gone",
      handler: () => {},
    }),
  ]);

  test("answers what its schema names, and nothing else of a row", async () => {
    expect(await ask(people, "GET", "/people/Ada")).toEqual({ status: 200, body: ada });
    expect(await ask(people, "DELETE", "/people/Ada")).toEqual({ status: 204, body: undefined });
  });

  test("remembers for a repeat what it answers, and nothing else of a row", async () => {
    const kept: unknown[] = [];
    const make = defineOperation("makePerson", "POST /made", {
      access: "public",
      answer: { 201: Person },
      summary: "Make",
      handler: ({ answer }) => answer.created("/people/:name", () => ({ ...ada, password_hash: "argon2" })),
    });
    const idempotency = { remember: (...[, , place, body]: unknown[]) => kept.push(place, body) } as never;
    const asked = { caller: ANONYMOUS, request: new Request("http://skep.internal/made", { method: "POST" }) };
    const rest = { requestId: "req_test", path: "/made", bytes: null, form: null, params: {} };
    const pending = { key: "k", fingerprint: "f" };
    const perform = createPerform(make, { ...deps(true), idempotency });
    const answer = await perform({ ...asked, ...rest, pending, query: new URLSearchParams() });
    expect([answer.status, await answer.json(), ...kept]).toEqual([201, ada, "/people/Ada", ada]);
  });

  test("whose answer does not match its schema is a 500 where answers are checked", async () => {
    expect((await ask(people, "GET", "/bad")).status).toBe(500);
    expect((await ask(people, "GET", "/bad", undefined, false)).status).toBe(200);
  });

  test("reads a strict body to the last member, and says what is wrong with it", async () => {
    expect(await ask(people, "POST", "/people", ada)).toEqual({ status: 200, body: ada });
    for (const wrong of [{ ...ada, name: 1 }, { name: "Ada" }])
      expect((await ask(people, "POST", "/people", wrong)).status).toBe(422);
  });

  test("has a route that is a method and a path, and a name of its own", () => {
    expect(() => defineOperation("a", "FETCH /a" as never, { access: "public", handler: () => undefined })).toThrow(
      "FETCH /a",
    );
    const twice = ["/a", "/b"].map((path) =>
      defineOperation("same", `GET ${path}` as "GET /", { access: "public", handler: () => {} }),
    );
    expect(() => tableOf(twice).entries).toThrow("GET /b");
  });
});

test("what an operation asks of a key's scopes follows from method and access, unless it says so", () => {
  const isAllowed = (scopes: string[], asked: Parameters<typeof scopeDenial>[1]) =>
    scopeDenial({ kind: "user", admin: true, projects: OPEN_PROJECTS, scopes }, asked) === undefined;
  const table: [asked: Parameters<typeof scopeDenial>[1], enough: string[], lacking: string[]][] = [
    [{ method: "GET", access: "user" }, ["read", "runs", "write", "admin"], []],
    [{ method: "POST", access: "user" }, ["write", "admin"], ["read", "runs"]],
    [{ method: "POST", access: "user", scope: "runs" }, ["runs", "write", "admin"], ["read"]],
    [{ method: "POST", access: "user", scope: "read" }, ["read", "runs", "write", "admin"], []],
    [{ method: "POST", access: "user", scope: "publish" }, ["publish", "admin"], ["read", "runs", "write"]],
    [{ method: "POST", access: "user", scope: "inner" }, ["read", "runs", "write", "publish", "admin"], []],
    [{ method: "PUT", access: "admin" }, ["admin"], ["read", "runs", "write"]],
    [{ method: "POST", access: "user", scope: "accounts" }, [], ["read", "runs", "write", "admin"]],
  ];
  for (const [asked, enough, lacking] of table) {
    for (const scope of enough) expect([asked, scope, isAllowed([scope], asked)]).toEqual([asked, scope, true]);
    for (const scope of lacking) expect([asked, scope, isAllowed([scope], asked)]).toEqual([asked, scope, false]);
  }
  expect(isAllowed([], { method: "GET", access: "user" })).toBe(false);
});
