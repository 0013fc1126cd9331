/**
 * A run that keeps a page busy: 40 steps, one of them with a growing log of 5,000 lines, and more than 50 events a
 * second.
 */
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Browser, Page } from "playwright-core";
import type { TestServer } from "../server.ts";
import { complete } from "./script.ts";

export const STEPS = 40;
export const LOG_LINES = 5_000;
/** Number of calls per turn, and of turns. The output of their commands forms the log. */
const CALLS = 10;
const TURNS = 5;
/** Steps that write at the same time, each with about 16 events a second. */
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
      complete({}, "Done."),
    ],
    ...Object.fromEntries(SPEAKERS.slice(1).map((name) => [name, [speech(name), complete({}, "Done.")]])),
  },
  chat: [speech("chat")],
  default: [complete({}, "done")],
};

const speaker = (id: string) => ({ id, agent: "engineer", input: "Speak." });
/** Commands that run one after another, so that steps end while others write. */
const chain = Array.from({ length: STEPS - SPEAKERS.length }, (_, at) => ({
  id: `c${at}`,
  run: "sleep 1",
  ...(at === 0 ? {} : { needs: [`c${at - 1}`] }),
}));

/** Environment for a server that can play the run. */
export function busyEnvironment(folder: string): Record<string, string> {
  mkdirSync(folder, { recursive: true });
  const path = join(folder, "busy-script.json");
  writeFileSync(path, JSON.stringify(SCRIPT));
  return { DEMO_SCRIPT: path, ALLOW_HOST_SHELL: "true" };
}

/** Starts the run and waits until its history is complete and it writes. @returns the run's id. */
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

/** Opens the step with the long log and loads all of it. */
export async function openLog(page: Page, base: string, run: string): Promise<void> {
  await page.goto(`${base}/runs/${run}?step=history`);
  const log = page.getByRole("log", { name: "Log of the step" });
  await log.getByText(/says word \d+/).waitFor();
  await log.getByText("Part 0 of the history.").waitFor();
}

/**
 * A script that notes when the heading first appears, in ms since the start of the navigation by the page's own clock.
 */
export const NOTE_HEADING = `requestAnimationFrame(function look() {
  if (document.querySelector("main h1")?.getClientRects().length) window.headingAt = performance.now();
  else requestAnimationFrame(look);
})`;

interface Watched {
  /** Ids of the events that reached the page, in order of arrival. */
  events: number[];
  seconds: number;
  /** Tasks over 50 ms according to the browser, in ms each. Waiting for a busy machine counts. */
  longTasks: number[];
  /** The longest tasks of the page's main thread by processor time, in ms. A busy machine hardly changes them. */
  busiest: number[];
}

interface TraceEvent {
  name: string;
  pid: number;
  tid: number;
  /** Start and duration in µs: by the clock (`ts`, `dur`), and the thread's processor time (`tdur`). */
  ts: number;
  dur?: number;
  tdur?: number;
  args?: { name?: string; data?: { url?: string }; chrome_mojo_event_info?: { mojo_interface_tag?: string } };
}

const CATEGORIES = ["toplevel", "devtools.timeline", "disabled-by-default-v8.compile", "__metadata"];

/**
 * Measures the tasks of a page while `act` runs. The cost of the test's debugger is left out: its own messages, and
 * V8's search for source lines at each error or request, which only happens while a debugger listens.
 * @returns the longest tasks of the page's main thread by processor time, in ms.
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

/** Records events and tasks of a page until that many events have arrived. */
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

/**
 * @param origin origin of the page, because the browser's own pages have tasks as well. If no script of the page ran,
 * all tasks count.
 */
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
