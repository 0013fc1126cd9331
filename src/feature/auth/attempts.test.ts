import { describe, expect, test } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { isProblem } from "../../core/errors.ts";
import { LIMITS } from "../../core/limits.ts";
import { createLog } from "../../process/log.ts";
import { openStore, type Store } from "../../store/store.ts";
import { createAttempts } from "./attempts.ts";

const log = createLog({ logLevel: "silent" });
const at = { now: 1_800_000_000_000 };
const clock = { now: () => at.now, monotonic: () => at.now };

function withStore(use: (store: Store, reopen: () => Store) => void): void {
  const folder = mkdtempSync(join(tmpdir(), "skep-attempts-"));
  const open = () => openStore({ path: join(folder, "skep.db"), clock });
  let store = open();
  try {
    use(store, () => {
      store.close();
      store = open();
      return store;
    });
  } finally {
    store.close();
    rmSync(folder, { recursive: true });
  }
}
const lockedFor = (begin: () => unknown): number => {
  try {
    begin();
    return 0;
  } catch (error) {
    if (!isProblem(error)) throw error;
    return Number(error.extras.headers?.["Retry-After"]);
  }
};

describe("wrong tries", () => {
  test("lock for a quarter of an hour after ten, and for no longer", () => {
    withStore((store) => {
      const attempts = createAttempts({ store, clock, log });
      for (let one = 0; one < LIMITS.loginFailures; one++) attempts.begin("a").fail();
      expect(lockedFor(() => attempts.begin("a"))).toBe(LIMITS.loginLockMs / 1_000);
      expect(lockedFor(() => attempts.begin("b"))).toBe(0);
      at.now += LIMITS.loginLockMs;
      expect(lockedFor(() => attempts.begin("a"))).toBe(0);
    });
  });

  test("count while they are being checked: no more are open at once than may fail", () => {
    withStore((store) => {
      const attempts = createAttempts({ store, clock, log });
      const open = Array.from({ length: LIMITS.loginFailures }, () => attempts.begin("a"));
      expect(lockedFor(() => attempts.begin("a"))).toBe(1);
      open[0]!.release();
      expect(lockedFor(() => attempts.begin("a"))).toBe(0);
    });
  });

  test("are not given back by a restart, a rollback, or a database that takes no writes", () => {
    withStore((store, reopen) => {
      const attempts = createAttempts({ store, clock, log });
      for (let one = 0; one < 4; one++) attempts.begin("a").fail();
      const reopened = reopen();
      const second = createAttempts({ store: reopened, clock, log });
      for (let one = 0; one < 3; one++) {
        expect(() =>
          reopened.write(() => {
            second.begin("a").fail();
            throw new Error("rolled back");
          }),
        ).toThrow("rolled back");
      }
      const busy = () => {
        throw Object.assign(new Error("database is locked"), { code: "SQLITE_BUSY" });
      };
      const broken = createAttempts({ store: { ...reopened, write: busy }, clock, log });
      for (let one = 0; one < 6; one++) broken.begin("a").fail();
      expect(lockedFor(() => broken.begin("a"))).toBeGreaterThan(0);
      for (let one = 0; one < 3; one++) second.begin("a").fail();
      expect(lockedFor(() => second.begin("a"))).toBeGreaterThan(0);
    });
  });

  test("end for good when the lock is cleared", () => {
    withStore((store, reopen) => {
      const attempts = createAttempts({ store, clock, log });
      for (let one = 0; one < LIMITS.loginFailures; one++) attempts.begin("a").fail();
      attempts.clear("a");
      expect(lockedFor(() => attempts.begin("a"))).toBe(0);
      const reopened = createAttempts({ store: reopen(), clock, log });
      expect(lockedFor(() => reopened.begin("a"))).toBe(0);
    });
  });

  test("are forgotten after a right one, and when they are old", () => {
    withStore((store) => {
      const attempts = createAttempts({ store, clock, log });
      for (let one = 0; one < 9; one++) attempts.begin("a").fail();
      attempts.begin("a").succeed();
      for (let one = 0; one < 9; one++) attempts.begin("a").fail();
      at.now += LIMITS.loginFailureWindowMs + 1;
      attempts.begin("a").fail();
      expect(lockedFor(() => attempts.begin("a"))).toBe(0);
      at.now += LIMITS.loginFailureWindowMs + LIMITS.loginLockMs + 1;
      attempts.prune();
      expect(store.sqlite.prepare("SELECT count(*) AS n FROM login_failures").get()).toEqual({ n: 0 });
    });
  });
});
