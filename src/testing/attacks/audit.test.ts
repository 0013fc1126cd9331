/**
 * Changes of rights, money or stored data are audited: which action, by whom, and on what. No secret's value is
 * written.
 */
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from "bun:test";
import { type Account, enableTwoFactor, logIn, makeUser, PASSWORD, setupAdmin } from "../accounts.ts";
import { framesOf, framesUntil } from "../event-reader.ts";
import { startServer, type TestServer } from "../server.ts";

setDefaultTimeout(300_000);

const CANARY = "canary-of-the-audit-93b1";
const ASK = { id: "asks", name: "Asks", steps: [{ id: "ask", approval: { message: "Continue?" } }] };
let server: TestServer;
let admin: Account;
let user: Account;
beforeAll(async () => {
  server = await startServer({ env: { AUTH_ENABLED: "true", RATE_LIMIT: "0" } });
  admin = await setupAdmin(server);
  user = await makeUser(server, admin, "user@example.test");
});
afterAll(() => server.remove());

async function must<T = Record<string, string>>(
  who: Account,
  method: string,
  path: string,
  body?: unknown,
): Promise<T> {
  const answer = await server.request<T>(method, path, { token: who.token, body });
  if (answer.status >= 300)
    throw new Error(`${method} ${path} answered ${answer.status}: ${JSON.stringify(answer.body)}`);
  return answer.body;
}
const waitForEvent = (who: Account, query: string, kind: string) =>
  framesUntil(framesOf(server, `/v1/events/stream?after=0&${query}`, who.token), ({ event }) => event === kind);
/** Starts a run of the user that waits for an answer. */
async function waiting(): Promise<string> {
  const { id } = await must(user, "POST", "/v1/runs", { pipeline_id: "asks", task_description: "Ask" });
  await waitForEvent(user, `run_id=${id}`, "approval_requested");
  return id!;
}

