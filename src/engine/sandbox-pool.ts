/**
 * The sandboxes of executions. One is started when a tool first needs it and goes with its execution; that of a chat
 * stays for a while, so that what was started in it still runs at the next turn.
 */

import { codeOf, messageOf, Problem, unavailable } from "../core/errors.ts";
import { LIMITS } from "../core/limits.ts";
import type { Logger } from "../core/log.ts";
import { raceSignal } from "../core/race-signal.ts";
import {
  placeOf,
  type Sandbox,
  type SandboxAbout,
  type SandboxDriver,
  type SandboxSpec,
  type WayOut,
} from "./sandbox.ts";

export interface LeaseRequest {
  spec: SandboxSpec;
  /** The user it works for: the number that wait is bounded per user. */
  userId?: string | undefined;
  /** Variables of this execution alone: given to each command, not to the sandbox. */
  env: Readonly<Record<string, string>>;
  /** Ends a start that is under way. */
  signal: AbortSignal;
}

export interface Lease {
  /** Started when its files or commands are first used. */
  sandbox: Sandbox;
  /** Starts it now. @throws Problem 503 as the driver says. */
  open(): Promise<void>;
  /**
   * Leaves a frozen sandbox running, so that its programs can be reached, until that time is over, others take its place, or
   * work begins or ends in its files. Ends the lease.
   * @param onEnd called once, before it is stopped. @returns undefined where that cannot be; the lease goes on.
   */
  show(ms: number, onEnd: () => void): Promise<Shown | undefined>;
  /** Ends the lease, once. @param keep leaves the sandbox to the next turn of its session, for the idle time. */
  release(keep: boolean): Promise<void>;
}

export interface Shown {
  connect: Sandbox["connect"];
  stop(): Promise<void>;
}

export interface SandboxPool {
  readonly capabilities: SandboxDriver["capabilities"];
  readonly noticeMs: SandboxDriver["noticeMs"];
  about(spec: SandboxSpec): Promise<SandboxAbout>;
  lease(request: LeaseRequest): Lease;
  /** Stops the one that waits for the session's next turn. */
  end(sessionId: string): void;
  /** Stops those that wait although no turn can begin in them. */
  endUseless(): Promise<void>;
  /**
   * Waits until nothing that ended, or was left by an earlier process, can change the files of this place (`placeOf`).
   * @throws Problem 503 `sandbox_not_stopped`, `sandbox_unavailable`; the signal's reason.
   */
  quiet(place: Pick<SandboxSpec, "workId" | "sessionId">, signal: AbortSignal): Promise<void>;
  /** Removes what no lease holds and nothing keeps. @returns how many. @throws when the container engine does not answer. */
  sweep(): Promise<number>;
  /** Stops all that wait, and keeps none from now on. */
  close(): Promise<void>;
}

interface Kept {
  sandbox: Sandbox;
  spec: SandboxSpec;
  userId: string | undefined;
  wayOut?: WayOut | undefined;
  /** It cannot change its files any more. */
  frozen?: boolean;
}
type OnShow = Kept & { timer: ReturnType<typeof setTimeout>; onEnd(): void };
type Idle = Kept & { timer: ReturnType<typeof setTimeout> };

export interface SandboxPoolDeps {
  driver: SandboxDriver;
  log: Logger;
  /** How long a chat's sandbox waits for the next turn. 0: none does. */
  idleMs(): number;
  /** Opens the way out of a sandbox that has just started; undefined where its network needs none. */
  wayOut?(sandbox: Sandbox, spec: SandboxSpec): Promise<WayOut | undefined>;
}

