/** Sessions over the engine: turns, steering, stopping, trees, what the model reads of them. The test plays the model. */
import { afterEach, describe, expect, test } from "bun:test";
import { FEATURES } from "../../app/features.ts";
import type { Attachments } from "../../engine/attachments.ts";
import type { ModelMessage, ModelRequest } from "../../engine/model.ts";
import { textOf } from "../../engine/parts.ts";
import { type Tool, type ToolSource, toolsOf } from "../../engine/tool.ts";
import { LOCAL_ADMIN } from "../../http/caller.ts";
import { createRigs, type RigOptions } from "../../testing/engine-rig.ts";
import { createHandModel, type HandModel } from "../../testing/hand-model.ts";
import { defineFeature } from "../feature.ts";
import type { SessionDraft } from "./model.ts";

const rigs = createRigs();
afterEach(rigs.close);

interface Options extends Partial<RigOptions> {
  model?: HandModel;
  tools?: ToolSource;
  attachments?: Attachments;
}

async function startRig({ model = createHandModel(), tools, attachments, ...options }: Options = {}) {
  const extra = defineFeature("extra", () => ({
    ...(tools ? { tools } : {}),
    ...(attachments ? { attachments } : {}),
  }));
  const features = FEATURES.with(extra);
  const rig = await rigs.startRig({ pipelines: {}, ...options, features, models: model });
  const { sessions } = rig.services;
  const open = (draft: Partial<SessionDraft> = {}) => sessions.open({ kind: "chat", agent_id: "worker", ...draft });
  return {
    rig,
    model,
    sessions,
    open,
    chat: () => open().id,
    say: (id: string, input: string, mode?: "queue" | "steer" | "interrupt") =>
      sessions.queue(id, { input, mode, timeout_seconds: 60 }),
    /** Resolves once the turn that answers this message has ended. */
    waitForAnswer: (message_id: string) =>
      rig.event(({ kind, data }) => kind === "turn_ended" && data["message_id"] === message_id),
    waitForEnd: (id: string) => rig.event(({ kind, session_id }) => kind === "session_ended" && session_id === id),
  };
}

const words = (message: ModelMessage): string =>
  message.role === "tool" ? `[${message.results.map(({ output }) => output).join()}]` : textOf(message.parts);
/** The messages that the model was given, one line each. */
const read = (request: ModelRequest): string[] => request.messages.map((one) => `${one.role}: ${words(one)}`);

/** A tool that waits until the test lets it end. */
function createSlowTool() {
  const running = Promise.withResolvers<void>();
  const let_go = Promise.withResolvers<void>();
  const tool: Tool = {
    name: "slow",
    group: "mcp",
    description: "Waits.",
    parameters: { type: "object" },
    timeoutMs: 60_000,
    async run() {
      running.resolve();
      await let_go.promise;
      return { ok: true, output: "slow result" };
    },
  };
  return { source: toolsOf("slow", [tool]), running: running.promise, end: let_go.resolve };
}