/** Actions and how to cause them, in order. Each returns the subjects that the audit must contain. */
const ACTS: readonly [actions: string[], act: () => Promise<string[]>][] = [
  [
    ["user.updated"],
    async () => {
      await must(admin, "PUT", `/v1/users/${user.id}`, { display_name: "Ann" });
      return [user.id];
    },
  ],
  [
    ["api_key.created", "api_key.revoked"],
    async () => {
      const { id } = await must(user, "POST", "/v1/auth/api-keys", { name: "key" });
      await must(user, "DELETE", `/v1/auth/api-keys/${id}`);
      return [id!, id!];
    },
  ],
  [
    ["second_factor.enabled", "second_factor.disabled"],
    async () => {
      const { recovery } = await enableTwoFactor(server, user);
      await must(user, "POST", "/v1/auth/2fa/disable", { password: PASSWORD, recovery_code: recovery[0] });
      return [user.id, user.id];
    },
  ],
  [
    ["session.revoked"],
    async () => {
      await logIn(server, user.email);
      const { items } = await must<{ items: { id: string; current: boolean }[] }>(user, "GET", "/v1/auth/sessions");
      const { id } = items.find(({ current }) => !current)!;
      await must(user, "DELETE", `/v1/auth/sessions/${id}`);
      return [id];
    },
  ],
  [
    ["provider.updated", "user_provider_key.set", "user_provider_key.removed", "provider.removed"],
    async () => {
      const path = "/v1/settings/providers/custom-lab";
      await must(admin, "PUT", path, { base_url: "https://models.example.com/v1", api_key: CANARY });
      const own = "/v1/settings/user-providers/custom-lab";
      await must(user, "PUT", own, { api_key: CANARY });
      await must(user, "DELETE", own);
      await must(admin, "DELETE", path);
      return Array(4).fill("custom-lab");
    },
  ],
  [
    ["harness_login.set", "harness_login.removed"],
    async () => {
      const path = "/v1/settings/harness-logins/claude-code";
      await must(user, "PUT", path, { login: CANARY, agents: ["*"] });
      await must(user, "DELETE", path);
      return Array(2).fill("claude-code");
    },
  ],
  [
    ["cookies.created", "cookies.granted", "cookies.revoked", "cookies.deleted"],
    async () => {
      const form = new FormData();
      form.append("name", "shop");
      const row = [".shop.example.com", "TRUE", "/", "TRUE", "4102444800", "session", CANARY].join("\t");
      form.append("file", new File([`# Netscape HTTP Cookie File\n${row}\n`], "cookies.txt"));
      const { id } = await must(user, "POST", "/v1/browser/cookies", form);
      await must(user, "POST", `/v1/browser/cookies/agents/scribe/${id}/grant`);
      await must(user, "DELETE", `/v1/browser/cookies/agents/scribe/${id}`);
      await must(user, "DELETE", `/v1/browser/cookies/${id}`);
      return Array(4).fill(id);
    },
  ],
  [
    ["notification_channel.created", "notification_channel.changed", "notification_channel.deleted"],
    async () => {
      const url = `https://hooks.example.com/${CANARY}`;
      const { id } = await must(user, "POST", "/v1/notification-channels", { name: "hook", kind: "webhook", url });
      await must(user, "PUT", `/v1/notification-channels/${id}`, { enabled: false });
      await must(user, "DELETE", `/v1/notification-channels/${id}`);
      return Array(3).fill(id);
    },
  ],
  [
    ["messenger.created", "messenger.changed", "notification_channel.code", "messenger.deleted"],
    async () => {
      const bot = { kind: "telegram", name: "bot", token: CANARY, server: "https://telegram.invalid", enabled: false };
      const { id } = await must(admin, "POST", "/v1/messengers", bot);
      await must(admin, "PUT", `/v1/messengers/${id}`, { name: "another" });
      const link = { name: "chat", kind: "messenger", messenger_id: id };
      const channel = await must(user, "POST", "/v1/notification-channels", link);
      await must(user, "POST", `/v1/notification-channels/${channel["id"]}/code`);
      await must(admin, "DELETE", `/v1/messengers/${id}`);
      return [id!, id!, channel["id"]!, id!];
    },
  ],
  [
    ["project.deleted"],
    async () => {
      const { id } = await must(user, "POST", "/v1/projects", { name: "gone" });
      await must(admin, "DELETE", `/v1/projects/${id}`);
      return [id!];
    },
  ],
  [
    ["run.approval", "run.cancelled"],
    async () => {
      await must(admin, "POST", "/v1/pipelines", ASK);
      const [approved, cancelled] = [await waiting(), await waiting()];
      await must(user, "POST", `/v1/runs/${approved}/approve`, { step_id: "ask", approved: true });
      await must(user, "POST", `/v1/runs/${cancelled}/cancel`);
      return [approved, cancelled];
    },
  ],
  [
    ["agent.voice_updated"],
    async () => {
      await must(admin, "PUT", "/v1/agents/scribe/tts-settings", { speed: 1.5 });
      return ["scribe"];
    },
  ],
];

test("every change of accounts, keys, grants and work is in the audit with its actor and subject, without a value", async () => {
  interface Row {
    action: string;
    actor: string;
    subject: string;
  }
  const expected: [string, string][] = [
    ["setup.done", admin.id],
    ["user.created", user.id],
  ];
  for (const [actions, act] of ACTS) {
    const subjects = await act();
    expected.push(...actions.map((action, at): [string, string] => [action, subjects[at]!]));
  }
  const { items } = await must<{ items: Row[] }>(admin, "GET", "/v1/admin/audit?limit=200");
  for (const [action, subject] of expected) {
    const rows = items.filter((row) => row.action === action && row.subject === subject);
    expect([action, subject, rows.length]).toEqual([action, subject, 1]);
    expect([action, [user.id, admin.id].includes(rows[0]!.actor)]).toEqual([action, true]);
  }
  expect(JSON.stringify(items)).not.toContain(CANARY);
  expect((await server.request("GET", "/v1/admin/audit", { token: user.token })).status).toBe(403);
});
