/** Idempotency keys with a real database, and a clock that the test sets. */
import { afterEach, beforeEach, expect, test } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { LIMITS } from "../core/limits.ts";
import { openStore, type Store } from "../store/store.ts";
import { OPEN_PROJECTS } from "../testing/open-projects.ts";
import { type Caller, LOCAL_ADMIN } from "./caller.ts";
import { createIdempotency, type Idempotency, type PendingKey } from "./idempotency.ts";

const ANN: Caller = { kind: "user", admin: false, projects: OPEN_PROJECTS, userId: "usr_ann" };
const BEN: Caller = { kind: "user", admin: false, projects: OPEN_PROJECTS, userId: "usr_ben" };
let now: number;
let folder: string;
let store: Store;
let keys: Idempotency;

beforeEach(() => {
  now = Date.parse("2026-03-01T00:00:00Z");
  folder = mkdtempSync(join(tmpdir(), "skep-idempotency-"));
  const clock = { now: () => now, monotonic: () => now };
  store = openStore({ path: join(folder, "skep.db"), clock });
  keys = createIdempotency(store, clock);
});
afterEach(() => {
  store.close();
  rmSync(folder, { recursive: true });
});

function begin(caller: Caller, { path = "/v1/runs", body = "{}", key = "k", method = "POST" } = {}) {
  const request = new Request(`http://skep.test${path}`, { method, headers: { "Idempotency-Key": key } });
  return keys.begin(request, path, Buffer.from(body), caller);
}
/** Answers the first request with the key. */
function answerFirst(caller: Caller): void {
  const pending = begin(caller) as PendingKey;
  keys.remember(pending, 201, "/v1/runs/run_1", { id: "run_1" });
  keys.end(pending);
}

test("a repeat gets the first answer; another caller or another path with the same key makes its own", async () => {
  answerFirst(ANN);
  const again = begin(ANN) as Response;
  expect([again.status, again.headers.get("location"), again.headers.get("idempotent-replayed")]).toEqual([
    201,
    "/v1/runs/run_1",
    "true",
  ]);
  expect(await again.json()).toEqual({ id: "run_1" });
  for (const other of [begin(BEN), begin(LOCAL_ADMIN), begin(ANN, { path: "/v1/projects" }), begin(ANN, { key: "l" })])
    expect(other).toMatchObject({ fingerprint: expect.any(String) });
});

test("the same key with another body is refused, and one whose first request is under way has to wait", () => {
  const pending = begin(ANN) as PendingKey;
  expect(() => begin(ANN)).toThrow("still in progress");
  keys.end(pending);
  // The request failed and created nothing, so the key is free again.
  answerFirst(ANN);
  expect(() => begin(ANN, { body: '{"a":1}' })).toThrow("another body");
});

test("an answer is kept for a day", () => {
  answerFirst(ANN);
  now += LIMITS.idempotencyKeepMs - 1;
  keys.prune();
  expect(begin(ANN)).toBeInstanceOf(Response);
  now++;
  expect(begin(ANN)).not.toBeInstanceOf(Response);
  now++;
  keys.prune();
  expect(store.sqlite.prepare("SELECT count(*) AS n FROM idempotency").get()).toEqual({ n: 0 });
});

test("counts for what makes something, and takes printable characters only", () => {
  expect(begin(ANN, { method: "PUT" })).toBeNull();
  expect(keys.begin(new Request("http://skep.test/", { method: "POST" }), "/", null, ANN)).toBeNull();
  for (const key of ["k".repeat(LIMITS.idempotencyKeyCharacters + 1), "é"])
    expect(() => begin(ANN, { key })).toThrow("printable characters");
});
