/** A run that keeps a page busy: 40 steps, one whose log has 5,000 lines and grows, and over 50 events a second. */
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Browser, Page } from "playwright-core";
import type { TestServer } from "../server.ts";
import { done } from "./script.ts";

export const STEPS = 40;
export const LOG_LINES = 5_000;
/** Calls of a turn, turns: what their commands print is the log. */
const CALLS = 10;
const TURNS = 5;
/** Steps that speak at once, each in some 16 events a second. */
const SPEAKERS = ["history", "one", "two", "three"];

const words = (name: string): string =>
  Array.from({ length: 4_000 }, (_, at) => `${name} says word ${at}${at % 12 === 11 ? ".\n" : ","} `).join("");
const speech = (name: string) => ({ text: words(name), delay_ms: 150_000, chunk: 40 });

const SCRIPT = {
  version: 1,
  steps: {
    history: [
      ...Array.from({ length: TURNS }, (_, turn) => ({
        text: `Part ${turn} of the history.`,
        tool_calls: Array.from({ length: CALLS }, (_, call) => ({
          tool: "bash",
          input: { command: `seq -f 'line %g of ${turn}.${call}' 1 ${LOG_LINES / CALLS / TURNS}` },
        })),
      })),
      speech("history"),
      done({}, "Done."),
    ],
    ...Object.fromEntries(SPEAKERS.slice(1).map((name) => [name, [speech(name), done({}, "Done.")]])),
  },
  chat: [speech("chat")],
  default: [done({}, "done")],
};

const speaker = (id: string) => ({ id, agent: "engineer", input: "Speak." });
/** Commands one after another, so that steps end while others speak. */
const chain = Array.from({ length: STEPS - SPEAKERS.length }, (_, at) => ({
  id: `c${at}`,
  run: "sleep 1",
  ...(at === 0 ? {} : { needs: [`c${at - 1}`] }),
}));

/** Environment of a server that can play it. */
export function busyEnvironment(folder: string): Record<string, string> {
  mkdirSync(folder, { recursive: true });
  const path = join(folder, "busy-script.json");
  writeFileSync(path, JSON.stringify(SCRIPT));
  return { DEMO_SCRIPT: path, ALLOW_HOST_SHELL: "true" };
}

/** Starts the run and waits until its history is whole and it speaks. @returns its id. */
export async function startBusyRun(server: TestServer): Promise<string> {
  const steps = [...SPEAKERS.map(speaker), ...chain].map((step) => ({ needs: [], ...step }));
  const send = async (path: string, body: unknown) => {
    const answer = await server.request<{ id: string }>("POST", path, { body });
    if (answer.status !== 201) throw new Error(`${path}: ${answer.status} ${JSON.stringify(answer.body)}`);
    return answer.body.id;
  };
  await send("/v1/pipelines", { id: "busy", name: "Busy", defaults: { model: "demo/scripted" }, steps });
  const run = await send("/v1/runs", { pipeline_id: "busy", task_description: "Keep the page busy" });
  const answer = await fetch(`${server.url}/v1/events/stream?run_id=${run}&kinds=tool_call_end`);
  let ended = 0;
  for await (const chunk of answer.body!) {
    ended += new TextDecoder().decode(chunk).match(/^event: tool_call_end/gm)?.length ?? 0;
    if (ended >= CALLS * TURNS) break;
  }
  return run;
}

/** Opens the step with the long log and unfolds all of it. */
export async function openLog(page: Page, base: string, run: string): Promise<void> {
  await page.goto(`${base}/runs/${run}?step=history`);
  const log = page.getByRole("log", { name: "Log of the step" });
  await log.getByText(/says word \d+/).waitFor();
  await log.getByText("Part 0 of the history.").waitFor();
}

/** Notes in each frame whether the heading is there, by the page's own clock, which begins with the navigation. */
export const NOTE_HEADING = `requestAnimationFrame(function look() {
  if (document.querySelector("main h1")?.getClientRects().length) window.headingAt = performance.now();
  else requestAnimationFrame(look);
})`;

interface Watched {
  /** Ids of the events that reached the page, as they came. */
  events: number[];
  seconds: number;
  /** Tasks over 50 ms by the browser's own observer, ms each: waiting for a busy machine counts. */
  longTasks: number[];
  /** The longest tasks of the page's main thread by processor time, ms: a busy machine changes little of it. */
  busiest: number[];
}

