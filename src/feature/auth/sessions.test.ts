/** How long sessions last and how many there can be, on a clock that the test sets. */
import { afterEach, beforeEach, expect, test } from "bun:test";
import { randomBytes } from "node:crypto";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DAY_MS, toTimestamp } from "../../core/clock.ts";
import { LIMITS } from "../../core/limits.ts";
import { createAccessTokens } from "../../http/access-tokens.ts";
import { openStore, type Store } from "../../store/store.ts";
import { users } from "../../store/tables/accounts.ts";
import { createSessions, type Sessions } from "./sessions.ts";

const NOBODY = { kind: "bearer" } as const;
let now: number;
let folder: string;
let store: Store;
let sessions: Sessions;

beforeEach(() => {
  now = Date.parse("2026-03-01T00:00:00Z");
  folder = mkdtempSync(join(tmpdir(), "skep-sessions-"));
  const clock = { now: () => now, monotonic: () => now };
  store = openStore({ path: join(folder, "skep.db"), clock });
  const row = { display_name: "", role: "user", active: true, totp_enabled: false, totp_last_step: 0 } as const;
  const at = toTimestamp(now);
  for (const id of ["usr_1", "usr_2"])
    store.write(() =>
      store.rows(users).insert({ ...row, id, email: `${id}@example.test`, created_at: at, updated_at: at }),
    );
  sessions = createSessions({
    store,
    clock,
    audit: () => {},
    sealer: { seal: (text) => text, open: (text) => text },
    accessTokens: createAccessTokens(randomBytes(32), clock),
  });
});
afterEach(() => {
  store.close();
  rmSync(folder, { recursive: true });
});

const refreshOf = ({ answer }: Awaited<ReturnType<Sessions["open"]>>) =>
  (answer as { refresh_token: string }).refresh_token;
const refresh = async (token: string) =>
  ((await sessions.refresh(token, {})) as { refresh_token: string }).refresh_token;

test("a session that is not used ends after two weeks, one that is used after 90 days", async () => {
  const idle = refreshOf(await sessions.open("usr_1", NOBODY));
  now += LIMITS.sessionIdleMs;
  await expect(refresh(idle)).rejects.toMatchObject({ status: 401 });
  const started = now;
  let token = refreshOf(await sessions.open("usr_1", NOBODY));
  for (; now + 10 * DAY_MS < started + LIMITS.sessionAbsoluteMs; now += 10 * DAY_MS) token = await refresh(token);
  expect(now).toBeGreaterThan(started + 4 * LIMITS.sessionIdleMs);
  now = started + LIMITS.sessionAbsoluteMs;
  await expect(refresh(token)).rejects.toMatchObject({ status: 401 });
});

test("a cookie's session is extended by its use, and never beyond 90 days", async () => {
  const started = now;
  const cookie = (await sessions.open("usr_1", { kind: "cookie" })).cookie!;
  for (; now < started + LIMITS.sessionAbsoluteMs; now += 10 * DAY_MS)
    expect(sessions.byCookie(cookie)?.user.id).toBe("usr_1");
  now = started + LIMITS.sessionAbsoluteMs;
  expect(sessions.byCookie(cookie)).toBeUndefined();
});

test("a user has so many sessions; a new one ends the one that was unused for longest, and no other user's", async () => {
  const other = await sessions.open("usr_2", NOBODY);
  const tokens: string[] = [];
  for (let n = 0; n < LIMITS.sessionsPerUser; n++, now += 1_000)
    tokens.push(refreshOf(await sessions.open("usr_1", NOBODY)));
  tokens[0] = await refresh(tokens[0]!);
  now += 1_000;
  await sessions.open("usr_1", NOBODY);
  expect(sessions.list("usr_1", undefined)).toHaveLength(LIMITS.sessionsPerUser);
  await expect(refresh(tokens[1]!)).rejects.toMatchObject({ status: 401 });
  await refresh(tokens[0]!);
  await refresh(tokens[2]!);
  await refresh(refreshOf(other));
});

test("no token or cookie of a user who is switched off is taken", async () => {
  const opened = await sessions.open("usr_1", NOBODY);
  const { access_token } = opened.answer as { access_token: string };
  const cookie = (await sessions.open("usr_1", { kind: "cookie" })).cookie!;
  expect((await sessions.byAccessToken(access_token))?.user.id).toBe("usr_1");
  store.write(() => store.rows(users).update({ active: false }, { id: "usr_1" }));
  expect(await sessions.byAccessToken(access_token)).toBeUndefined();
  expect(sessions.byCookie(cookie)).toBeUndefined();
  await expect(refresh(refreshOf(opened))).rejects.toMatchObject({ status: 401 });
  await expect(sessions.open("usr_1", NOBODY)).rejects.toMatchObject({ status: 401 });
});
