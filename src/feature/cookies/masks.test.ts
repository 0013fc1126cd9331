import { afterEach, beforeEach, expect, test } from "bun:test";
import { randomBytes } from "node:crypto";
import { systemClock } from "../../core/clock.ts";
import { LIMITS } from "../../core/limits.ts";
import { createMasking } from "../../core/masking.ts";
import { createSealer } from "../../core/sealing.ts";
import { LOCAL_ADMIN } from "../../http/caller.ts";
import { createAudit } from "../../store/audit.ts";
import { openStore, type Store } from "../../store/store.ts";
import type { Cookie } from "./netscape.ts";
import { createCookies } from "./service.ts";

const VALUE = "session-5d1e0f9a77c3";
const cookie = (value: string): Cookie => ({
  domain: "example.com",
  includeSubdomains: false,
  path: "/",
  secure: true,
  httpOnly: true,
  expiresAt: null,
  name: "sid",
  value,
});

let store: Store;
const key = randomBytes(32);
const sealer = createSealer(() => key);
beforeEach(() => {
  store = openStore({ path: ":memory:", clock: systemClock });
});
afterEach(() => store.close());

/** The feature's service, as after a start of the server. */
function start() {
  const masking = createMasking();
  const audit = createAudit(store, systemClock);
  return {
    masking,
    cookies: createCookies({
      store,
      clock: systemClock,
      sealer,
      audit,
      masking,
      agentExists: () => true,
      boundsOf: () => [],
    }),
  };
}

test("a granted cookie's value is masked from the grant on, encoded ones too, and after a restart", async () => {
  const first = start();
  const { id } = first.cookies.create("shop", [cookie(VALUE), cookie("en-US")], LOCAL_ADMIN);
  expect(first.masking.text(VALUE)).toBe(VALUE);
  await first.cookies.grant(id, "scribe", LOCAL_ADMIN);
  const second = start();
  for (const { masking } of [first, second]) {
    expect(masking.text(`sid=${VALUE}; lang=en-US`)).toBe("sid=[secret:cookie]; lang=en-US");
    expect(masking.text(btoa(VALUE))).not.toContain(btoa(VALUE).slice(4, -4));
  }
  first.cookies.revoke(id, "scribe", LOCAL_ADMIN);
  expect(first.masking.text(VALUE)).toBe("[secret:cookie]");
});

test("a damaged set keeps no server from starting", async () => {
  const { cookies } = start();
  const { id } = cookies.create("shop", [cookie(VALUE)], LOCAL_ADMIN);
  await cookies.grant(id, "scribe", LOCAL_ADMIN);
  store.sqlite.prepare("UPDATE cookie_sets SET sealed = substr(sealed, 5)").run();
  expect(start().cookies.get(id, LOCAL_ADMIN).name).toBe("shop");
});

test("more cookies than can be masked are not granted", async () => {
  const { cookies } = start();
  const many = Array.from({ length: LIMITS.cookiesGrantedPerUser }, (_, n) => cookie(`value-number-${n}`));
  const sets = [many, [cookie(VALUE)]].map((set, n) => cookies.create(`set ${n}`, set, LOCAL_ADMIN).id);
  await cookies.grant(sets[0]!, "scribe", LOCAL_ADMIN);
  await expect(cookies.grant(sets[1]!, "scribe", LOCAL_ADMIN)).rejects.toMatchObject({ status: 409 });
  await cookies.grant(sets[0]!, "engineer", LOCAL_ADMIN);
  expect(cookies.get(sets[1]!, LOCAL_ADMIN).granted_agents).toEqual([]);
});
