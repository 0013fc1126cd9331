/**
 * Answers from the phone: the wire protocol of each messenger against a fake messenger, with a server that is killed
 * meanwhile.
 */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { type Account, makeUser, setupAdmin } from "../../testing/accounts.ts";
import { openFakeDiscord } from "../../testing/messengers/discord.ts";
import type { FakeMessenger, Person, SentMessage } from "../../testing/messengers/fake.ts";
import { openFakeMatrix } from "../../testing/messengers/matrix.ts";
import { openFakeSlack } from "../../testing/messengers/slack.ts";
import { openFakeTelegram } from "../../testing/messengers/telegram.ts";
import { openReceiver } from "../../testing/receiver.ts";
import { startServer, type TestServer } from "../../testing/server.ts";

const PIPELINE = {
  id: "gate",
  name: "Gate",
  steps: [{ id: "ask", approval: { message: "Ship it with topsecret-canary-78?" } }],
};
const ENV = { AUTH_ENABLED: "true", NOTIFY_ALLOW: "127.0.0.1", PUBLIC_URL: "https://skep.example.org/at" };
/** As each messenger names them: a person, the same person in another chat, and another person in the same chat. */
const PEOPLE: Record<FakeMessenger["kind"], { me: Person; elsewhere: Person; stranger: Person }> = {
  telegram: peopleOf(["4001", "4002"], ["11", "12"]),
  slack: peopleOf(["D0AAA", "C0BBB"], ["U0ME", "U0OTHER"]),
  discord: peopleOf(["80001", "80002"], ["71", "72"]),
  matrix: peopleOf(["!a:example.test", "!b:example.test"], ["@me:example.test", "@other:example.test"]),
};
function peopleOf([chat, other]: [string, string], [sender, stranger]: [string, string]) {
  return { me: { chat, sender }, elsewhere: { chat: other, sender }, stranger: { chat, sender: stranger } };
}

let server: TestServer;
let admin: Account;
let a: Account;
const fakes = [openFakeTelegram(), openFakeSlack(), openFakeDiscord(), openFakeMatrix()];
beforeAll(async () => {
  server = await startServer({ env: ENV });
  admin = await setupAdmin(server);
  a = await makeUser(server, admin, "a@example.test");
  expect((await by(admin, "POST", "/v1/pipelines", PIPELINE)).status).toBe(201);
  const secret = { name: "CANARY", env_key: "CANARY", value: "topsecret-canary-78" };
  expect((await by(admin, "POST", "/v1/secrets", secret)).status).toBe(201);
});
afterAll(async () => {
  await server?.remove();
  await Promise.all(fakes.map((fake) => fake.close()));
});

const by = <T = Record<string, unknown>>(who: Account, method: string, path: string, body?: unknown) =>
  server.request<T>(method, path, { token: who.token, ...(body === undefined ? {} : { body }) });
async function create(who: Account, path: string, body: unknown): Promise<Record<string, unknown>> {
  const answer = await by(who, "POST", path, body);
  expect([answer.status, answer.body]).toEqual([201, expect.anything()]);
  return answer.body;
}
const run = async (task: string) =>
  String((await create(a, "/v1/runs", { pipeline_id: "gate", task_description: task }))["id"]);
const statusOf = async (id: string) => (await by(a, "GET", `/v1/runs/${id}`)).body["status"];
async function waitForEnd(id: string): Promise<unknown> {
  for (;;) {
    const status = await statusOf(id);
    if (status === "succeeded" || status === "failed" || status === "cancelled") return status;
    await Bun.sleep(20);
  }
}
interface Entry {
  action: string;
  data: { reason?: string };
}
const listAudit = async (action: string) =>
  (await by<{ items: Entry[] }>(admin, "GET", `/v1/admin/audit?action=${action}&limit=200`)).body.items;
const givenCount = async () => (await listAudit("phone_answer.given")).length;