interface TraceEvent {
  name: string;
  pid: number;
  tid: number;
  /** Begin and length, µs, by the clock and by the thread's processor time. */
  ts: number;
  dur?: number;
  tdur?: number;
  args?: { name?: string; data?: { url?: string }; chrome_mojo_event_info?: { mojo_interface_tag?: string } };
}

const CATEGORIES = ["toplevel", "devtools.timeline", "disabled-by-default-v8.compile", "__metadata"];

/**
 * What only the test's debugger costs is not counted: its own messages, and V8's search for the lines of a script whenever
 * an error or a request is made, which it leaves out while no debugger listens.
 * @returns the longest tasks of the page's main thread while that is done, by processor time, ms.
 */
export async function tasksOf(browser: Browser, page: Page, act: () => Promise<unknown>): Promise<number[]> {
  await browser.startTracing(page, { categories: CATEGORIES });
  let trace: Buffer;
  try {
    await act();
  } finally {
    trace = await browser.stopTracing();
  }
  const { traceEvents } = JSON.parse(trace.toString()) as { traceEvents: TraceEvent[] };
  return busiestOf(traceEvents, new URL(page.url()).origin);
}

/** Notes events and tasks of a page until that many events have come. */
export async function watch(browser: Browser, page: Page, count: number): Promise<Watched> {
  let seen: Omit<Watched, "busiest"> | undefined;
  const busiest = await tasksOf(browser, page, async () => {
    seen = await seenBy(page, count);
  });
  return { ...seen!, busiest };
}

async function seenBy(page: Page, count: number): Promise<Omit<Watched, "busiest">> {
  return (await page.evaluate(
    `new Promise((done) => {
      const longTasks = [];
      const events = [];
      const observer = new PerformanceObserver((list) => longTasks.push(...list.getEntries().map((one) => one.duration)));
      observer.observe({ type: "longtask" });
      const channel = new BroadcastChannel("skep-events");
      const began = performance.now();
      channel.onmessage = ({ data }) => {
        if (!data.event) return;
        events.push(data.event.id);
        if (events.length < ${count}) return;
        observer.disconnect();
        channel.close();
        done({ events, longTasks, seconds: (performance.now() - began) / 1000 });
      };
    })`,
  )) as Omit<Watched, "busiest">;
}

/** @param origin of the page: the browser's own pages have tasks as well. Where no script of the page ran, all are counted. */
function busiestOf(events: TraceEvent[], origin: string): number[] {
  const own = new Set(events.filter(({ args }) => args?.data?.url?.startsWith(origin)).map(({ pid }) => pid));
  const mains = new Set(
    events
      .filter(({ name, args }) => name === "thread_name" && args?.name === "CrRendererMain")
      .filter(({ pid }) => own.has(pid) || own.size === 0)
      .map(({ pid, tid }) => `${pid}/${tid}`),
  );
  const ofMains = events.filter(({ pid, tid }) => mains.has(`${pid}/${tid}`));
  const ofDebugger = ofMains.filter(isOfDebugger);
  const debugging = ofDebugger.filter((one) => !ofDebugger.some((other) => other !== one && isWithin(one, other)));
  return ofMains
    .filter(({ name }) => name.endsWith("RunTask"))
    .map((task) => {
      const inside = debugging.filter((event) => isWithin(event, task));
      return Math.round((lengthOf(task) - inside.reduce((sum, event) => sum + lengthOf(event), 0)) / 1_000);
    })
    .sort((a, b) => b - a)
    .slice(0, 8);
}

const lengthOf = ({ tdur, dur }: TraceEvent): number => tdur ?? dur ?? 0;
const isWithin = (event: TraceEvent, task: TraceEvent): boolean =>
  event.pid === task.pid && event.ts >= task.ts && event.ts + (event.dur ?? 0) <= task.ts + (task.dur ?? 0);
const isOfDebugger = ({ name, args }: TraceEvent): boolean =>
  name === "V8.CollectSourcePositions" ||
  args?.chrome_mojo_event_info?.mojo_interface_tag === "blink.mojom.DevToolsSession";
