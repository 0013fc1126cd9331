/** Notifications that leave the server, sent to real receivers: HTTP listeners and a mail server on this machine. */
import { Database } from "bun:sqlite";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "bun:test";
import { createHmac } from "node:crypto";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { SMTPServer } from "smtp-server";
import { type Account, makeUser, setupAdmin } from "../../testing/accounts.ts";
import { inbox, openReceiver } from "../../testing/receiver.ts";
import { startServer, type TestServer } from "../../testing/server.ts";
import type { NotificationChannelMade, NotificationDelivery } from "./model.ts";

const mails = inbox<{ to: string[]; text: string; user: string | undefined }>();
let refuseMail = false;
const smtp = new SMTPServer({
  allowInsecureAuth: true,
  disabledCommands: ["STARTTLS"],
  logger: false,
  onAuth: ({ username, password }, _session, done) =>
    password === "smtp-pass-51c0" ? done(null, { user: username }) : done(new Error("no")),
  onRcptTo: (_address, _session, done) =>
    refuseMail ? done(Object.assign(new Error("no such mailbox"), { responseCode: 550 })) : done(),
  onData(stream, session, done) {
    let text = "";
    stream.on("data", (chunk) => {
      text += chunk;
    });
    stream.on("end", () => {
      mails.put({ to: session.envelope.rcptTo.map(({ address }) => address), text, user: session.user as string });
      done();
    });
  },
});

const PIPELINE = {
  id: "gate",
  name: "Gate",
  steps: [{ id: "ask", approval: { message: "Ship it with topsecret-canary-77?" } }],
};
let server: TestServer;
let admin: Account;
let a: Account;
let b: Account;
let receiver: ReturnType<typeof openReceiver>;
beforeAll(async () => {
  await new Promise<void>((up) => void smtp.listen(0, "127.0.0.1", up));
  const { port } = smtp.server.address() as { port: number };
  server = await startServer({
    env: {
      AUTH_ENABLED: "true",
      NOTIFY_ALLOW: "127.0.0.1",
      PUBLIC_URL: "https://skep.example.org",
      SMTP_URL: `smtp://skep:smtp-pass-51c0@127.0.0.1:${port}`,
      SMTP_FROM: "skep@example.org",
    },
  });
  admin = await setupAdmin(server);
  a = await makeUser(server, admin, "a@example.test");
  b = await makeUser(server, admin, "b@example.test");
  const made = await by(admin, "POST", "/v1/pipelines", PIPELINE);
  expect([made.status, made.body]).toEqual([201, expect.anything()]);
  await by(admin, "POST", "/v1/secrets", { name: "CANARY", env_key: "CANARY", value: "topsecret-canary-77" });
  receiver = openReceiver();
});
afterAll(async () => {
  await server?.remove();
  await receiver?.close();
  await new Promise<void>((done) => smtp.close(() => done()));
});

const by = <T = Record<string, unknown>>(who: Account, method: string, path: string, body?: unknown) =>
  server.request<T>(method, path, { token: who.token, ...(body === undefined ? {} : { body }) });
const PATH = "/v1/notification-channels";
const made: [Account, string][] = [];
async function channel(who: Account, input: Record<string, unknown>): Promise<NotificationChannelMade> {
  const answer = await by<NotificationChannelMade>(who, "POST", PATH, { name: "mine", ...input });
  expect([answer.status, answer.body]).toEqual([201, expect.anything()]);
  made.push([who, answer.body.id]);
  return answer.body;
}
afterEach(async () => {
  for (const [who, id] of made.splice(0)) await by(who, "DELETE", `${PATH}/${id}`);
  receiver.status = 200;
  receiver.waiting.length = 0;
});
const run = async (who: Account, task = "Release 2.0") =>
  (await by(who, "POST", "/v1/runs", { pipeline_id: "gate", task_description: task })).body["id"] as string;
const reject = (who: Account, id: string) =>
  by(who, "POST", `/v1/runs/${id}/approve`, { step_id: "ask", approved: false, comment: "Not yet" });
const deliveries = async (who: Account, id: string) =>
  (await by<{ items: NotificationDelivery[] }>(who, "GET", `${PATH}/${id}/deliveries`)).body.items;
/** Waits until the newest delivery is in that state. */
async function waitForState(who: Account, id: string, state: string): Promise<NotificationDelivery> {
  for (;;) {
    const [newest] = await deliveries(who, id);
    if (newest?.state === state) return newest;
    await Bun.sleep(20);
  }
}