/** A user's channel, linked with the code that its person sends. */
async function linkChannel(fake: FakeMessenger, person: Person): Promise<{ messenger: string; channel: string }> {
  const messenger = String(
    (await create(admin, "/v1/messengers", { kind: fake.kind, name: fake.kind, ...fake.access }))["id"],
  );
  // Messages sent before a bot is connected are ignored, so the test waits for the connection.
  while ((await by(a, "GET", `/v1/messengers/${messenger}`)).body["state"] !== "connected") await Bun.sleep(20);
  const input = { name: `${fake.kind} phone`, kind: "messenger", messenger_id: messenger, on: ["waiting"] };
  const channel = await create(a, "/v1/notification-channels", input);
  const { code } = channel["link"] as { code: string };
  fake.say(PEOPLE[fake.kind].stranger, "/link AAAAA-AAAAA");
  expect((await fake.sent.next()).text).toContain("This code is not valid");
  fake.say(person, `/link ${code}`);
  expect((await fake.sent.next()).text).toContain("Linked");
  const path = `/v1/notification-channels/${channel["id"]}`;
  expect((await by(a, "GET", path)).body).toMatchObject({ linked_to: expect.any(String), answers: true });
  // The code works only once.
  fake.say(PEOPLE[fake.kind].stranger, `/link ${code}`);
  expect((await fake.sent.next()).text).toContain("This code is not valid");
  return { messenger, channel: String(channel["id"]) };
}
const button = ({ buttons }: SentMessage, at: 0 | 1): string => buttons[at]!.token;
/** The next message that asks. For Matrix it waits until the bot has added both reactions. */
async function waitForQuestion(fake: FakeMessenger): Promise<SentMessage> {
  const message = await fake.sent.next();
  while (message.buttons.length < 2) await Bun.sleep(10);
  return message;
}

