import { afterEach, describe, expect, test } from "bun:test";
import { Type as t } from "@sinclair/typebox";
import fc from "fast-check";
import { systemClock } from "../core/clock.ts";
import { defineEvent, type EventDefinition, type EventRefs, type SkepEvent } from "../core/events.ts";
import { createBus } from "../store/bus.ts";
import { createEventLog } from "../store/event-log.ts";
import { openStore } from "../store/store.ts";
import { createEventStreams, encodeFrame, type StreamRequest } from "./event-stream.ts";

interface Frame {
  id?: string;
  event?: string;
  data?: string;
}

/** A parser that follows the specification exactly: CR, LF and CRLF end a line, an empty line ends a frame. */
function parseFrames(text: string): Frame[] {
  const frames: Frame[] = [];
  let frame: Frame = {};
  for (const line of text.split(/\r\n|\r|\n/)) {
    if (line === "") {
      if (Object.keys(frame).length > 0) frames.push(frame);
      frame = {};
    } else if (!line.startsWith(":")) {
      const at = line.indexOf(":");
      const [field, value] = at < 0 ? [line, ""] : [line.slice(0, at), line.slice(at + 1).replace(/^ /, "")];
      if (field === "data") frame.data = frame.data === undefined ? value : `${frame.data}\n${value}`;
      else if (field === "id" || field === "event") frame[field] = value;
    }
  }
  return frames;
}

const closers: (() => void)[] = [];
afterEach(() => {
  for (const close of closers.splice(0)) close();
});

function rig() {
  const store = openStore({ path: ":memory:", clock: systemClock });
  const bus = createBus((error) => {
    throw error;
  });
  store.onCommit(bus.deliver);
  const log = createEventLog(store);
  const streams = createEventStreams({ log, bus, runEnds: [complete, failed, cancelled], runRestarted: restarted });
  closers.push(() => {
    streams.close();
    store.close();
  });
  const emit = (...drafts: Draft[]) =>
    store.write((tx) => {
      for (const { of, ...draft } of drafts) tx.emit(of, draft);
    });
  const open = (request: Partial<StreamRequest> = {}) =>
    streams.open({
      filter: {},
      after: undefined,
      mayRead: () => true,
      stillValid: () => true,
      userId: undefined,
      ...request,
    });
  return { store, bus, log, streams, emit, open };
}

/** Reads until `enough` returns true or the stream ends. */
async function readUntil(response: Response, enough: (frames: Frame[]) => boolean): Promise<Frame[]> {
  const reader = response.body!.getReader();
  const decoder = new TextDecoder();
  let text = "";
  for (;;) {
    const { done, value } = await reader.read();
    if (value) text += decoder.decode(value, { stream: true });
    if (done || enough(parseFrames(text))) {
      if (!done) await reader.cancel();
      return parseFrames(text);
    }
  }
}
const said = defineEvent("said", t.Object({ title: t.String() }));
const plain = <const Kind extends string>(kind: Kind) => defineEvent(kind, t.Object({}));
const [created, complete, failed, cancelled, restarted, ended] = [
  plain("run_created"),
  plain("run_complete"),
  plain("run_failed"),
  plain("run_cancelled"),
  plain("run_restarted"),
  plain("session_ended"),
];
type Draft = EventRefs & { of: EventDefinition; data: Record<string, unknown> };
const activity = (title: string, refs: EventRefs = {}): Draft => ({ of: said, data: { title }, ...refs });
const ofRun = (of: EventDefinition, run_id: string): Draft => ({ of, run_id, data: {} });
const idsOf = (frames: Frame[]) => frames.flatMap((frame) => (frame.id ? [Number(frame.id)] : []));