export function createSandboxPool({ driver, log, idleMs, wayOut }: SandboxPoolDeps): SandboxPool {
  /** By session, the one that has waited longest first. */
  const idle = new Map<string, Idle>();
  /** By the execution that started it, the one that is shown for longest first. */
  const onShow = new Map<string, OnShow>();
  /** Executions whose sandbox is there. */
  const held = new Set<string>();
  /** By place, the endings of sandboxes that may change its files until then. */
  const leaving = new Map<string, Set<Promise<void>>>();
  /** Places with a sandbox that could not be stopped. */
  let loose = new Set<string>();
  /** Those that became loose since the last sweep began, which may have looked before. */
  let missed = new Set<string>();
  /** A sweep has succeeded: what an earlier process left is gone, or loose. */
  let hasSwept = false;
  let sweeping: Promise<number> | undefined;
  let closed = false;
  const words = WORDS[driver.capabilities.isolation];
  const notStopped = (what: string): Problem =>
    unavailable(
      "sandbox_not_stopped",
      `${what.replace(/(?<![.\s])[.\s]+$/, "")}. Its processes may still change the files, so the work waits and it is tried again; if this lasts, ${words.remedy}.`,
    );

  /** @param ending of a sandbox that may change the files of its place until then. */
  async function leave(place: string, ending: Promise<void>): Promise<void> {
    const all = leaving.get(place) ?? new Set();
    leaving.set(place, all.add(ending));
    try {
      await ending;
    } finally {
      all.delete(ending);
      if (all.size === 0) leaving.delete(place);
    }
  }
  async function begin(spec: SandboxSpec, userId: string | undefined, signal: AbortSignal): Promise<Kept> {
    const sandbox = await driver.start(spec, signal);
    try {
      return { sandbox, spec, userId, wayOut: await wayOut?.(sandbox, spec) };
    } catch (error) {
      // Before any command of the agent: without its way out it is not what was asked for.
      await stop({ sandbox, spec, userId });
      throw error;
    }
  }
  async function stop({ sandbox, spec, frozen, wayOut: open }: Kept): Promise<void> {
    open?.close();
    try {
      await sandbox.stop();
    } catch (err) {
      log.warn({ err, execution: spec.executionId }, "sandbox not stopped; it will be swept");
      if (!frozen) for (const places of [loose, missed]) places.add(placeOf(spec));
    } finally {
      held.delete(spec.executionId);
    }
  }
  async function sweepNow(): Promise<number> {
    missed = new Set();
    try {
      const { removed, left } = await driver.sweep((executionId) => held.has(executionId));
      loose = new Set([...left, ...missed]);
      hasSwept = true;
      if (left.length > 0) log.warn({ places: left }, "sandboxes left behind cannot be removed; trying again");
      return removed;
    } finally {
      sweeping = undefined;
    }
  }
  const sweep = (): Promise<number> => {
    sweeping ??= sweepNow();
    return sweeping;
  };
  /** @throws Problem 503 `sandbox_not_stopped`, `sandbox_unavailable` while what ended may still change the files there. */
  async function swept(place: string): Promise<void> {
    if (hasSwept && !loose.has(place)) return;
    await sweep();
    if (loose.has(place)) throw notStopped(words.left);
  }
  async function quiet(at: Pick<SandboxSpec, "workId" | "sessionId">): Promise<void> {
    const place = placeOf(at);
    for (const [id, { spec }] of onShow) if (placeOf(spec) === place) void stopShown(id);
    await Promise.all(leaving.get(place) ?? []);
    // Files outside of working copies are touched through a sandbox alone, and `start` looks for what an earlier process left:
    // a chat without a project that needs no sandbox does not wait for the container engine.
    if (at.workId !== undefined || loose.has(place)) await swept(place);
  }
  /** @throws Problem 503 `sandbox_not_stopped`, `sandbox_unavailable`: what it works on is not to be kept yet. */
  async function freeze(kept: Kept): Promise<void> {
    try {
      await kept.sandbox.freeze();
      kept.frozen = true;
    } catch (error) {
      if (codeOf(error) === "sandbox_unavailable") throw error;
      throw notStopped(`${words.own}: ${messageOf(error)}`);
    }
  }
  function takeIdle(sessionId: string): Kept | undefined {
    const found = idle.get(sessionId);
    if (!found) return undefined;
    clearTimeout(found.timer);
    idle.delete(sessionId);
    return found;
  }
  async function stopIdle(sessionId: string): Promise<void> {
    const found = takeIdle(sessionId);
    if (found) await leave(placeOf(found.spec), stop(found));
  }
  function keep(kept: Kept): void {
    const { sessionId } = kept.spec;
    const ofUser = [...idle.values()].filter(({ userId }) => userId === kept.userId);
    if (ofUser.length >= LIMITS.idleSandboxesPerUser) void stopIdle(ofUser[0]!.spec.sessionId);
    else if (idle.size >= LIMITS.idleSandboxes) void stopIdle(idle.keys().next().value!);
    const timer = setTimeout(() => void stopIdle(sessionId), idleMs());
    timer.unref();
    idle.set(sessionId, { ...kept, timer });
  }
  async function stopShown(executionId: string): Promise<void> {
    const found = onShow.get(executionId);
    if (!found) return;
    onShow.delete(executionId);
    clearTimeout(found.timer);
    found.onEnd();
    await leave(placeOf(found.spec), stop(found));
  }
  /** Makes room by ending the oldest: of the user, else of all. */
  async function show({ sandbox, spec, userId, wayOut: open }: Kept, ms: number, onEnd: () => void): Promise<Shown> {
    open?.close();
    await sandbox.thaw();
    const { executionId } = spec;
    const ofUser = [...onShow.values()].filter((one) => one.userId === userId);
    if (ofUser.length >= LIMITS.keptPreviewsPerUser) void stopShown(ofUser[0]!.spec.executionId);
    else if (onShow.size >= LIMITS.keptPreviews) void stopShown(onShow.keys().next().value!);
    const timer = setTimeout(() => void stopShown(executionId), ms);
    timer.unref();
    onShow.set(executionId, { sandbox, spec, userId, onEnd, timer });
    return { connect: sandbox.connect, stop: () => stopShown(executionId) };
  }
  /** The one that waits for this session, when its specification has not changed and it still runs. */
  async function waiting(spec: SandboxSpec): Promise<Kept | undefined> {
    const found = takeIdle(spec.sessionId);
    if (!found) return undefined;
    if (isSame(found.spec, spec) && (await found.sandbox.isAlive())) return found;
    await stop(found);
    return undefined;
  }

  function lease({ spec, userId, env, signal }: LeaseRequest): Lease {
    let opening: Promise<Kept> | undefined;
    let own: Kept | undefined;
    const start = async (): Promise<Kept> => {
      const found = await waiting(spec);
      found?.wayOut?.serve(spec.executionId);
      if (found) return found;
      await raceSignal(swept(placeOf(spec)), signal);
      held.add(spec.executionId);
      try {
        return await begin(spec, userId, signal);
      } catch (error) {
        held.delete(spec.executionId);
        throw error;
      }
    };
    // A start that failed is tried again by the next call.
    const opened = async (): Promise<Kept> => {
      opening ??= start().catch((error) => {
        opening = undefined;
        throw error;
      });
      own = await opening;
      return own;
    };
    const end = async (wanted: boolean): Promise<void> => {
      const kept = await opening?.catch(() => undefined);
      // One that this turn did not need keeps waiting.
      const left = kept ?? takeIdle(spec.sessionId);
      if (!left) return;
      if (wanted && !closed && idleMs() > 0) keep(left);
      else await stop(left);
    };
    return {
      sandbox: lazy(
        driver,
        () => ({ ...env, ...own?.wayOut?.env }),
        async () => (await opened()).sandbox,
        () => opening !== undefined,
        async () => freeze(await opened()),
      ),
      open: async () => void (await opened()),
      async show(ms, onEnd) {
        const kept = await opening?.catch(() => undefined);
        if (!kept?.frozen || closed || driver.capabilities.previews !== "thawed") return undefined;
        // From here on it may change its files, whether or not it can be shown.
        kept.frozen = false;
        const shown = await show(kept, ms, onEnd);
        opening = undefined;
        own = undefined;
        return shown;
      },
      release: (wanted) => (own?.frozen ? end(wanted) : leave(placeOf(spec), end(wanted))),
    };
  }

  return {
    capabilities: driver.capabilities,
    noticeMs: driver.noticeMs,
    about: driver.about,
    lease,
    end: (sessionId) => void stopIdle(sessionId),
    async endUseless() {
      const waiting = [...idle].map(async ([sessionId, { sandbox }]) => {
        const isUseful = await sandbox.isAlive().catch(() => false);
        // Meanwhile its turn may have come.
        if (!isUseful && idle.get(sessionId)?.sandbox === sandbox) await stopIdle(sessionId);
      });
      await Promise.all(waiting);
    },
    async quiet(place, signal) {
      signal.throwIfAborted();
      await raceSignal(quiet(place), signal);
    },
    sweep,
    async close() {
      closed = true;
      await Promise.all([...[...idle.keys()].map(stopIdle), ...[...onShow.keys()].map(stopShown)]);
    },
  };
}