for (const fake of fakes)
  describe(fake.kind, () => {
    const { me, elsewhere, stranger } = PEOPLE[fake.kind];
    const isMatrix = fake.kind === "matrix";
    let channel = "";

    test("is linked by a code, asks, and does what its person's button says; nobody else's does anything", async () => {
      ({ channel } = await linkChannel(fake, me));
      const id = await run(`Release by ${fake.kind}`);
      const question = await waitForQuestion(fake);
      expect(question).toMatchObject({ chat: me.chat });
      for (const said of [
        `Waits for you: Release by ${fake.kind}`,
        "Ship it with [secret:CANARY]?",
        "Approved: Continues with the end of the run.",
        "Refused: The run ends as failed.",
        `https://skep.example.org/at/runs/${id}`,
      ])
        expect(question.text).toContain(said);
      // All of these arrive, in order, before the right answer. Each of them would end the run as failed.
      fake.press(stranger, question.id, button(question, 1));
      fake.press(elsewhere, question.id, button(question, 1));
      fake.press(me, "999", button(question, 1));
      if (!isMatrix) fake.press(me, question.id, "A".repeat(32));
      fake.say(stranger, "no", question.id);
      fake.press(me, question.id, button(question, 0));
      expect(await waitForEnd(id)).toBe("succeeded");
      const edited = await fake.edited.next();
      expect(edited).toMatchObject({ chat: me.chat, message: question.id, text: expect.stringContaining("Approved.") });
      if (!isMatrix) {
        const told = [];
        for (let n = 0; n < 5; n++) told.push(await fake.told.next());
        expect(told.map((text) => text.startsWith("This button does nothing"))).toEqual([
          true,
          true,
          true,
          true,
          false,
        ]);
        const reasons = (await listAudit("phone_answer.refused")).map(({ data }) => data.reason);
        expect(reasons).toEqual(
          expect.arrayContaining(["other_person", "other_chat", "other_message", "unknown_button"]),
        );
      }
      const before = await givenCount();
      fake.press(me, question.id, button(question, 1));
      if (isMatrix) fake.say(me, "/help");
      const answer = isMatrix ? (await fake.sent.next()).text : await fake.told.next();
      expect(answer).toContain(isMatrix ? "Reply to a question" : "This button does nothing");
      expect([await givenCount(), await statusOf(id)]).toEqual([before, "succeeded"]);
    });

    test("takes a reply with a comment, and shows what was answered elsewhere", async () => {
      const refused = await run("Refused by reply");
      const question = await waitForQuestion(fake);
      fake.say(me, "No: the tests are missing", question.id);
      expect(await waitForEnd(refused)).toBe("failed");
      expect((await fake.sent.next()).text).toContain("Refused: the tests are missing");
      expect((await fake.edited.next()).text).toContain("Refused: the tests are missing");

      const elsewhereAnswered = await run("Answered in the dashboard");
      const second = await waitForQuestion(fake);
      const approval = { step_id: "ask", approved: true };
      await by(a, "POST", `/v1/runs/${elsewhereAnswered}/approve`, approval);
      expect(await fake.edited.next()).toMatchObject({
        message: second.id,
        text: expect.stringContaining("Approved."),
      });
      fake.press(me, second.id, button(second, 1));
      if (!isMatrix) expect(await fake.told.next()).toContain("This button does nothing");
      expect(await waitForEnd(elsewhereAnswered)).toBe("succeeded");
    });

    test("starts a run after one yes of its person, within that person's rights, and stops it", async () => {
      const saidNext = async () => (await fake.sent.next()).text;
      /**
       * The next message that asks, once the server has stored its id. The server sends one message after another, so a
       * reply to /help shows that.
       */
      const waitForStored = async () => {
        const message = await waitForQuestion(fake);
        fake.say(me, "/help");
        expect(await saidNext()).toContain("Start work with");
        return message;
      };
      const runsCalled = async (task: string) =>
        (await by<{ items: { task_description: string }[] }>(a, "GET", "/v1/runs?limit=200")).body.items.filter(
          ({ task_description }) => task_description === task,
        ).length;
      const task = `From the phone by ${fake.kind}`;
      const project = await create(admin, "/v1/projects", { name: `aviary-${fake.kind}`, access: "members" });
      await create(admin, `/v1/projects/${project["id"]}/members`, { user: "a@example.test", role: "viewer" });
      // People who are not linked get no reply, so the first reply belongs to the next message.
      fake.say(stranger, `/run gate ${task}`);
      fake.say(elsewhere, `/run gate ${task}`);
      fake.say(me, "/run gate");
      expect(await saidNext()).toContain("Name the pipeline and what to do.");
      fake.say(me, `/run nothing ${task}`);
      expect(await saidNext()).toContain("There is no such pipeline");
      fake.say(me, `/run gate @aviary-${fake.kind} ${task}`);
      expect(await saidNext()).toContain("This takes the role contributor in the project; yours is viewer.");
      const give = (role: string) => by(admin, "PUT", `/v1/projects/${project["id"]}/members/${a.id}`, { role });
      // The right to start a run is checked again when the button is pressed.
      await give("contributor");
      fake.say(me, `/run gate @aviary-${fake.kind} ${task}`);
      const early = await waitForStored();
      await give("viewer");
      fake.press(me, early.id, button(early, 0));
      expect((await fake.edited.next()).text).toContain("This takes the role contributor");
      if (!isMatrix) expect(await fake.told.next()).toContain("This takes the role contributor");
      await give("contributor");
      fake.say(me, `/run gate @aviary-${fake.kind} ${task}`);
      const ask = await waitForStored();
      expect(ask.text).toStartWith(`Start gate in aviary-${fake.kind}? It has no budget.`);
      expect(ask.text).toContain(`\n\n${task}`);
      fake.press(stranger, ask.id, button(ask, 0));
      fake.press(elsewhere, ask.id, button(ask, 0));
      fake.press(me, "999", button(ask, 0));
      if (fake.kind === "discord") fake.say(me, "yes, please", ask.id);
      else fake.press(me, ask.id, button(ask, 0));
      expect(await fake.edited.next()).toMatchObject({ message: ask.id, text: expect.stringMatching(/Started: http/) });
      // A command given in a reply is confirmed in a reply, before or after the run asks its own question.
      let question = await fake.sent.next();
      if (question.text.startsWith("Started: https://skep.example.org/at/runs/run_")) question = await fake.sent.next();
      expect(question.text).toContain(`Waits for you: ${task}`);
      fake.press(me, ask.id, button(ask, 0));
      fake.repeat();
      fake.say(me, "/stop", question.id);
      let stopped = await saidNext();
      while (!stopped.startsWith("Stopped")) stopped = await saidNext();
      expect([stopped, await runsCalled(task)]).toEqual([`Stopped: ${task}`, 1]);
      while (!(await fake.edited.next()).text.includes("It does not wait"));
      fake.say(me, "/stop");
      expect(await saidNext()).toBe("No run of yours is at work.");
      if (fake.kind !== "telegram") return;
      let said = "";
      for (let sent = 0; !said.startsWith("There were 30 commands") && sent < 60; sent++) {
        fake.say(me, "/stop");
        said = await saidNext();
      }
      expect(said).toContain("There were 30 commands in an hour from here.");
      // The limit is announced only once.
      fake.say(me, "/stop");
      fake.say(me, "/help");
      expect(await saidNext()).toContain("Reply to a question");
    });

    test("survives a cut, a wait and a kill: what was pressed meanwhile counts once, however often it comes", async () => {
      fake.cut();
      fake.beBusy(1);
      const id = await run("Through it all");
      const question = await waitForQuestion(fake);
      expect(fake.busyAnswers()).toBe(1);
      const before = await givenCount();
      await server.stop("SIGKILL");
      fake.press(me, question.id, button(question, 0));
      server = await startServer({ data: server.data, env: ENV });
      expect(await waitForEnd(id)).toBe("succeeded");
      expect((await fake.edited.next()).message).toBe(question.id);
      fake.repeat();
      // This is handled after everything that was sent again.
      fake.say(me, "/help");
      let said = await fake.sent.next();
      while (!said.text.startsWith("Reply to a question")) said = await fake.sent.next();
      expect(await givenCount()).toBe(before + 1);
      expect((await by(a, "DELETE", `/v1/notification-channels/${channel}`)).status).toBe(204);
    });
  });

