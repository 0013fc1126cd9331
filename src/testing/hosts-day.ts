/**
 * A simulated day of work on many hosts. The real placement runs on machines that exist only in the simulation, that
 * fail and return, and that are drained. The same seed gives the same day, to the millisecond.
 */
import { createHostedSandboxes, type Host } from "../adapter/sandbox/hosts/driver.ts";
import { createProcessSandboxes } from "../adapter/sandbox/process/driver.ts";
import { type Clock, HOUR_MS, systemClock } from "../core/clock.ts";
import { codeOf, unavailable } from "../core/errors.ts";
import type { Sandbox, SandboxSpec } from "../engine/sandbox.ts";

interface DayPlan {
  seed: number;
  hosts: number;
  slots: number;
  executions: number;
  /** Steps of each run, one after another on the same files. */
  steps: number;
  /** Failures of hosts during the day. */
  losses: number;
  drains: number;
}

interface Day {
  /** How often each execution ended, by its id. */
  ends: Map<string, number>;
  /** Executions that were started again after their host had failed. */
  again: number;
  /** Most sandboxes at the same time, on one host (`mostOfHost`) and on all (`mostOfAll`). */
  mostOfHost: number;
  mostOfAll: number;
  /**
   * Started steps that follow another one: on the host that has their files (`near`), and on another one (`further`).
   */
  near: number;
  further: number;
  /** Starts on a drained host (`onDrained`), and sandboxes that remained when all work had ended (`left`). */
  onDrained: number;
  left: number;
  /** Times from the request to the first start, in ms, sorted. */
  waits: number[];
}

const [MINUTE, HOUR] = [60_000, HOUR_MS];
const DAY = 24 * HOUR;
/** How long the engine waits before it tries again, in ms. */
const BACK_OFF = 5_000;
/** Longest time until a failed machine is noticed, in ms. */
const NOTICE = 15_000;
const never = new AbortController().signal;

/** mulberry32. */
function randomOf(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}

/** A queue of future actions, ordered by time. Actions at the same time run in the order in which they were planned. */
function createTimeline() {
  const heap: { at: number; order: number; act(): unknown }[] = [];
  let [now, order] = [0, 0];
  const isBefore = (one: number, other: number): boolean => {
    const [a, b] = [heap[one]!, heap[other]!];
    return a.at < b.at || (a.at === b.at && a.order < b.order);
  };
  const swap = (one: number, other: number): void => {
    [heap[one], heap[other]] = [heap[other]!, heap[one]!];
  };
  return {
    now: () => now,
    after(ms: number, act: () => unknown): void {
      let at = heap.push({ at: now + ms, order: order++, act }) - 1;
      for (; at > 0 && isBefore(at, (at - 1) >> 1); at = (at - 1) >> 1) swap(at, (at - 1) >> 1);
    },
    async run(): Promise<void> {
      for (;;) {
        const next = heap[0];
        if (!next) return;
        const last = heap.pop()!;
        if (heap.length > 0) heap[0] = last;
        for (let at = 0; ; ) {
          const least = [2 * at + 1, 2 * at + 2].filter((one) => one < heap.length && isBefore(one, at));
          const child = least.length === 2 && isBefore(least[1]!, least[0]!) ? least[1] : least[0];
          if (child === undefined) break;
          swap(at, child);
          at = child;
        }
        now = next.at;
        await next.act();
      }
    },
  };
}

type Timeline = ReturnType<typeof createTimeline>;

/** A simulated machine whose sandboxes contain nothing. */
function createMachine(name: string, slots: number) {
  const state = { up: true, boots: 0, has: new Set<string>(), lose: new Map<string, () => void>(), drained: false };
  const answer = (): void => {
    if (!state.up) throw unavailable("sandbox_unavailable", "It does not answer.");
  };
  const base = createProcessSandboxes({ allowHostShell: false });
  const sandboxOf = ({ executionId }: SandboxSpec): Sandbox => {
    const { boots } = state;
    const here = async (): Promise<never> => {
      answer();
      if (boots !== state.boots) throw unavailable("sandbox_lost", "It is gone.");
      return undefined as never;
    };
    const release = async (): Promise<void> => {
      answer();
      state.has.delete(executionId);
    };
    const files = { read: here, write: here, list: here, walk: here, bringBack: here };
    const alive = async () => state.up && boots === state.boots;
    return {
      capabilities: base.capabilities,
      workspace: files,
      exec: here,
      open: here,
      openRoute: here,
      connect: here,
      thaw: here,
      freeze: release,
      isAlive: alive,
      stop: release,
    };
  };
  const host: Host = {
    name,
    slots,
    labels: [],
    ping: async () => answer(),
    driver: {
      ...base,
      close: async () => {},
      async start(spec) {
        answer();
        state.has.add(spec.executionId);
        return sandboxOf(spec);
      },
      async sweep(isLive) {
        answer();
        for (const id of state.has) if (!isLive(id)) state.has.delete(id);
        return { removed: 0, left: [] };
      },
    },
  };
  return { host, state };
}

