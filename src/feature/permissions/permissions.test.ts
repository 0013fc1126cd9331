/** Requests for permission: asked once, answered once, durable. The test plays the models. */
import { afterEach, describe, expect, test } from "bun:test";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { LOCAL_ADMIN } from "../../http/caller.ts";
import { createRigs, type Rig } from "../../testing/engine-rig.ts";
import { createHandModel, type HandCall, type HandModel } from "../../testing/hand-model.ts";
import { OPEN_PROJECTS } from "../../testing/open-projects.ts";
import type { PermissionRequest } from "./model.ts";

const rigs = createRigs();
afterEach(rigs.close);

const RULES = "permissions:\n  - ask: { tool: write, path: '*.txt' }\n  - deny: { tool: write, path: '*.md' }\n";
const agents = { careful: `---\nname: Careful\n${RULES}---\nYou work.` };
const pipeline = (agent = "careful") =>
  `id: one\nname: One\nsteps:\n  - id: work\n    agent: ${agent}\n    input: Work\n`;
const PAGE = { limit: 50, after: null };
const write = (path: string) => ({ tool: "write", input: { path, content: "x" } });
const complete = { tool: "complete", input: { summary: "done" } };

async function startRig(clock?: { now(): number }) {
  const model = createHandModel();
  const rig = await rigs.startRig({
    pipelines: { one: pipeline() },
    agents,
    models: model,
    ...(clock ? { clock } : {}),
  } as never);
  return { model, rig };
}
const waiting = (rig: Rig) =>
  rig.services.permissions.rowsFor(true, LOCAL_ADMIN, null, 50).map(rig.services.permissions.present);
/** The next request, once its work was suspended. */
async function waitForRequest(rig: Rig, after = 0): Promise<PermissionRequest> {
  const event = await rig.event(({ kind, id }) => kind === "permission_requested" && id > after);
  await rig.event(
    ({ kind, data, id }) => kind === "activity" && id > event.id && String(data["title"]).startsWith("Waits:"),
  );
  return rig.services.permissions.get(String(event.data["request_id"]), LOCAL_ADMIN);
}
const answer = (rig: Rig, { id }: { id: string }, body: Parameters<Rig["services"]["permissions"]["answer"]>[1]) =>
  rig.services.permissions.answer(id, body, LOCAL_ADMIN);
const results = ({ request }: HandCall): string[] => {
  const last = request.messages.findLast(({ role }) => role === "tool");
  return last?.role === "tool" ? last.results.map(({ output }) => output) : [];
};
async function begin(model: HandModel, rig: Rig, ...calls: { tool: string; input: object }[]) {
  const { id } = rig.create("one");
  (await model.next()).reply(calls);
  return id;
}
const there = (rig: Rig, run: string, file: string) => existsSync(join(rig.workspaceOf(run), file));