describe("ntfy", () => {
  test("has buttons where its person wants them; each works once, and no messenger's button works there", async () => {
    const topic = openReceiver();
    try {
      const url = `${topic.url}/my-topic`;
      const { id } = await create(a, "/v1/notification-channels", {
        name: "topic",
        kind: "ntfy",
        url,
        on: ["waiting"],
      });
      await run("Without buttons");
      expect(JSON.parse((await topic.next()).body).actions).toBeUndefined();
      await by(a, "PUT", `/v1/notification-channels/${id}`, { answers: true });
      const first = await run("With buttons");
      const { actions } = JSON.parse((await topic.next()).body) as { actions: Record<string, string>[] };
      const [yes, no] = actions;
      expect(yes).toMatchObject({
        action: "http",
        label: "Approve",
        method: "POST",
        clear: true,
        url: "https://skep.example.org/at/v1/phone-answers",
      });
      const press = (body: string) => server.request("POST", "/v1/phone-answers", { body: JSON.parse(body) });
      expect(await press(JSON.stringify({ token: "A".repeat(32) }))).toMatchObject({ status: 404 });
      expect(await press(no!["body"]!)).toMatchObject({ status: 200, body: { outcome: "Refused." } });
      expect(await waitForEnd(first)).toBe("failed");
      for (const used of [yes, no]) expect(await press(used!["body"]!)).toMatchObject({ status: 404 });
      expect((await by(a, "PUT", `/v1/notification-channels/${id}`, { answers: false })).body["answers"]).toBe(false);
    } finally {
      await topic.close();
    }
  });
});

describe("a messenger", () => {
  test("is connected by administrators, once for each bot, and takes its channels along when it goes", async () => {
    const [fake] = fakes;
    const input = { kind: "telegram", name: "second", ...fake!.access };
    expect((await by(a, "POST", "/v1/messengers", input)).status).toBe(403);
    const taken = await by(admin, "POST", "/v1/messengers", input);
    expect([taken.status, taken.body["code"]]).toEqual([409, "bot_taken"]);
    const bad: [Record<string, unknown>, string][] = [
      [{ kind: "slack" }, "/app_token"],
      [{ kind: "matrix" }, "/server"],
      [{ kind: "telegram", app_token: "xapp-12345678" }, "/app_token"],
      [{ kind: "telegram", server: "http://10.0.0.1" }, "NOTIFY_ALLOW"],
      [{ kind: "telegram", server: "https://u:p@example.org" }, "/server"],
    ];
    for (const [some, word] of bad) {
      const refused = await by(admin, "POST", "/v1/messengers", { name: "x", token: "12345678", ...some });
      expect([some, refused.status, JSON.stringify(refused.body)]).toEqual([some, 422, expect.stringContaining(word)]);
    }
    const { items } = (await by<{ items: Record<string, unknown>[] }>(a, "GET", "/v1/messengers")).body;
    const known = items.find(({ kind }) => kind === "telegram")!;
    expect(known).toMatchObject({ account: "skep_bot", state: "connected", last_error: null });
    expect(JSON.stringify(items)).not.toContain("canary");
    const one = { name: "goes", kind: "messenger", messenger_id: known["id"] };
    const { id } = await create(a, "/v1/notification-channels", one);
    expect((await by(a, "POST", `/v1/notification-channels/${id}/test`)).body).toMatchObject({
      state: "failed",
      error: expect.stringContaining("No chat is linked"),
    });
    expect((await by(admin, "DELETE", `/v1/messengers/${known["id"]}`)).status).toBe(204);
    expect((await by(a, "GET", `/v1/notification-channels/${id}`)).status).toBe(404);
  });

  test("says why it is not connected, in lists and in doctor, and never its token", async () => {
    const token = "7000001:BBB-canary-wrong-5e5e";
    const bot = await create(admin, "/v1/messengers", { ...fakes[0]!.access, kind: "telegram", name: "wrong", token });
    let shown = bot;
    while (shown["state"] !== "failed" || shown["last_error"] === null) {
      await Bun.sleep(20);
      shown = (await by(admin, "GET", `/v1/messengers/${bot["id"]}`)).body;
    }
    expect(shown["last_error"]).toContain("refused the bot's token");
    const report = JSON.stringify((await by(admin, "GET", "/v1/doctor")).body);
    expect(report).toContain("wrong is not connected");
    expect(report + server.output()).not.toContain(token);
  });
});