/** Of a sandbox that cannot be stopped, by the driver's isolation. */
const WORDS = {
  container: {
    own: "Its container can be neither paused nor removed",
    left: "The container of ended work cannot be removed",
    remedy: "restart the container engine",
  },
  none: {
    own: "Its processes cannot be ended",
    left: "Processes of ended work cannot be ended",
    remedy: "end them by hand",
  },
} as const;

/** The execution that started it only names it; all else must be the same. */
const isSame = (one: SandboxSpec, other: SandboxSpec): boolean =>
  JSON.stringify({ ...one, executionId: "" }) === JSON.stringify({ ...other, executionId: "" });

/** A sandbox that is started by its first use. @param isOpen whether there is anything to bring back. */
function lazy(
  { capabilities }: SandboxDriver,
  env: () => Readonly<Record<string, string>>,
  open: () => Promise<Sandbox>,
  isOpen: () => boolean,
  freeze: () => Promise<void>,
): Sandbox {
  return {
    capabilities,
    workspace: {
      read: async (path) => (await open()).workspace.read(path),
      write: async (path, data) => (await open()).workspace.write(path, data),
      list: async (path) => (await open()).workspace.list(path),
      walk: async (path, options) => (await open()).workspace.walk(path, options),
      bringBack: async () => (isOpen() ? (await open()).workspace.bringBack() : undefined),
    },
    exec: async (argv, options) => {
      const sandbox = await open();
      return await sandbox.exec(argv, { ...options, env: { ...env(), ...options.env } });
    },
    open: async (program, events, signal) => {
      const sandbox = await open();
      return await sandbox.open(
        (places) => {
          const { argv, env: own } = program(places);
          return { argv, env: { ...env(), ...own } };
        },
        events,
        signal,
      );
    },
    openRoute: async (onConnection, port) => (await open()).openRoute(onConnection, port),
    connect: async (port) => {
      // A visitor starts none.
      if (!isOpen()) throw new Problem(502, "nothing_listens", "The sandbox has not been started yet.");
      return await (await open()).connect(port);
    },
    freeze: async () => (isOpen() ? freeze() : undefined),
    thaw: async () => (isOpen() ? (await open()).thaw() : undefined),
    isAlive: async () => isOpen() && (await open()).isAlive(),
    stop: async () => (isOpen() ? (await open()).stop() : undefined),
  };
}
