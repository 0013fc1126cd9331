/** Masking of values of secrets that were replaced, deleted or damaged, over several starts of the server. */
import { afterEach, beforeEach, expect, test } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DAY_MS } from "../../core/clock.ts";
import { createMasking, type Masking } from "../../core/masking.ts";
import { createSealer } from "../../core/sealing.ts";
import { LOCAL_ADMIN } from "../../http/caller.ts";
import { openStore, type Store } from "../../store/store.ts";
import { createSecrets, type Secrets } from "./service.ts";
import { createSecretValues, type SecretValues } from "./values.ts";

let now: number;
let folder: string;
let store: Store;
let masking: Masking;
let values: SecretValues;
let secrets: Secrets;
let notices: string[];
let audited: string[];

/** Opens everything as a start of the server does. */
function open(key = 7): void {
  const clock = { now: () => now, monotonic: () => now };
  store = openStore({ path: join(folder, "skep.db"), clock });
  masking = createMasking();
  const notifications = {
    notify: ({ title }: { title: string }) => notices.push(title),
    resolve: () => notices.push("resolved"),
  };
  const sealer = createSealer(() => Buffer.alloc(32, key));
  values = createSecretValues({ store, clock, sealer, masking, notifications: notifications as never });
  const audit = ({ action, actor }: { action: string; actor: string }) => void audited.push(`${action} by ${actor}`);
  secrets = createSecrets({ store, clock, values, audit, agentExists: () => true, boundsOf: () => [] });
  values.load();
}
function restart(key?: number): void {
  store.close();
  open(key);
}
beforeEach(() => {
  now = Date.parse("2026-03-01T00:00:00Z");
  folder = mkdtempSync(join(tmpdir(), "skep-secret-values-"));
  [notices, audited] = [[], []];
  open();
});
afterEach(() => {
  store.close();
  rmSync(folder, { recursive: true });
});

const add = (name: string, value: string) => secrets.create({ name, value }, LOCAL_ADMIN);
const replace = (name: string, value: string) => secrets.update(name, { value }, LOCAL_ADMIN);
const isMasked = (value: string) => masking.text(value) === "[secret:KEY]";

test("a value that was replaced stays masked, also after a start, until it is pruned", () => {
  add("KEY", "first-value");
  replace("KEY", "second-value");
  for (const start of [() => {}, restart]) {
    start();
    expect(["first-value", "second-value"].map(isMasked)).toEqual([true, true]);
  }
  expect(values.prune(now)).toBe(false);
  expect(isMasked("first-value")).toBe(true);
  now += DAY_MS;
  values.prune(now);
  for (const start of [() => {}, restart]) {
    start();
    expect(["first-value", "second-value"].map(isMasked)).toEqual([false, true]);
  }
});

test("the newest 20 values of a secret are kept", () => {
  add("KEY", "value-number-0");
  for (let n = 1; n <= 22; n++, now += 1_000) replace("KEY", `value-number-${n}`);
  const masked = Array.from({ length: 23 }, (_, n) => isMasked(`value-number-${n}`));
  expect(masked).toEqual([false, false, ...Array<boolean>(21).fill(true)]);
});

test("a deleted secret is masked until the server ends", () => {
  add("KEY", "deleted-value");
  secrets.remove("KEY", LOCAL_ADMIN);
  expect(isMasked("deleted-value")).toBe(true);
  restart();
  expect(isMasked("deleted-value")).toBe(false);
});

test("secrets that cannot be opened are reported together, until each has a new value or is gone", () => {
  add("KEY", "first-value");
  add("OTHER", "other-value");
  restart(8);
  expect(notices).toEqual(["Secrets cannot be opened"]);
  expect(secrets.valueOf("KEY", "the test")).toBeUndefined();
  replace("KEY", "second-value");
  expect(notices.slice(1)).toEqual(["The secret OTHER cannot be opened"]);
  secrets.remove("OTHER", LOCAL_ADMIN);
  expect(notices.slice(2)).toEqual(["resolved"]);
  expect(secrets.valueOf("KEY", "the test")).toBe("second-value");
});

test("each reading of a value is audited", () => {
  add("KEY", "first-value");
  secrets.valueOf("KEY", "notifications");
  secrets.grant("KEY", "scribe", LOCAL_ADMIN);
  secrets.envOf("scribe", { actor: "engine" });
  expect(secrets.valueOf("NONE", "notifications")).toBeUndefined();
  expect(audited.filter((one) => one.includes("read"))).toEqual([
    "secret.value_read by notifications",
    "secret.env_read by engine",
  ]);
});