describe("a webhook", () => {
  test("receives that a run waits, then that it failed: signed, with the run's address, secrets masked", async () => {
    const { id, secret, ...shown } = await channel(a, { kind: "webhook", url: `${receiver.url}/hook/s3cret-path` });
    expect(shown).toMatchObject({
      target: `${receiver.url}/…`,
      last_sent_at: null,
      on: ["waiting", "failed", "ended"],
    });
    const runId = await run(a);
    const waits = await receiver.next();
    const { type, data } = JSON.parse(waits.body);
    expect([waits.path, type]).toEqual(["/hook/s3cret-path", "run_waiting"]);
    expect(data).toMatchObject({
      run_id: runId,
      status: "waiting",
      title: "Waits for you: Release 2.0",
      pipeline_id: "gate",
      url: `https://skep.example.org/runs/${runId}`,
    });
    expect(data.text).toContain("Ship it with [secret:CANARY]?");
    const [messageId, at] = [waits.headers.get("webhook-id"), waits.headers.get("webhook-timestamp")];
    const key = Buffer.from(secret!.replace("whsec_", ""), "base64");
    const signature = createHmac("sha256", key).update(`${messageId}.${at}.${waits.body}`).digest("base64");
    expect(waits.headers.get("webhook-signature")).toBe(`v1,${signature}`);
    expect(Math.abs(Number(at) * 1_000 - Date.now())).toBeLessThan(300_000);

    await reject(a, runId);
    expect(JSON.parse((await receiver.next()).body)).toMatchObject({ type: "run_failed", data: { status: "failed" } });
    expect(await waitForState(a, id, "sent")).toMatchObject({ event: "run_failed", attempts: 1, error: null });
    expect((await by(a, "GET", `${PATH}/${id}`)).body).toMatchObject({
      last_error: null,
      last_sent_at: expect.any(String),
    });
    for (const file of ["skep.db", "skep.db-wal"]) {
      const bytes = readFileSync(join(server.data, file));
      for (const value of ["s3cret-path", secret!.slice(6)])
        expect([value, bytes.includes(value)]).toEqual([value, false]);
    }
  });

  test("that answers 503 gets it again, with the same id; one that answers 404 is not tried again", async () => {
    const { id } = await channel(a, { kind: "webhook", url: receiver.url, on: ["waiting"] });
    receiver.status = 503;
    const first = await run(a);
    const attempt = await receiver.next();
    receiver.status = 200;
    const again = await receiver.next();
    expect(again.headers.get("webhook-id")).toBe(attempt.headers.get("webhook-id"));
    expect(await waitForState(a, id, "sent")).toMatchObject({ run_id: first, attempts: 2 });
    receiver.status = 404;
    await run(a);
    expect(await waitForState(a, id, "failed")).toMatchObject({ attempts: 1, error: "The receiver answered 404." });
    expect((await by(a, "GET", `${PATH}/${id}`)).body).toMatchObject({ last_error: "The receiver answered 404." });
  }, 300_000);

  test("is not followed to another address", async () => {
    const { id } = await channel(a, { kind: "webhook", url: receiver.url });
    receiver.status = 302;
    const { body } = await by<NotificationDelivery>(a, "POST", `${PATH}/${id}/test`);
    expect(body).toMatchObject({ state: "failed", error: expect.stringContaining("302, a redirect") });
  });
});

describe("whose runs", () => {
  test("a user's channel is for that user's runs alone, and an administrator's for everyone's when it says so", async () => {
    const [one, other] = [openReceiver(), openReceiver()];
    try {
      await channel(b, { kind: "webhook", url: one.url });
      await channel(admin, { kind: "webhook", url: other.url, whose: "everyone", on: ["waiting"] });
      const ofA = await run(a);
      expect(JSON.parse((await other.next()).body).data.run_id).toBe(ofA);
      const ofB = await run(b);
      expect(JSON.parse((await one.next()).body).data.run_id).toBe(ofB);
      expect(one.waiting).toEqual([]);
    } finally {
      await Promise.all([one.close(), other.close()]);
    }
  });

  test("a channel for a project gets nothing of others; it goes with the project", async () => {
    const project = (await by(a, "POST", "/v1/projects", { name: "notified" })).body["id"] as string;
    const { id } = await channel(a, { kind: "webhook", url: receiver.url, on: ["waiting"], project_id: project });
    await run(a);
    const body = { pipeline_id: "gate", task_description: "in it", project_name: "notified" };
    const inside = (await by(a, "POST", "/v1/runs", body)).body["id"] as string;
    expect(JSON.parse((await receiver.next()).body).data).toMatchObject({ run_id: inside, project_id: project });
    await reject(a, inside);
    expect((await by(admin, "DELETE", `/v1/projects/${project}`)).status).toBe(204);
    expect((await by(a, "GET", `${PATH}/${id}`)).status).toBe(404);
  });

  test("what a killed server had not sent is sent by the next one, once", async () => {
    let own = await startServer({ env: { NOTIFY_ALLOW: "127.0.0.1" } });
    try {
      await own.request("POST", "/v1/pipelines", { body: PIPELINE });
      const hook = { name: "x", kind: "webhook", url: receiver.url };
      const { body } = await own.request<NotificationChannelMade>("POST", PATH, { body: hook });
      const input = { pipeline_id: "gate", task_description: "Before" };
      const { id } = (await own.request<{ id: string }>("POST", "/v1/runs", { body: input })).body;
      const first = await receiver.next();
      await own.stop("SIGKILL");
      // Restores the state before the event was handled.
      const db = new Database(join(own.data, "skep.db"));
      for (const sql of ["DELETE FROM notification_deliveries", "UPDATE notification_position SET event_id = 0"])
        db.run(sql);
      db.close();
      for (const start of ["made up for", "not again"]) {
        own = await startServer({ data: own.data, env: { NOTIFY_ALLOW: "127.0.0.1" } });
        const list = () => own.request<{ items: NotificationDelivery[] }>("GET", `${PATH}/${body.id}/deliveries`);
        if (start === "made up for") {
          const late = await receiver.next();
          expect(JSON.parse(late.body).data.run_id).toBe(id);
          expect(late.headers.get("webhook-id")).not.toBe(first.headers.get("webhook-id"));
          while ((await list()).body.items[0]?.state !== "sent") await Bun.sleep(20);
        }
        expect((await list()).body.items).toMatchObject([{ run_id: id, state: "sent", attempts: 1 }]);
        await own.stop();
      }
      expect(receiver.waiting).toEqual([]);
    } finally {
      await own.remove();
    }
  }, 300_000);
});

