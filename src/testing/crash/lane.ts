/**
 * A server on one data folder that is killed again and again. Each disturbance starts a run, kills the process without
 * warning at a chosen point, starts the server again, and returns what can be seen from outside.
 */
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import type { SkepEvent } from "../../core/events.ts";
import { RUN_ENDS } from "../../feature/runs/events.ts";
import type { Run, Step } from "../../feature/runs/model.ts";
import { startServer, type TestServer } from "../server.ts";
import { type CrashRun, layOut } from "./crash-pipeline.ts";
import { type EventReader, readEvents } from "./event-reader.ts";
import type { Fault } from "./faults.ts";
import { crashRoom } from "./room.ts";
import { within } from "./within.ts";

const isRunEnd = ({ kind }: SkepEvent): boolean => RUN_ENDS.some((end) => end.kind === kind);

/** When the server is disturbed: after this many events of the run, plus a delay. */
export interface CrashPoint {
  events: number;
  laterMs: number;
  /** The fault to cause; without one, the server is killed and started again. */
  fault?: Fault | undefined;
}

export interface Disturbed {
  run: Run;
  steps: Step[];
  /** Events that readers saw before and after the kill, in order. */
  seen: SkepEvent[];
  /** The same events, read again from the log at the end. */
  log: SkepEvent[];
  /** Id of the last event before them. */
  from: number;
  /** Lines of the run's journal. */
  journal: string[];
  /** Writes that were answered before the kill but do not exist after it. */
  lostWrites: string[];
  /** Number of runs for this point's task. It must be one, however often the run was requested. */
  runsOfTask: number;
  /** Programs of agents that were still running when everything had ended. */
  leftProcesses: string[];
  acknowledged: number;
  /** Calls or requests that failed because of the fault. */
  failed: number;
}

export interface Lane {
  readonly data: string;
  /** Does the run without a disturbance. */
  runUndisturbed(): Promise<Disturbed>;
  disturb(point: CrashPoint): Promise<Disturbed>;
  remove(): Promise<void>;
}

/** Reads the journal's lines; empty if no command of the run has begun. */
function readJournal(path: string): string[] {
  return existsSync(path) ? readFileSync(path, "utf8").trim().split("\n") : [];
}

export const crashFolder = (): string => mkdtempSync(join(crashRoom(), "skep-crash-"));

/** Programs whose home is a workspace of that data folder. */
export function programsOf(data: string): string[] {
  if (!existsSync("/proc/self/environ")) return [];
  return readdirSync("/proc").flatMap((pid) => {
    if (!/^\d+$/.test(pid)) return [];
    try {
      const variables = readFileSync(`/proc/${pid}/environ`, "utf8");
      const command = readFileSync(`/proc/${pid}/cmdline`, "utf8").replaceAll("\0", " ");
      return variables.includes(`HOME=${data}/workspaces/`) ? [`${pid} ${command}`] : [];
    } catch {
      return [];
    }
  });
}

