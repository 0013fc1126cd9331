/**
 * Old rows are removed in batches, between which other work runs. A failure in one feature does not stop the others.
 */
import { expect, test } from "bun:test";
import { DAY_MS, systemClock, toTimestamp } from "../../core/clock.ts";
import { LIMITS } from "../../core/limits.ts";
import { removeOld } from "../../store/remove-old.ts";
import { openStore } from "../../store/store.ts";
import { DEFAULT_SETTINGS } from "../settings/model.ts";
import { retentionDuty } from "./retention.ts";

const keep = () => ({ ...DEFAULT_SETTINGS.retention, audit_days: 30 });

test("a year's rows are removed in pieces, and others are served between them", async () => {
  const store = openStore({ path: ":memory:", clock: systemClock });
  const rows = 3 * LIMITS.pruneRows + 1;
  const insert = store.sqlite.prepare(
    "INSERT INTO audit (id, at, action, actor, data) VALUES (?, ?, 'login', 'local', '{}')",
  );
  const now = systemClock.now();
  store.write(() => {
    for (let n = 0; n < rows + 10; n++) insert.run(`aud_${n}`, toTimestamp(now - (n < 10 ? 1 : 31) * DAY_MS));
  });
  const count = () => Number(store.sqlite.prepare("SELECT count(*) FROM audit").pluck().get());
  const left: number[] = [];
  const prune = {
    keep: "audit_days" as const,
    run(before: number) {
      left.push(count());
      return removeOld(store, "audit", "at < ?", toTimestamp(before));
    },
  };
  let served = 0;
  const serve = () => {
    served = left.length;
  };
  setImmediate(serve);
  const { run } = retentionDuty({ clock: systemClock, keep, prunes: () => [prune] });
  await run(new AbortController().signal);
  expect(left).toEqual([0, 1, 2, 3].map((pieces) => rows + 10 - pieces * LIMITS.pruneRows));
  expect([count(), served]).toEqual([10, 1]);
  store.close();
});

test("one that fails is reported and keeps no other from its turn; a stop ends the round", async () => {
  const seen: string[] = [];
  const stop = new AbortController();
  const prunes = [
    { keep: 1, run: () => Promise.reject(new Error("the first")) },
    { keep: "backups_days" as const, run: () => seen.push("kept forever") },
    { keep: null, run: () => seen.push("second") },
    {
      keep: 1,
      run() {
        seen.push("stops");
        stop.abort();
        return true;
      },
    },
  ];
  const duty = retentionDuty({ clock: systemClock, keep, prunes: () => prunes });
  await expect(Promise.resolve(duty.run(stop.signal))).rejects.toThrow("the first");
  expect(seen).toEqual(["second", "stops"]);
});