describe("ntfy", () => {
  test("receives JSON with topic, title, priority, link and token", async () => {
    const input = { kind: "ntfy", url: `${receiver.url}/base/my-topic`, token: "tk_canary_81b2", on: ["waiting"] };
    const { target } = await channel(a, input);
    expect(target).toBe(`${receiver.url}/…`);
    const runId = await run(a, "Grüße\r\nX-Evil: 1");
    const { path, headers, body } = await receiver.next();
    expect([path, headers.get("authorization")]).toEqual(["/base/", "Bearer tk_canary_81b2"]);
    expect(JSON.parse(body)).toMatchObject({
      topic: "my-topic",
      title: "Waits for you: Grüße",
      priority: 4,
      click: `https://skep.example.org/runs/${runId}`,
    });
  });
});

describe("Gotify and Apprise", () => {
  test("receive what their APIs name: message, priority, link and token; title, body, type", async () => {
    const gotify = { kind: "gotify", url: `${receiver.url}/gotify/`, token: "A_canary_5d20", on: ["waiting"] };
    const { target } = await channel(a, gotify);
    expect(target).toBe(`${receiver.url}/…`);
    const first = await run(a, "Release 3.0");
    const page = `https://skep.example.org/runs/${first}`;
    const { path, headers, body } = await receiver.next();
    expect([path, headers.get("x-gotify-key")]).toEqual(["/gotify/message", "A_canary_5d20"]);
    expect(JSON.parse(body)).toMatchObject({
      title: "Waits for you: Release 3.0",
      priority: 8,
      extras: { "client::notification": { click: { url: page } } },
    });
    for (const [who, id] of made.splice(0)) await by(who, "DELETE", `${PATH}/${id}`);
    await channel(a, { kind: "apprise", url: `${receiver.url}/notify/home`, on: ["failed"] });
    await reject(a, first);
    const apprised = await receiver.next();
    expect(apprised.path).toBe("/notify/home");
    expect(JSON.parse(apprised.body)).toMatchObject({ title: "Failed: Release 3.0", type: "failure", format: "text" });
    expect(JSON.parse(apprised.body).body).toContain(page);
  });

  test("private addresses are opened for notifications by NOTIFY_ALLOW, and not by what opens agents' fetch", async () => {
    const other = await startServer({ env: { FETCH_ALLOW: "127.0.0.1", NOTIFY_ALLOW: "127.0.0.2" } });
    try {
      const answers = ["127.0.0.1", "127.0.0.2"].map((host) =>
        other.request("POST", PATH, { body: { name: "x", kind: "webhook", url: `http://${host}/` } }),
      );
      const [refused, taken] = await Promise.all(answers);
      expect([refused!.status, refused!.body["detail"]]).toEqual([422, expect.stringContaining("NOTIFY_ALLOW")]);
      expect(taken!.status).toBe(201);
    } finally {
      await other.remove();
    }
  });
});