describe("a chat", () => {
  test("takes turns in one session: each reads what was said before, and messages are numbered without a gap", async () => {
    const { model, sessions, chat, say, waitForAnswer } = await startRig();
    const id = chat();
    const first = say(id, "Hello");
    (await model.next()).reply("Hi there");
    await waitForAnswer(first.message_id);
    expect(sessions.find(id)).toMatchObject({ status: "open", ended_at: null, execution_count: 1, message_count: 2 });
    const second = say(id, "And now?");
    const asked = await model.next();
    expect(read(asked.request)).toEqual(["user: Hello", "assistant: Hi there", "user: And now?"]);
    asked.reply("Now this");
    await waitForAnswer(second.message_id);
    expect(
      sessions.transcript(id).map(({ seq, role, id: message, parts }) => [seq, role, message, textOf(parts)]),
    ).toEqual([
      [0, "user", first.message_id, "Hello"],
      [1, "assistant", expect.any(String), "Hi there"],
      [2, "user", second.message_id, "And now?"],
      [3, "assistant", expect.any(String), "Now this"],
    ]);
  });

  test("is closed by a person, not by its replies; nothing is said in it afterwards", async () => {
    const { model, sessions, chat, say, waitForAnswer, waitForEnd } = await startRig();
    const id = chat();
    const turn = say(id, "Hello");
    (await model.next()).reply("Hi");
    await waitForAnswer(turn.message_id);
    sessions.end(id);
    expect((await waitForEnd(id)).data).toMatchObject({ status: "ended" });
    expect(() => say(id, "Still there?")).toThrow("The session has ended.");
    expect(sessions.transcript(id)).toHaveLength(2);
  });

  test("messages to a busy agent wait in order; until they are read they can be changed and withdrawn", async () => {
    const { model, sessions, chat, say, waitForAnswer } = await startRig();
    const id = chat();
    say(id, "one");
    const asked = await model.next();
    const [two, three, four] = [say(id, "two"), say(id, "three"), say(id, "four")];
    expect(sessions.listQueued(id).map(({ message_id }) => message_id)).toEqual(
      [two, three, four].map((one) => one.message_id),
    );
    sessions.edit(id, three.message_id, [{ type: "text", text: "THREE" }]);
    sessions.withdraw(id, two.message_id);
    expect(() => sessions.withdraw(id, two.message_id)).toThrow("no such queued message");
    asked.reply("first");
    const next = await model.next();
    expect(read(next.request).at(-1)).toBe("user: THREE");
    expect(() => sessions.edit(id, three.message_id, [])).toThrow("has read the message already");
    next.reply("third");
    (await model.next()).reply("fourth");
    await waitForAnswer(four.message_id);
    expect(sessions.transcript(id).map(({ parts }) => textOf(parts))).toEqual([
      "one",
      "first",
      "THREE",
      "third",
      "four",
      "fourth",
    ]);
  });

  test("a steering message is in the very next model request, the running tool's result intact", async () => {
    const slow = createSlowTool();
    const { model, sessions, chat, say, waitForAnswer } = await startRig({ tools: slow.source });
    const id = chat();
    const turn = say(id, "Look around");
    (await model.next()).reply([{ tool: "slow" }]);
    await slow.running;
    const steer = say(id, "Only in src", "steer");
    slow.end();
    const asked = await model.next();
    expect(read(asked.request)).toEqual([
      "user: Look around",
      "assistant: ",
      "tool: [slow result]",
      "user: Only in src",
    ]);
    asked.reply("Done in src");
    await waitForAnswer(turn.message_id);
    expect(sessions.listQueued(id)).toEqual([]);
    expect(sessions.transcript(id).map((one) => one.id)).toContain(steer.message_id);
    expect(sessions.find(id)?.status).toBe("open");
  });

  test("a steering message that comes while the last reply is written is a turn of its own", async () => {
    const { model, chat, say, waitForAnswer } = await startRig();
    const id = chat();
    say(id, "Hello");
    const asked = await model.next();
    const steer = say(id, "In French", "steer");
    asked.reply("Hello");
    const next = await model.next();
    expect(read(next.request)).toEqual(["user: Hello", "assistant: Hello", "user: In French"]);
    next.reply("Bonjour");
    expect((await waitForAnswer(steer.message_id)).data).toMatchObject({ status: "succeeded" });
  });

  test("an interrupting message ends the reply, keeps what was said, and is answered before those that wait", async () => {
    const { model, sessions, chat, say, waitForAnswer } = await startRig();
    const id = chat();
    const turn = say(id, "Tell a story");
    const asked = await model.next();
    asked.say("Once upon a ");
    say(id, "waits");
    say(id, "Stop, a joke", "interrupt");
    expect((await waitForAnswer(turn.message_id)).data).toMatchObject({ status: "cancelled" });
    const next = await model.next();
    expect(read(next.request)).toEqual(["user: Tell a story", "assistant: Once upon a ", "user: Stop, a joke"]);
    expect(sessions.find(id)?.ended_at).toBeNull();
  });

  test("what a provider takes back in the middle of a reply is marked, and only the whole reply is kept", async () => {
    const { rig, model, sessions, chat, say, waitForAnswer } = await startRig();
    const id = chat();
    const turn = say(id, "Count");
    const asked = await model.next();
    asked.say("one, tw");
    asked.request.onWithdrawn?.();
    asked.say("one, two");
    asked.reply("one, two");
    await waitForAnswer(turn.message_id);
    const shown = rig.events().filter(({ kind }) => kind === "agent_output" || kind === "output_withdrawn");
    expect(shown.map(({ kind, data }) => data["text"] ?? kind)).toEqual(["one, tw", "output_withdrawn", "one, two"]);
    expect(sessions.transcript(id).map(({ parts }) => textOf(parts))).toEqual(["Count", "one, two"]);
  });

  test("calls that are ended by a stop or a time-out are logged and charged", async () => {
    const { rig, model, sessions, chat, say, waitForAnswer } = await startRig({ model: createHandModel({}, 0.25) });
    const id = chat();
    const turn = say(id, "Tell");
    (await model.next()).say("Once");
    sessions.interrupt(id);
    await waitForAnswer(turn.message_id);
    // On a busy machine the time may be over before the model is asked; then it is tried again with more time.
    for (let timeout_seconds = 2; model.calls.length < 2; timeout_seconds *= 2) {
      const late = sessions.queue(id, { input: "Again", timeout_seconds });
      expect((await waitForAnswer(late.message_id)).data).toMatchObject({
        status: "failed",
        error: { code: "timeout" },
      });
    }
    const rows = rig.store.sqlite.prepare("SELECT finish_reason, cost_nano FROM llm_calls ORDER BY id").all();
    expect(rows).toEqual(Array(2).fill({ finish_reason: "aborted", cost_nano: 0.25e9 }));
    expect(sessions.find(id)?.spent_nano).toBe(0.5e9);
  });

  test("a reply that is stopped leaves the session open, and a tool call that was cut off has a result", async () => {
    const slow = createSlowTool();
    const { rig, model, sessions, chat, say, waitForAnswer } = await startRig({ tools: slow.source });
    const id = chat();
    const turn = say(id, "Go");
    (await model.next()).reply([{ tool: "slow" }, { tool: "slow" }]);
    await slow.running;
    expect(sessions.interrupt(id)).toBe(true);
    await waitForAnswer(turn.message_id);
    expect(sessions.find(id)?.status).toBe("open");
    const ends = rig.events().filter(({ kind }) => kind === "tool_call_end");
    expect(ends.map(({ data }) => [data["ok"], data["interrupted"]])).toEqual([[false, true]]);
    say(id, "Continue");
    const { request } = await model.next();
    expect(request.messages.map(({ role }) => role)).toEqual(["user", "assistant", "tool", "user"]);
    expect(words(request.messages[2]!)).toMatch(
      /Stopped before it ended.*Stopped before it began\. Nothing of it has happened/,
    );
    expect(sessions.interrupt(chat())).toBe(false);
  });

  test("continues in another process over the same rows: the call in flight is made again, nothing is said twice", async () => {
    const model = createHandModel();
    const { rig, chat, say, waitForAnswer } = await startRig({ model });
    const id = chat();
    const turn = say(id, "Hello");
    (await model.next()).say("Hel");
    await rig.stop();
    expect(rig.services.sessions.find(id)?.status).toBe("queued");
    await rig.restart();
    (await model.next()).reply("Hello");
    await waitForAnswer(turn.message_id);
    const said = rig.services.sessions.transcript(id);
    expect(said.map(({ role, parts }) => [role, textOf(parts)])).toEqual([
      ["user", "Hello"],
      ["assistant", "Hello"],
    ]);
  });

  test("every call has an id of its own, also when a provider counts from 0 in each reply", async () => {
    const { model, sessions, chat, say, waitForAnswer } = await startRig();
    const id = chat();
    const turn = say(id, "Look twice");
    const call = { type: "tool_call" as const, call_id: "call_0", tool: "ls", input: {} };
    for (let time = 0; time < 2; time++) (await model.next()).reply({ parts: [call, call], finish: "tool_calls" });
    const { request } = await model.next();
    const asked = request.messages.flatMap((one) => (one.role === "assistant" ? one.parts : []));
    const results = request.messages.flatMap((one) => (one.role === "tool" ? one.results : []));
    expect(new Set(results.map(({ call_id }) => call_id)).size).toBe(4);
    expect(results.map((one) => one.call_id)).toEqual(asked.map((one) => ("call_id" in one ? one.call_id : "")));
    sessions.interrupt(id);
    await waitForAnswer(turn.message_id);
  });

  test("what was taken back is read by people, not by the model", async () => {
    const { model, sessions, chat, say, waitForAnswer } = await startRig();
    const id = chat();
    const first = say(id, "one");
    (await model.next()).reply("first");
    await waitForAnswer(first.message_id);
    const second = say(id, "two");
    const asked = await model.next();
    expect(() => sessions.rewind(id, second.message_id)).toThrow("at work");
    asked.reply("second");
    await waitForAnswer(second.message_id);
    sessions.rewind(id, second.message_id);
    say(id, "other");
    expect(read((await model.next()).request)).toEqual(["user: one", "assistant: first", "user: other"]);
    expect(sessions.transcript(id).map(({ withdrawn }) => withdrawn)).toEqual([false, false, true, true, false]);
  });
});