/** @param prepare called with the server before its first run. */
export async function openLane(
  run: CrashRun,
  env: Record<string, string>,
  {
    data = crashFolder(),
    prepare = async () => {},
  }: { data?: string; prepare?(server: TestServer): Promise<unknown> } = {},
): Promise<Lane> {
  const script = layOut(data, run);
  const start = () => startServer({ data, env: { DEMO_SCRIPT: script, ALLOW_HOST_SHELL: "true", ...env } });
  let server: TestServer = await start();
  await prepare(server);
  let last = 0;
  let count = 0;

  async function point(crash: CrashPoint | null): Promise<Disturbed> {
    const from = last;
    const task = `task ${++count}`;
    const lastHeard = Promise.withResolvers<void>();
    const hear = (event: SkepEvent) => {
      if (isRunEnd(event)) lastHeard.resolve();
    };
    const create = () =>
      server.request<Run>("POST", "/v1/runs", {
        body: { pipeline_id: run.id, task_description: task },
        headers: { "Idempotency-Key": task },
      });
    let seen: SkepEvent[] = [];
    const writes: string[] = [];
    let failed = 0;
    if (crash) {
      const struck = await strikeAt(crash, from, task, create, writes, hear);
      ({ seen, failed } = struck);
      if (!crash.fault) server = await start();
    }
    const reader = readEvents(server.url, seen.at(-1)?.id ?? from, hear);
    const { status, body } = await create();
    if (status !== 201) throw new Error(`POST /v1/runs answered ${status}: ${JSON.stringify(body)}`);
    await within(lastHeard.promise, () => `${body.id} after ${JSON.stringify(crash)}\n${server.output()}`);
    // A run's programs are stopped before its end is logged, so none may be left now.
    const answer = await look(body.id, task);
    reader.close();
    seen = [...seen, ...reader.events];
    last = seen.at(-1)!.id;
    return {
      ...answer,
      seen,
      from,
      failed,
      acknowledged: writes.length,
      log: await readLog(from, last),
      journal: readJournal(join(data, "workspaces", body.id, "journal")),
      lostWrites: await missing(writes),
      leftProcesses: programsOf(data),
    };
  }

  /** Starts the run and disturbs the server. @returns the events seen until then, and how many calls failed. */
  async function strikeAt(
    { events, laterMs, fault }: CrashPoint,
    from: number,
    task: string,
    create: () => Promise<unknown>,
    writes: string[],
    hear: (event: SkepEvent) => void,
  ): Promise<{ seen: SkepEvent[]; failed: number }> {
    const due = Promise.withResolvers<void>();
    let received = 0;
    const reader: EventReader = readEvents(server.url, from, (event) => {
      hear(event);
      if (event.run_id !== undefined && ++received === events) due.resolve();
      if (isRunEnd(event)) due.resolve();
    });
    const asked = create().catch(() => {});
    const writing = keepWriting(task, writes);
    if (events === 0) due.resolve();
    await within(due.promise, () => `event ${events} of ${task}`);
    await Bun.sleep(laterMs);
    const struck = fault ? fault.strike(server) : server.stop("SIGKILL").then(() => 0);
    if (fault) await struck;
    writing.stop();
    const [failed] = await Promise.all([struck, asked, writing.done]);
    if (fault) reader.close();
    await reader.ended;
    return { seen: reader.events, failed };
  }

  /** Writes secrets one after another, and collects the names of those that were answered. */
  function keepWriting(task: string, writes: string[]): { stop(): void; done: Promise<void> } {
    let going = true;
    const write = async () => {
      for (let n = 1; going && n <= 20; n++) {
        const name = `${task.replace(" ", "_")}_${n}`;
        const body = { name, value: `value of ${name}`, description: "" };
        const { status } = await server.request("POST", "/v1/secrets", { body });
        if (status !== 201) throw new Error(`POST /v1/secrets answered ${status}`);
        writes.push(name);
        await Bun.sleep(25);
      }
    };
    return {
      stop: () => {
        going = false;
      },
      done: write().catch(() => {}),
    };
  }

  async function look(runId: string, task: string) {
    const [one, steps, all] = await Promise.all([
      server.request<Run>("GET", `/v1/runs/${runId}`),
      server.request<{ items: Step[] }>("GET", `/v1/steps/${runId}?limit=200`),
      server.request<{ items: Run[] }>("GET", "/v1/runs?limit=200"),
    ]);
    const runsOfTask = all.body.items.filter(({ task_description }) => task_description === task).length;
    return { run: one.body, steps: steps.body.items, runsOfTask };
  }

  /** Reads the log again, from the same start to the same end. */
  async function readLog(from: number, to: number): Promise<SkepEvent[]> {
    const done = Promise.withResolvers<void>();
    const reader = readEvents(server.url, from, ({ id }) => id >= to && done.resolve());
    await within(done.promise, () => "the log");
    reader.close();
    return reader.events.filter(({ id }) => id <= to);
  }

  async function missing(names: readonly string[]): Promise<string[]> {
    if (names.length === 0) return [];
    const there = new Set<string>();
    for (let cursor: string | null = ""; cursor !== null; ) {
      const page: { body: { items: { name: string }[]; next_cursor: string | null } } = await server.request(
        "GET",
        `/v1/secrets?limit=200${cursor && `&cursor=${cursor}`}`,
      );
      for (const { name } of page.body.items) there.add(name);
      cursor = page.body.next_cursor;
    }
    return names.filter((name) => !there.has(name));
  }

  return {
    data,
    runUndisturbed: () => point(null),
    disturb: point,
    async remove() {
      await server.remove();
      rmSync(data, { recursive: true, force: true });
    },
  };
}
