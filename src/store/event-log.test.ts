import { expect, test } from "bun:test";
import { systemClock, timestamp } from "../core/clock.ts";
import { LIMITS } from "../core/limits.ts";
import { createEventLog } from "./event-log.ts";
import { openStore } from "./store.ts";

test("events go once they are too old or too many, and no other", async () => {
  const store = openStore({ path: ":memory:", clock: systemClock });
  const log = createEventLog(store, systemClock);
  const insert = store.sqlite.prepare("INSERT INTO events (id, kind, at, data) VALUES (?, 'x', ?, '{}')");
  const ids = () => store.sqlite.prepare("SELECT id FROM events ORDER BY id").pluck().all();
  const now = Date.now();
  const [old, recent] = [timestamp(now - LIMITS.eventKeepMs - 60_000), timestamp(now)];
  for (let id = 1; id <= 450; id++) insert.run(id, old);
  for (let id = 451; id <= 460; id++) insert.run(id, recent);
  await log.prune();
  expect(ids()).toEqual([451, 452, 453, 454, 455, 456, 457, 458, 459, 460]);
  insert.run(455 + LIMITS.eventKeepRows, recent);
  await log.prune();
  expect(ids()).toEqual([456, 457, 458, 459, 460, 455 + LIMITS.eventKeepRows]);
  store.close();
});