describe("a session tree", () => {
  const openTree = async () => {
    const made = await startRig();
    const root = made.open({ user_id: "usr_1" });
    const child = made.open({ kind: "spawn", parent_id: root.id });
    const grandchild = made.open({ kind: "swarm", parent_id: child.id });
    return { ...made, root, child, grandchild };
  };

  test("has one owner, and ends at its limits of depth and number with a reason", async () => {
    const { rig, open, root, child, grandchild } = await openTree();
    expect([child.user_id, grandchild.user_id, grandchild.root_id, grandchild.depth]).toEqual([
      "usr_1",
      "usr_1",
      root.id,
      2,
    ]);
    const deepest = open({ kind: "spawn", parent_id: grandchild.id });
    expect(() => open({ kind: "spawn", parent_id: deepest.id })).toThrow("one more");
    for (let size = 4; size < 64; size++) open({ kind: "spawn", parent_id: root.id });
    expect(() => open({ kind: "spawn", parent_id: child.id })).toThrow("64 sessions");
    expect(rig.services.sessions.find(root.id)?.tree_size).toBe(64);
  });

  test("cancelling a node ends all below it, whose models never answer; what is above continues, and nothing begins any more", async () => {
    const { model, sessions, say, open, root, child, grandchild, waitForEnd } = await openTree();
    for (const { id } of [root, child, grandchild]) say(id, "Work");
    await Promise.all([root, child, grandchild].map(({ id }) => model.next(id)));
    const queued = open({ kind: "spawn", parent_id: child.id });
    sessions.queue(queued.id, { input: "Later", timeout_seconds: 60 });
    const asked = model.calls.length;
    sessions.end(child.id);
    for (const { id } of [child, grandchild, queued])
      expect((await waitForEnd(id)).data).toMatchObject({ status: "cancelled" });
    expect(sessions.find(root.id)).toMatchObject({ status: "running", ended_at: null });
    expect(model.calls.filter(({ request }) => request.scope.sessionId === queued.id)).toEqual([]);
    expect(model.calls.length).toBeLessThanOrEqual(asked + 1);
    expect(() => open({ kind: "spawn", parent_id: grandchild.id })).toThrow("has ended");
    expect(() => say(child.id, "more")).toThrow("has ended");
    expect(sessions.liveExecutions().map(({ session_id }) => session_id)).toEqual([root.id]);
  });

  test("a session that ends also ends those that it started", async () => {
    const { model, say, child, grandchild, waitForEnd } = await openTree();
    for (const { id } of [child, grandchild]) say(id, "Work");
    await model.next(grandchild.id);
    (await model.next(child.id)).reply([{ tool: "complete", input: { summary: "done" } }]);
    expect((await waitForEnd(child.id)).data).toMatchObject({ status: "succeeded" });
    expect((await waitForEnd(grandchild.id)).data).toMatchObject({ status: "cancelled" });
  });

  test("is stopped before the call that would exceed its budget, in whichever session the call is made", async () => {
    const { rig, model, sessions, open, say, waitForEnd } = await startRig({ model: createHandModel({}, 0.25) });
    const root = open({ budget_usd: 0.6 });
    const child = open({ kind: "spawn", parent_id: root.id });
    say(child.id, "Work");
    for (let turn = 0; turn < 2; turn++) (await model.next(child.id)).reply([{ tool: "ls" }]);
    const end = await waitForEnd(child.id);
    expect(end.data).toMatchObject({ status: "failed", error: { code: "budget_exceeded" } });
    expect(JSON.stringify(end.data)).toContain(
      "The next call may cost $0.25; $0.10 is left of the session budget of $0.6",
    );
    expect(model.calls).toHaveLength(2);
    const exceeded = rig.events().find(({ kind }) => kind === "budget_exceeded");
    expect(exceeded?.data).toMatchObject({ scope: "session", subject: root.id, limit_usd: 0.6 });
    expect(sessions.find(root.id)?.spent_nano).toBe(0.5e9);
  });

  test("spends one budget: what is set aside for a child is not spent elsewhere, and what it left comes back", async () => {
    const { model, sessions, open, say, waitForEnd } = await startRig({ model: createHandModel({}, 0.25) });
    const root = open({ budget_usd: 2 });
    const child = open({ kind: "spawn", parent_id: root.id, budget_usd: 1.5 });
    const below = open({ kind: "spawn", parent_id: child.id });
    expect(() => open({ kind: "spawn", parent_id: root.id, budget_usd: 0.6 })).toThrow("$0.5000 are left");
    expect(below.purse_id).toBe(child.id);
    say(below.id, "Work");
    (await model.next(below.id)).reply([{ tool: "complete", input: { summary: "done" } }]);
    await waitForEnd(below.id);
    const nano = (id: string) => {
      const { spent_nano, reserved_nano } = sessions.find(id)!;
      return [spent_nano / 1e9, reserved_nano / 1e9];
    };
    expect([nano(below.id), nano(child.id), nano(root.id)]).toEqual([
      [0.25, 0],
      [0.25, 0],
      [0.25, 1.25],
    ]);
    sessions.end(child.id);
    expect(nano(root.id)).toEqual([0.25, 0]);
    expect(open({ kind: "spawn", parent_id: root.id, budget_usd: 1.75 }).lender_id).toBe(root.id);
  });
});