describe("a call that a rule asks about", () => {
  test("waits, holds no execution, and is made once when it is allowed; a refused one is told to the agent in words", async () => {
    const { model, rig } = await startRig();
    const run = await begin(model, rig, write("a.txt"), write("b.md"), write("c.js"));
    const question = await waitForRequest(rig);
    expect(question).toMatchObject({
      kind: "permission",
      state: "waiting",
      message: "May careful use write: a.txt?",
      tool_kind: "edit",
      rules: ["ask write: path *.txt"],
      can_remember: true,
      run_id: run,
      step_id: "work",
      about: "do it",
    });
    expect(there(rig, run, "a.txt")).toBe(false);
    expect(rig.services.sessions.liveExecutions()).toMatchObject([{ status: "queued", lease_owner: null }]);
    answer(rig, question, { allow: true });
    const next = await model.next();
    const [first, second, third] = results(next);
    expect(first).toContain("a.txt");
    expect(second).toContain("the rules of this agent refuse it (deny write: path *.md)");
    expect(third).toContain("c.js");
    expect(["a.txt", "b.md", "c.js"].map((file) => there(rig, run, file))).toEqual([true, false, true]);
    next.reply([write("d.txt")]);
    const again = await waitForRequest(rig, rig.events().at(-1)!.id);
    expect(() => answer(rig, question, { allow: true })).toThrow("does not wait");
    answer(rig, again, { allow: false, comment: "not that file" });
    const last = await model.next();
    expect(results(last)).toEqual(["Not made: a person refused the use of write. They say: not that file"]);
    last.reply([complete]);
    expect((await rig.waitForEnd(run)).status).toBe("succeeded");
    expect(there(rig, run, "d.txt")).toBe(false);
    expect(waiting(rig)).toEqual([]);
  });

  test("is the same question after the server was replaced, and its answer then is carried out once", async () => {
    const { model, rig } = await startRig();
    const run = await begin(model, rig, write("a.txt"));
    const before = await waitForRequest(rig);
    await rig.restart();
    expect(waiting(rig)).toEqual([before]);
    answer(rig, before, { allow: true });
    (await model.next()).reply([complete]);
    expect((await rig.waitForEnd(run)).status).toBe("succeeded");
    expect(rig.events().filter(({ kind }) => kind === "permission_requested")).toHaveLength(1);
    expect(rig.events().filter(({ kind, data }) => kind === "tool_call_end" && data["tool"] === "write")).toHaveLength(
      1,
    );
  });

  test("is withdrawn when the run is cancelled", async () => {
    const { model, rig } = await startRig();
    const run = await begin(model, rig, write("a.txt"));
    const { id } = await waitForRequest(rig);
    rig.services.runs.cancel(run, LOCAL_ADMIN);
    await rig.waitForEnd(run);
    expect(rig.services.permissions.get(id, LOCAL_ADMIN).state).toBe("withdrawn");
    expect(() => answer(rig, { id }, { allow: true })).toThrow("does not wait");
    expect(there(rig, run, "a.txt")).toBe(false);
  });

  test("is refused when nobody answers in time, and the agent is told that", async () => {
    const { model, rig } = await startRig();
    await begin(model, rig, write("a.txt"));
    const { id } = await waitForRequest(rig);
    rig.store.write(() => rig.store.statement("UPDATE permission_requests SET deadline = 1 WHERE id = ?").run([id]));
    rig.services.permissions.expire();
    const next = await model.next();
    expect(results(next)[0]).toContain("did not answer in time, which means no");
    expect(rig.services.permissions.get(id, LOCAL_ADMIN)).toMatchObject({ state: "expired", answered_by: null });
    next.reply([complete]);
  });

  test("in a chat: a message after it waits for its reply, and stopping the reply ends the question", async () => {
    const { model, rig } = await startRig();
    const { sessions } = rig.services;
    const { id } = sessions.open({ kind: "chat", agent_id: "careful" });
    sessions.queue(id, { input: "write", timeout_seconds: 60 });
    (await model.next(id)).reply([write("a.txt")]);
    const question = await waitForRequest(rig);
    expect(question).toMatchObject({ session_id: id, session_kind: "chat", run_id: null });
    sessions.queue(id, { input: "and then?", timeout_seconds: 60 });
    answer(rig, question, { allow: true, lasts: "work" });
    const next = await model.next(id);
    expect(JSON.stringify(next.request.messages)).not.toContain("and then?");
    next.reply("Done.");
    (await model.next(id)).reply([write("b.txt")]);
    // The answer is remembered for this chat only.
    (await model.next(id)).reply("Again.");
    const other = sessions.open({ kind: "chat", agent_id: "careful" });
    sessions.queue(other.id, { input: "write", timeout_seconds: 60 });
    (await model.next(other.id)).reply([write("a.txt")]);
    const second = await waitForRequest(rig, rig.events().at(-1)!.id - 1);
    expect(sessions.interrupt(other.id)).toBe(true);
    expect(rig.services.permissions.get(second.id, LOCAL_ADMIN).state).toBe("withdrawn");
    expect(sessions.find(other.id)?.status).toBe("open");
  });

  test("that does not fit its tool is not asked about", async () => {
    const { model, rig } = await startRig();
    await begin(model, rig, { tool: "write", input: { path: "a.txt" } });
    const next = await model.next();
    expect(results(next)[0]).toContain("does not fit write");
    next.reply([complete]);
    expect(waiting(rig)).toEqual([]);
  });
});

