import { expect, test } from "bun:test";
import { DAY_MS, systemClock, toTimestamp } from "../core/clock.ts";
import { LIMITS } from "../core/limits.ts";
import { createEventLog } from "./event-log.ts";
import { openStore } from "./store.ts";

const KEEP_MS = 14 * DAY_MS;

test("events go once they are too old or too many, and no other", () => {
  const store = openStore({ path: ":memory:", clock: systemClock });
  const log = createEventLog(store);
  const insert = store.sqlite.prepare("INSERT INTO events (id, kind, at, data) VALUES (?, 'x', ?, '{}')");
  const ids = () => store.sqlite.prepare("SELECT id FROM events ORDER BY id").pluck().all();
  const now = Date.now();
  const [old, recent] = [toTimestamp(now - KEEP_MS - 60_000), toTimestamp(now)];
  for (let id = 1; id <= 4_500; id++) insert.run(id, old);
  for (let id = 4_501; id <= 4_510; id++) insert.run(id, recent);
  const prune = () => {
    while (log.prune(now - KEEP_MS));
  };
  prune();
  expect(ids()).toEqual([4501, 4502, 4503, 4504, 4505, 4506, 4507, 4508, 4509, 4510]);
  insert.run(4_505 + LIMITS.eventKeepRows, recent);
  prune();
  expect(ids()).toEqual([4506, 4507, 4508, 4509, 4510, 4505 + LIMITS.eventKeepRows]);
  store.close();
});