describe("event stream", () => {
  test("no text, whatever it holds, forges or splits a frame", () => {
    const nasty = fc.string({
      unit: fc.oneof(
        fc.constantFrom("\r", "\n", "\0", "\u2028", "\u2029", ":", "id: 9\n\n", "data: x", "event: gap"),
        fc.string({ unit: "binary", maxLength: 3 }),
      ),
    });
    fc.assert(
      fc.property(nasty, nasty, (title, refs) => {
        const event: SkepEvent = {
          id: 7,
          at: "2026-01-01T00:00:00.000Z",
          kind: "said",
          run_id: refs,
          agent_id: title,
          data: { [title]: refs, title },
        };
        const frames = parseFrames(`${encodeFrame(event)}`);
        expect(frames).toHaveLength(1);
        expect(frames[0]!.id).toBe("7");
        expect(frames[0]!.event).toBe("said");
        expect(JSON.parse(frames[0]!.data!)["data"]).toEqual(JSON.parse(JSON.stringify(event.data)));
      }),
      { numRuns: 500 },
    );
  });

  test("a resume from any position has neither gap nor duplicate", async () => {
    const { emit, open } = rig();
    for (let n = 1; n <= 1_200; n++) emit(activity(String(n)));
    for (const after of [0, 1, 499, 500, 501, 1_199]) {
      const response = open({ after });
      emit(activity("live"));
      const frames = await readUntil(
        response,
        (seen) => JSON.parse(seen.at(-1)?.data ?? "{}")?.data?.title === "live" && idsOf(seen).length >= 1_201 - after,
      );
      const ids = idsOf(frames);
      expect(ids[0]).toBe(after + 1);
      expect(ids.every((id, at) => at === 0 || id === ids[at - 1]! + 1)).toBe(true);
    }
  });

  test("with a run the stream starts at its first event and closes after its last, also after a restart", async () => {
    const { emit, open } = rig();
    emit(ofRun(created, "a"), ofRun(created, "b"), ofRun(failed, "a"));
    emit(ofRun(restarted, "a"), ofRun(complete, "a"));
    const frames = await readUntil(open({ filter: { run_id: "a" }, after: 0 }), () => false);
    expect(frames.map((frame) => frame.event)).toEqual(["run_created", "run_failed", "run_restarted", "run_complete"]);
  });

  test("with a run the stream closes although something follows the end, whatever kinds it shows, and for a reader that comes late", async () => {
    const { emit, open } = rig();
    emit(ofRun(created, "a"), ofRun(cancelled, "a"), ofRun(ended, "a"));
    const all = await readUntil(open({ filter: { run_id: "a" }, after: 0 }), () => false);
    expect(all.map((frame) => frame.event)).toEqual(["run_created", "run_cancelled", "session_ended"]);
    const some = await readUntil(open({ filter: { run_id: "a", kinds: ["run_created"] }, after: 0 }), () => false);
    expect(some.map((frame) => frame.event)).toEqual(["run_created"]);
    expect(idsOf(await readUntil(open({ filter: { run_id: "a" }, after: 2 }), () => false))).toEqual([3]);
  });

  test("a client that has read all of a run that has ended is answered 204; a restart opens it again", async () => {
    const { emit, open, streams } = rig();
    emit(ofRun(created, "a"), ofRun(failed, "a"), activity("of another"));
    const again = (after: number, kinds?: string[]) => open({ filter: { run_id: "a", kinds }, after });
    for (const response of [again(2), again(3), again(1, ["run_created"])])
      expect([response.status, response.body]).toEqual([204, null]);
    expect(streams.readers).toBe(0);
    expect(again(1).status).toBe(200);
    emit(ofRun(restarted, "a"));
    const open2 = again(2);
    emit(ofRun(complete, "a"));
    expect((await readUntil(open2, () => false)).map(({ event }) => event)).toEqual(["run_restarted", "run_complete"]);
    expect(open({ after: 5 }).status).toBe(200);
  });

  test("a position that this log never reached is answered with a gap, and the position to continue from", async () => {
    const { emit, open } = rig();
    emit(activity("1"), activity("2"));
    const response = open({ after: 900 });
    emit(activity("3"));
    const frames = await readUntil(response, (seen) => seen.length > 1);
    expect(frames[0]).toMatchObject({ id: "2", event: "gap" });
    expect(JSON.parse(frames[0]!.data!)).toMatchObject({ from: 3, to: 900 });
    expect(frames[1]).toMatchObject({ id: "3", event: "said" });
  });

  test("with a run the stream continues over an end that is taken back meanwhile", async () => {
    const { emit, open } = rig();
    emit(ofRun(created, "a"));
    const reading = readUntil(open({ filter: { run_id: "a" }, after: 0 }), () => false);
    emit(ofRun(failed, "a"), ofRun(restarted, "a"));
    await Bun.sleep(50);
    emit(ofRun(complete, "a"));
    expect((await reading).map((frame) => frame.event)).toEqual([
      "run_created",
      "run_failed",
      "run_restarted",
      "run_complete",
    ]);
  });

  test("what is older than the log keeps is reported first, as a gap", async () => {
    const { emit, open, store } = rig();
    for (let n = 1; n <= 20; n++) emit(activity(String(n)));
    store.sqlite.exec("DELETE FROM events WHERE id <= 10");
    const frames = await readUntil(open({ after: 3 }), (seen) => idsOf(seen).includes(20));
    expect(frames[0]).toMatchObject({ id: "10", event: "gap" });
    expect(JSON.parse(frames[0]!.data!)).toMatchObject({ from: 4, to: 10 });
    expect(idsOf(frames)).toEqual([10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20]);
  });

  test("filters by kind, agent and session, and shows nobody what it may not read", async () => {
    const { emit, open } = rig();
    const response = open({
      after: 0,
      filter: { agent_id: "scribe", kinds: ["said"] },
      mayRead: (event) => event.user_id !== "other",
    });
    emit(activity("no", { agent_id: "lead" }), activity("no", { agent_id: "scribe", user_id: "other" }));
    emit({ of: plain("notification"), agent_id: "scribe", data: {} }, activity("yes", { agent_id: "scribe" }));
    const frames = await readUntil(response, (seen) => seen.length > 0);
    expect(frames.map((frame) => JSON.parse(frame.data!).data.title)).toEqual(["yes"]);
  });

  test("a reader that does not read is cut off with a gap and holds nobody up", async () => {
    const { emit, open, streams, bus } = rig();
    const slow = open();
    const quick = open();
    const text = "x".repeat(1_000);
    const last = readUntil(quick, (seen) => seen.some((frame) => frame.data?.includes('"the end"')));
    for (let n = 0; n < 60; n++) {
      emit(...Array.from({ length: 100 }, () => activity(text)));
      await new Promise((resolve) => setTimeout(resolve, 0));
    }
    emit(activity("the end"));
    expect(idsOf(await last)).toHaveLength(6_001);
    const frames = await readUntil(slow, () => false);
    expect(frames.at(-1)).toMatchObject({ event: "gap" });
    expect(bus.dropped).toBeGreaterThan(0);
    expect(streams.readers).toBe(0);
  });

  test("a revoked reader's stream ends", async () => {
    const { emit, open } = rig();
    let valid = true;
    const response = open({ stillValid: () => valid });
    emit(activity("one"));
    const reader = response.body!.getReader();
    await reader.read();
    valid = false;
    emit(activity("two"));
    let text = "";
    for (;;) {
      const { done, value } = await reader.read();
      if (done) break;
      text += new TextDecoder().decode(value);
    }
    expect(text).not.toContain("two");
  });
});