test.each(["chat", "pulse", "spawn", "swarm"] as const)("rules bind a %s as they bind a step", async (kind) => {
  const { model, rig } = await startRig();
  const { id } = rig.services.sessions.open({ kind, agent_id: "careful" });
  rig.services.sessions.queue(id, { input: "write", timeout_seconds: 60 });
  (await model.next(id)).reply([write("a.md"), write("a.txt"), write("a.js")]);
  const question = await waitForRequest(rig);
  expect(question).toMatchObject({ session_id: id, session_kind: kind, subject: "a.txt" });
  answer(rig, question, { allow: true });
  const [refused, allowed, free] = results(await model.next(id));
  expect(refused).toContain("the rules of this agent refuse it");
  expect([there(rig, id, "a.md"), there(rig, id, "a.txt"), there(rig, id, "a.js")]).toEqual([false, true, true]);
  expect([allowed, free]).not.toContain("Not made");
  rig.services.sessions.end(id);
});

test("an agent that another one starts is bound by the rules of both", async () => {
  const model = createHandModel();
  const rig = await rigs.startRig({ pipelines: {}, agents, models: model });
  const { sessions } = rig.services;
  const parent = sessions.open({ kind: "chat", agent_id: "careful" });
  sessions.queue(parent.id, { input: "start", timeout_seconds: 60 });
  (await model.next(parent.id)).reply([{ tool: "spawn_executor", input: { agent_id: "worker", prompt: "Write" } }]);
  const child = await model.next();
  child.reply([write("a.md")]);
  const again = await model.next(child.request.scope.sessionId);
  expect(results(again)[0]).toContain("deny write: path *.md");
  sessions.end(parent.id);
});

describe("an answer that is remembered", () => {
  test("holds for the run and what waits in it, is listed, and asks again once it is taken back", async () => {
    const { model, rig } = await startRig();
    const { permissions } = rig.services;
    const run = await begin(model, rig, write("a.txt"), write("b.txt"));
    answer(rig, await waitForRequest(rig), { allow: true, lasts: "work" });
    const next = await model.next();
    expect(there(rig, run, "b.txt")).toBe(true);
    const [kept, ...others] = permissions.answers({}, PAGE, LOCAL_ADMIN).items;
    expect(others).toEqual([]);
    expect(kept).toMatchObject({
      agent_id: "careful",
      lasts: "work",
      run_id: run,
      rule: "ask write: path *.txt",
      subject: "a.txt",
    });
    permissions.revoke(kept!.id, LOCAL_ADMIN);
    next.reply([write("c.txt")]);
    answer(rig, await waitForRequest(rig, rig.events().at(-1)!.id - 3), { allow: true, lasts: "agent" });
    (await model.next()).reply([complete]);
    await rig.waitForEnd(run);
    // The answer is remembered for the agent, so another run does not ask.
    await begin(model, rig, write("a.txt"));
    (await model.next()).reply([complete]);
    expect(permissions.answers({}, PAGE, LOCAL_ADMIN).items).toMatchObject([
      { lasts: "agent", run_id: null, session_id: null },
    ]);
  });

  test("for an agent is an administrator's; others neither see nor answer what is not theirs", async () => {
    const { model, rig } = await startRig();
    const { permissions, sessions } = rig.services;
    const user = (userId: string) => ({ kind: "user", admin: false, projects: OPEN_PROJECTS, userId }) as const;
    const { id } = sessions.open({ kind: "chat", agent_id: "careful", user_id: "usr_a" });
    sessions.queue(id, { input: "write", timeout_seconds: 60 });
    (await model.next(id)).reply([write("a.txt")]);
    const question = await waitForRequest(rig);
    expect(permissions.rowsFor(true, user("usr_b"), null, 50)).toEqual([]);
    expect(() => permissions.answer(question.id, { allow: true }, user("usr_b"))).toThrow("no such permission request");
    expect(() => permissions.answer(question.id, { allow: true, lasts: "agent" }, user("usr_a"))).toThrow(
      "administrator",
    );
    permissions.answer(question.id, { allow: true, lasts: "work" }, user("usr_a"));
    (await model.next(id)).reply("Done.");
    const [kept] = permissions.answers({}, PAGE, user("usr_a")).items;
    expect(kept).toMatchObject({ session_id: id, answered_by: "usr_a" });
    expect(permissions.answers({}, PAGE, user("usr_b")).items).toEqual([]);
    expect(() => permissions.revoke(kept!.id, user("usr_b"))).toThrow("no such remembered answer");
  });
});