test("calls without a price are counted once in each session above them", async () => {
  const { model, sessions, open, say, waitForEnd } = await startRig({ model: createHandModel({}, null) });
  const root = open({ kind: "spawn" });
  const child = open({ kind: "spawn", parent_id: root.id });
  const below = open({ kind: "spawn", parent_id: child.id });
  say(below.id, "Work");
  (await model.next(below.id)).reply([{ tool: "complete", input: { summary: "done" } }]);
  await waitForEnd(below.id);
  const counted = [below, child, root].map(({ id }) => sessions.find(id)?.calls_without_price);
  expect(counted).toEqual([1, 1, 1]);
});

describe("what the model reads of a session", () => {
  test("a conversation that outgrew the window is summarised; the current turn and the whole transcript stay as they were", async () => {
    const { model, sessions, chat, say, waitForAnswer } = await startRig({
      model: createHandModel({ context_window: 7_000 }),
    });
    const id = chat();
    const first = say(id, `first ${"x".repeat(4_000)}`);
    (await model.next()).reply(`answer ${"y".repeat(1_000)}`);
    await waitForAnswer(first.message_id);
    const before = sessions.transcript(id);
    const second = say(id, `second ${"z".repeat(5_000)}`);
    const summary = await model.next();
    expect(summary.request.tools).toEqual([]);
    expect(read(summary.request)[0]).toContain("USER\nfirst x");
    expect(read(summary.request)[0]).not.toContain("second z");
    summary.reply("They talked.");
    const asked = await model.next();
    expect(read(asked.request)).toEqual([
      "user: Summary of the work so far:\n\nThey talked.\n\nGo on from here.",
      `user: second ${"z".repeat(5_000)}`,
    ]);
    asked.reply("ok");
    await waitForAnswer(second.message_id);
    const after = sessions.transcript(id);
    expect(after.slice(0, before.length)).toEqual(before);
    expect(after.find(({ role }) => role === "summary")).toMatchObject({ covers_to: 1 });
    // After the summary was taken back, the model reads the messages that it covered again.
    sessions.rewind(id, second.message_id);
    say(id, "short");
    const all = read((await model.next()).request);
    expect(all.map((line) => line.slice(0, 13))).toEqual(["user: first x", "assistant: an", "user: short"]);
  });

  test("pictures go to a model that takes them, as they are; to another in words that say why not", async () => {
    const bytes = new Uint8Array([137, 80, 78, 71]);
    const attachments = {
      bytes: async (id: string) => (id === "att_gone" ? undefined : bytes),
      text: async (id: string) => (id === "att_text" ? "read out of it" : undefined),
    };
    const part = (attachment_id: string, media_type: string) => ({
      type: media_type.startsWith("image/") ? ("image" as const) : ("file" as const),
      attachment_id,
      media_type,
      name: `${attachment_id}.bin`,
      size_bytes: 4,
    });
    const input = [
      { type: "text" as const, text: "Look:" },
      part("att_one", "image/png"),
      part("att_text", "application/pdf"),
      part("att_gone", "image/png"),
    ];
    const sendInput = async (images: boolean) => {
      const { model, sessions, chat } = await startRig({ model: createHandModel({ images }), attachments });
      const id = chat();
      sessions.queue(id, { input, timeout_seconds: 60 });
      const [message] = (await model.next()).request.messages;
      expect(sessions.transcript(id)[0]?.parts).toEqual(input);
      return message?.role === "user" ? message.parts : [];
    };
    const gone = { type: "text", text: "[att_gone.bin was attached; it has been deleted.]" };
    const pdf = { type: "text", text: "Attached file att_text.bin:\n\nread out of it" };
    expect(await sendInput(true)).toEqual([
      { type: "text", text: "Look:" },
      { type: "image", media_type: "image/png", name: "att_one.bin", data: bytes },
      ...([pdf, gone] as never[]),
    ]);
    const blind = await sendInput(false);
    expect(blind.map((one) => one.type)).toEqual(["text", "text", "text", "text"]);
    expect(blind[1]).toMatchObject({ text: expect.stringContaining("demo/scripted cannot read it") });
  });

  test("the attempts of a step share a session, and each starts empty", async () => {
    const pipeline =
      "id: tries\nname: Tries\nsteps:\n  - id: work\n    agent: worker\n    input: Do it\n    on_failure: retry\n";
    const { rig, model, sessions } = await startRig({ pipelines: { tries: pipeline } });
    const run = rig.create("tries");
    (await model.next()).reply([{ tool: "fail", input: { reason: "no luck" } }]);
    const again = await model.next();
    expect(read(again.request)).toEqual(["user: Do it"]);
    again.reply([{ tool: "complete", input: { summary: "done" } }]);
    await rig.waitForEnd(run.id);
    const [one, two] = rig.steps(run.id);
    expect(two?.session_id).toBe(one!.session_id);
    expect(two?.execution_id).not.toBe(one!.execution_id);
    const session = sessions.find(one!.session_id!)!;
    expect(session).toMatchObject({ status: "succeeded", execution_count: 2, step_id: "work", run_id: run.id });
    expect(sessions.transcript(session.id).map(({ seq, role }) => `${seq} ${role}`)).toEqual([
      "0 user",
      "1 assistant",
      "2 user",
      "3 assistant",
    ]);
  });
});