describe("mail", () => {
  test("goes to the account's own address through the operator's server; others are for administrators", async () => {
    const { id, target } = await channel(a, { kind: "mail", on: ["waiting"] });
    expect(target).toBe("a@example.test");
    const runId = await run(a, "Grüße an alle");
    const { to, text, user } = await mails.next();
    expect([to, user]).toEqual([["a@example.test"], "skep"]);
    expect(text).toMatch(/^From: skep@example\.org\r$/m);
    expect(text).toMatch(/^Auto-Submitted: auto-generated\r$/m);
    expect(text.replaceAll("=\r\n", "")).toContain(`https://skep.example.org/runs/${runId}`);
    expect((await waitForState(a, id, "sent")).attempts).toBe(1);
    const foreign = { name: "x", kind: "mail", to: "b@example.test" };
    expect((await by(a, "POST", PATH, foreign)).status).toBe(403);
    expect((await by(a, "PUT", `${PATH}/${id}`, { to: "b@example.test" })).status).toBe(403);
    const { id: theirs } = await channel(admin, foreign);
    refuseMail = true;
    const refused = await by<NotificationDelivery>(admin, "POST", `${PATH}/${theirs}/test`);
    refuseMail = false;
    expect(refused.body).toMatchObject({ state: "failed", error: expect.stringContaining("no such mailbox") });
    expect(server.output() + refused.body.error).not.toContain("smtp-pass-51c0");
  });
});

describe("a channel", () => {
  test("is tested at once, says why it failed, and is quiet while it is off", async () => {
    const { id } = await channel(a, { kind: "webhook", url: "http://127.0.0.1:1/" });
    const failed = await by<NotificationDelivery>(a, "POST", `${PATH}/${id}/test`);
    expect(failed).toMatchObject({ status: 200, body: { state: "failed", event: "test", run_id: null } });
    expect((await by(a, "GET", `${PATH}/${id}`)).body["last_error"]).toContain("could not be reached");
    await by(a, "PUT", `${PATH}/${id}`, { url: receiver.url });
    expect((await by(a, "POST", `${PATH}/${id}/test`)).body).toMatchObject({ state: "sent", error: null });
    expect(JSON.parse((await receiver.next()).body)).toMatchObject({ type: "test", data: { status: "test" } });
    await by(a, "PUT", `${PATH}/${id}`, { enabled: false });
    await run(a);
    expect((await deliveries(a, id)).map(({ event }) => event)).toEqual(["test", "test"]);
  });

  test("takes a bounded number in an hour, and says that the rest was left out", async () => {
    const { id } = await channel(a, { kind: "webhook", url: receiver.url });
    const db = new Database(join(server.data, "skep.db"));
    db.run("PRAGMA busy_timeout = 5000");
    const now = new Date().toISOString();
    db.transaction(() => {
      for (let n = 0; n < 120; n++)
        db.run("INSERT INTO notification_deliveries VALUES (?, ?, NULL, 'test', NULL, '{}', 'sent', 1, NULL, ?, ?)", [
          `ntd_full_${n}`,
          id,
          now,
          now,
        ]);
    })();
    db.close();
    expect((await by(a, "POST", `${PATH}/${id}/test`)).status).toBe(429);
    await run(a);
    while (!String((await by(a, "GET", `${PATH}/${id}`)).body["last_error"]).includes("is left out"))
      await Bun.sleep(20);
    expect(receiver.waiting).toEqual([]);
  });

  test("that is not valid is refused with the member that is wrong", async () => {
    const url = receiver.url;
    const bad: [Record<string, unknown>, number, string][] = [
      [{ kind: "webhook" }, 422, "/url"],
      [{ kind: "webhook", url: "ftp://example.com/" }, 422, "/url"],
      [{ kind: "webhook", url: "https://u:p@example.com/" }, 422, "/url"],
      [{ kind: "webhook", url: "http://10.0.0.1/" }, 422, "address_refused"],
      [{ kind: "webhook", url: "http://localhost/" }, 422, "address_refused"],
      [{ kind: "webhook", url, secret: "short" }, 422, "/secret"],
      [{ kind: "webhook", url, token: "x" }, 422, "/token"],
      [{ kind: "webhook", url, whose: "everyone" }, 403, "administrators"],
      [{ kind: "webhook", url, project_id: "prj_none" }, 422, "/project_id"],
      [{ kind: "webhook", url, on: [] }, 422, "/on"],
      [{ kind: "webhook", url, colour: "red" }, 422, "/colour"],
      [{ kind: "ntfy", url: "https://ntfy.sh/" }, 422, "/url"],
      [{ kind: "gotify", url }, 422, "/token"],
      [{ kind: "apprise", url }, 422, "/url"],
      [{ kind: "mail", to: "a@example.test,b@example.test" }, 422, "/to"],
      [{ kind: "pigeon", url }, 422, "/kind"],
    ];
    for (const [input, status, word] of bad) {
      const refused = await by(a, "POST", PATH, { name: "x", ...input });
      expect([input, refused.status, JSON.stringify(refused.body)]).toEqual([
        input,
        status,
        expect.stringContaining(word),
      ]);
    }
    expect((await by<{ items: unknown[] }>(a, "GET", PATH)).body.items).toEqual([]);
  });
});