export async function simulateDay(plan: DayPlan): Promise<Day> {
  const random = randomOf(plan.seed);
  const time = createTimeline();
  const clock: Clock = { ...systemClock, now: time.now, monotonic: time.now };
  const machines = Array.from({ length: plan.hosts }, (_, n) => createMachine(`host${n}`, plan.slots));
  const [first, ...others] = machines.map(({ host }) => host);
  const driver = createHostedSandboxes([first!, ...others], clock);
  const day: Day = {
    ends: new Map(),
    again: 0,
    mostOfHost: 0,
    mostOfAll: 0,
    near: 0,
    further: 0,
    onDrained: 0,
    left: 0,
    waits: [],
  };
  const live = new Set<string>();
  const whereOf = (id: string) => machines.find(({ state }) => state.up && state.has.has(id));
  const runs = Math.ceil(plan.executions / plan.steps);

  function beginStep(run: number, step: number, before: string | undefined): void {
    const id = `exe_${run}_${step}`;
    const spec = { executionId: id, sessionId: `ses_${run}`, agentId: "worker", home: `/w/${run}`, ...BOX };
    const wanted = time.now();
    let hasBegun = false;
    live.add(id);
    const attempt = async (): Promise<void> => {
      let sandbox: Sandbox;
      try {
        sandbox = await driver.start(spec, never);
      } catch (error) {
        if (codeOf(error) !== "sandbox_unavailable") throw error;
        return time.after(BACK_OFF, attempt);
      }
      const machine = whereOf(id)!;
      if (machine.state.drained) day.onDrained += 1;
      if (!hasBegun) day.waits.push(time.now() - wanted);
      hasBegun = true;
      const all = machines.map(({ state }) => (state.up ? state.has.size : 0));
      day.mostOfHost = Math.max(day.mostOfHost, ...all);
      day.mostOfAll = Math.max(
        day.mostOfAll,
        all.reduce((sum, one) => sum + one, 0),
      );
      if (before !== undefined) day[machine.host.name === before ? "near" : "further"] += 1;
      let isOver = false;
      const onLost = async (): Promise<void> => {
        if (isOver) return;
        isOver = true;
        // The next command in the sandbox fails, the sandbox is released, and the step starts again elsewhere.
        const code = await commandOf(sandbox);
        await sandbox.stop();
        if (code !== "sandbox_lost" && code !== "sandbox_unavailable") throw new Error(`not lost: ${code}`);
        day.again += 1;
        time.after(BACK_OFF, attempt);
      };
      machine.state.lose.set(id, () => time.after(random() * NOTICE, onLost));
      // From a minute to an hour; most steps are short.
      time.after(MINUTE + 59 * MINUTE * random() ** 4, async () => {
        // If the machine has failed, `onLost` will handle it soon.
        if (isOver || (await commandOf(sandbox)) !== "") return;
        isOver = true;
        await sandbox.stop();
        machine.state.lose.delete(id);
        live.delete(id);
        day.ends.set(id, (day.ends.get(id) ?? 0) + 1);
        if (step + 1 < plan.steps) time.after(1_000, () => beginStep(run, step + 1, machine.host.name));
      });
    };
    time.after(0, attempt);
  }
  // Three times as many runs start in the middle of the day as at night.
  for (let run = 0; run < runs; run++) {
    const at = dayTime(random);
    time.after(at, () => beginStep(run, 0, undefined));
  }
  planTrouble({ time, machines, random, plan, setDrained: driver.setDrained });
  for (let at = MINUTE; at < DAY; at += MINUTE)
    time.after(at, () => driver.sweep((id) => live.has(id)).catch(() => {}));
  await time.run();
  day.left = (await driver.look()).reduce((sum, { used }) => sum + used, 0);
  day.waits.sort((one, other) => one - other);
  return day;
}

/** @returns the code of the error if the command could not run; empty if it ran. */
const commandOf = (sandbox: Sandbox): Promise<string | undefined> =>
  sandbox.exec([], { timeoutMs: 1, maxOutputBytes: 1 }).then(() => "", codeOf);

const BOX = { network: "none", memoryMb: 64, cpus: 1, env: {} } as const;

function dayTime(random: () => number): number {
  for (;;) {
    const at = random() * DAY;
    if (random() < (2 - Math.cos((2 * Math.PI * at) / DAY)) / 3) return at;
  }
}

interface Trouble {
  time: Timeline;
  machines: readonly ReturnType<typeof createMachine>[];
  random: () => number;
  plan: DayPlan;
  setDrained(name: string, drained: boolean): void;
}

function planTrouble({ time, machines, random, plan, setDrained }: Trouble): void {
  const any = () => machines[Math.floor(random() * machines.length)]!;
  for (let n = 0; n < plan.losses; n++) {
    const { state } = any();
    const [at, lasts] = [random() * DAY, 10 * MINUTE + random() * 50 * MINUTE];
    time.after(at, () => {
      if (!state.up) return;
      state.up = false;
      const tellAll = [...state.lose.values()];
      state.lose.clear();
      for (const tell of tellAll) tell();
      time.after(lasts, () => {
        // The machine's containers did not survive its failure.
        state.has.clear();
        state.boots += 1;
        state.up = true;
      });
    });
  }
  for (let n = 0; n < plan.drains; n++) {
    const { state, host } = any();
    const at = random() * DAY;
    const set = (drained: boolean) => () => {
      state.drained = drained;
      setDrained(host.name, drained);
    };
    time.after(at, set(true));
    time.after(at + HOUR, set(false));
  }
}