test("a deleted session leaves nothing behind, not its prompts either; one that others began with stays", async () => {
  const { rig, model, sessions, chat, say, waitForAnswer } = await startRig();
  const count = (table: string) => rig.store.sqlite.prepare(`SELECT count(*) FROM ${table}`).pluck().get();
  const chats = [chat(), chat()];
  for (const id of chats) {
    const turn = say(id, "Hello");
    (await model.next()).reply([{ tool: "nothing" }]);
    (await model.next()).reply("Hi");
    await waitForAnswer(turn.message_id);
  }
  const countRows = () => ["prompts", "sessions", "executions", "messages", "tool_calls", "deletions"].map(count);
  expect(countRows()).toEqual([1, 2, 2, 6, 2, 0]);
  for (const [index, id] of chats.entries()) {
    const gone = rig.event(({ kind, data }) => kind === "history_deleted" && data["id"] === id);
    sessions.end(id);
    rig.services.history.removeEnded(id, LOCAL_ADMIN);
    expect(count("sessions")).toBe(1 - index);
    await gone;
    expect(countRows()).toEqual(index === 0 ? [1, 1, 1, 3, 1, 0] : [0, 0, 0, 0, 0, 0]);
  }
});

describe("the queue", () => {
  test("an agent with a thousand executions waiting does not block others", async () => {
    const agents = { busy: "You work.", idle: "You work." };
    const { rig, model, sessions, open } = await startRig({ agents });
    rig.services.settings.update({ limits: { executions_per_agent: 1 } }, LOCAL_ADMIN);
    const say = (id: string, input: string) => sessions.queue(id, { input, timeout_seconds: 60 });
    rig.store.write(() => {
      for (let n = 0; n < 1_000; n++) say(open({ agent_id: "busy" }).id, `wait ${n}`);
    });
    const { request } = await model.next();
    expect(read(request)).toEqual(["user: wait 0"]);
    say(open({ agent_id: "idle" }).id, "me too");
    expect(read((await model.next()).request)).toEqual(["user: me too"]);
  });

  test("goes round the users first: one of hundreds of another user's does not delay a user's only one", async () => {
    const { rig, model, sessions, open } = await startRig({ env: { MAX_EXECUTIONS: "2" } });
    const say = (user_id: string, input: string) =>
      sessions.queue(open({ user_id }).id, { input, timeout_seconds: 60 });
    rig.store.write(() => {
      for (let n = 0; n < 500; n++) say("usr_alice", `alice ${n}`);
    });
    const first = await model.next();
    await model.next();
    rig.store.write(() => {
      say("usr_bob", "bob 0");
      say("usr_bob", "bob 1");
    });
    first.reply("done");
    const next = await model.next();
    expect(read(next.request)).toEqual(["user: bob 0"]);
    next.reply("done");
    // Alice has one execution running and Bob none, so it is Bob's turn, and then hers.
    const last = await model.next();
    expect(read(last.request)).toEqual(["user: bob 1"]);
    last.reply("done");
    expect(read((await model.next()).request)).toEqual(["user: alice 2"]);
  });

  test("with one place, two users with much to do take turns", async () => {
    const { rig, model, sessions, open } = await startRig({ env: { MAX_EXECUTIONS: "1" } });
    rig.store.write(() => {
      for (const user_id of ["usr_alice", "usr_bob"])
        for (let n = 0; n < 20; n++)
          sessions.queue(open({ user_id }).id, { input: `${user_id} ${n}`, timeout_seconds: 60 });
    });
    const order: string[] = [];
    for (let n = 0; n < 4; n++) {
      const call = await model.next();
      order.push(...read(call.request));
      call.reply("done");
    }
    expect(order).toEqual(["usr_alice 0", "usr_bob 0", "usr_alice 1", "usr_bob 1"].map((text) => `user: ${text}`));
  });

  test("work that waits for a busy agent does not delay its owner's work of others", async () => {
    const agents = { busy: "You work.", other: "You work.", idle: "You work." };
    const { rig, model, sessions, open } = await startRig({ agents, env: { MAX_EXECUTIONS: "3" } });
    rig.services.settings.update({ limits: { executions_per_agent: 1 } }, LOCAL_ADMIN);
    const say = (user_id: string, agent_id: string, input: string) =>
      sessions.queue(open({ user_id, agent_id }).id, { input, timeout_seconds: 60 });
    rig.store.write(() => {
      for (let n = 0; n < 50; n++) say("usr_alice", "busy", `busy ${n}`);
      for (let n = 0; n < 50; n++) say("usr_bob", "other", `other ${n}`);
      for (let n = 0; n < 50; n++) say("usr_bob", "idle", `idle ${n}`);
    });
    const begun = [await model.next(), await model.next(), await model.next()];
    say("usr_alice", "idle", "alice");
    begun.find(({ request }) => read(request)[0] === "user: idle 0")?.reply("done");
    expect(read((await model.next()).request)).toEqual(["user: alice"]);
  });

  test("queued work starts with its commit, not with the scheduler's next pass", async () => {
    const { rig, model, chat, say } = await startRig();
    say(chat(), "now");
    expect(rig.services.engine.active()).toBe(0);
    // Before this continues, only work that is already due runs, and no timer.
    await null;
    expect(rig.services.engine.active()).toBe(1);
    (await model.next()).reply("yes");
  });
});
