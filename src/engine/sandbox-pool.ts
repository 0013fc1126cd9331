/**
 * The sandboxes of executions. A sandbox starts when a tool first needs it and ends with its execution. A chat's
 * sandbox stays for a while, so that programs started in it still run at the next turn.
 */

import { codeOf, Problem } from "../core/errors.ts";
import { LIMITS } from "../core/limits.ts";
import type { Logger } from "../core/log.ts";
import { raceSignal } from "../core/race-signal.ts";
import { createParked } from "./parked-sandboxes.ts";
import { placeOf, type Sandbox, type SandboxDriver, type SandboxSpec, type WayOut } from "./sandbox.ts";
import { createEndings } from "./sandbox-endings.ts";

interface LeaseRequest {
  spec: SandboxSpec;
  /** The user it works for; the number of parked sandboxes is limited per user. */
  userId?: string | undefined;
  /** Variables of this execution only; each command gets them, the sandbox does not. */
  env: Readonly<Record<string, string>>;
  /** Aborts a start that is under way. */
  signal: AbortSignal;
}

export interface Lease {
  /** The sandbox; it starts when its files or commands are first used. */
  sandbox: Sandbox;
  /** Starts the sandbox now. @throws Problem 503 as the driver says. */
  open(): Promise<void>;
  /**
   * Lets a frozen sandbox run on, so that its programs can be reached. It ends when the time is over, when others take
   * its place, or when work begins or ends in its files. Ends the lease.
   * @param onEnd called once, before the sandbox is stopped.
   * @returns undefined when that is not possible; the lease goes on.
   */
  show(ms: number, onEnd: () => void): Promise<Shown | undefined>;
  /** Ends the lease, once. @param keep leaves the sandbox to the session's next turn, for the idle time. */
  release(keep: boolean): Promise<void>;
}

export interface Shown {
  connect: Sandbox["connect"];
  stop(): Promise<void>;
}

export type SandboxPool = ReturnType<typeof createSandboxPool>;

interface Kept {
  sandbox: Sandbox;
  spec: SandboxSpec;
  userId: string | undefined;
  wayOut?: WayOut | undefined;
  /** True when it is frozen, so that it can no longer change its files. */
  frozen?: boolean;
}

export interface SandboxPoolDeps {
  driver: SandboxDriver;
  log: Logger;
  /** How long a chat's sandbox waits for the next turn. 0: not at all. */
  idleMs(): number;
  /** Opens the way out for a sandbox that has just started; undefined when its network needs none. */
  wayOut?(sandbox: Sandbox, spec: SandboxSpec): Promise<WayOut | undefined>;
}

export function createSandboxPool({ driver, log, idleMs, wayOut }: SandboxPoolDeps) {
  /** Ids of executions that have a sandbox. */
  const held = new Set<string>();
  let closed = false;
  const endings = createEndings(driver, log, (executionId) => held.has(executionId));
  const leave = (kept: Kept): Promise<void> => endings.leave(placeOf(kept.spec), stop(kept));
  /** Idle sandboxes of chats, by session. */
  const idle = createParked<Kept>({ perUser: LIMITS.idleSandboxesPerUser, all: LIMITS.idleSandboxes }, leave);
  /** Sandboxes whose previews are kept, by the execution that started them. */
  const onShow = createParked<Kept & { onEnd(): void }>(
    { perUser: LIMITS.keptPreviewsPerUser, all: LIMITS.keptPreviews },
    (shown) => {
      shown.onEnd();
      return leave(shown);
    },
  );

  async function begin(spec: SandboxSpec, userId: string | undefined, signal: AbortSignal): Promise<Kept> {
    const sandbox = await driver.start(spec, signal);
    try {
      return { sandbox, spec, userId, wayOut: await wayOut?.(sandbox, spec) };
    } catch (error) {
      // No command of the agent has run yet. Without its way out, this is not the sandbox that was asked for.
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
      if (!frozen) endings.noteLoose(placeOf(spec));
    } finally {
      held.delete(spec.executionId);
    }
  }
  async function waitForQuiet(at: Pick<SandboxSpec, "workId" | "sessionId">): Promise<void> {
    const place = placeOf(at);
    for (const [id, { spec }] of onShow.listEntries()) if (placeOf(spec) === place) void onShow.stop(id);
    // Files outside working copies can only be changed through a sandbox, and `start` checks for what an earlier
    // process left. So a chat without a project that needs no sandbox does not wait for the container engine.
    await endings.quiet(place, { isSwept: at.workId !== undefined });
  }
  /** Takes the session's idle sandbox if its specification is unchanged and it still runs. */
  async function takeIdle(spec: SandboxSpec): Promise<Kept | undefined> {
    const found = idle.take(spec.sessionId);
    if (!found) return undefined;
    if (isSame(found.spec, spec) && (await found.sandbox.isAlive())) return found;
    await stop(found);
    return undefined;
  }

  function lease({ spec, userId, env, signal }: LeaseRequest): Lease {
    let opening: Promise<Kept> | undefined;
    let own: Kept | undefined;
    const start = async (): Promise<Kept> => {
      const found = await takeIdle(spec);
      found?.wayOut?.serve(spec.executionId);
      if (found) return found;
      await raceSignal(endings.assertSwept(placeOf(spec)), signal);
      held.add(spec.executionId);
      try {
        return await begin(spec, userId, signal);
      } catch (error) {
        held.delete(spec.executionId);
        throw error;
      }
    };
    // After a failed start, the next call tries again.
    const openSandbox = async (): Promise<Kept> => {
      opening ??= start().catch((error) => {
        opening = undefined;
        throw error;
      });
      own = await opening;
      return own;
    };
    const end = async (wanted: boolean): Promise<void> => {
      const kept = await opening?.catch(() => undefined);
      // An idle sandbox that this turn did not need keeps waiting.
      const left = kept ?? idle.take(spec.sessionId);
      if (!left) return;
      if (wanted && !closed && idleMs() > 0) idle.put(spec.sessionId, left, idleMs());
      else await stop(left);
    };
    return {
      sandbox: createLazySandbox(
        driver,
        () => ({ ...env, ...own?.wayOut?.env }),
        async () => (await openSandbox()).sandbox,
        () => opening !== undefined,
        async () => freeze(await openSandbox(), endings),
      ),
      open: async () => void (await openSandbox()),
      async show(ms, onEnd) {
        const kept = await opening?.catch(() => undefined);
        if (!kept?.frozen || closed || driver.capabilities.previews !== "thawed") return undefined;
        // From here on its programs may change files, whether or not the preview can be shown.
        kept.frozen = false;
        kept.wayOut?.close();
        await kept.sandbox.thaw();
        const { sandbox, spec, userId } = kept;
        onShow.put(spec.executionId, { sandbox, spec, userId, onEnd }, ms);
        opening = undefined;
        own = undefined;
        return { connect: sandbox.connect, stop: () => onShow.stop(spec.executionId) };
      },
      release: (wanted) => (own?.frozen ? end(wanted) : endings.leave(placeOf(spec), end(wanted))),
    };
  }

  return {
    capabilities: driver.capabilities,
    noticeMs: driver.noticeMs,
    about: driver.about,
    lease,
    /** Stops the sandbox that waits for the session's next turn. */
    end: (sessionId: string): void => void idle.stop(sessionId),
    /** Stops idle sandboxes in which no turn can begin. */
    async endUseless(): Promise<void> {
      const waiting = idle.listEntries().map(async ([sessionId, { sandbox }]) => {
        const isUseful = await sandbox.isAlive().catch(() => false);
        // Its turn may have come meanwhile.
        if (!isUseful && idle.get(sessionId)?.sandbox === sandbox) await idle.stop(sessionId);
      });
      await Promise.all(waiting);
    },
    /**
     * Waits until no ended sandbox, of this or an earlier process, can change the files of this place (`placeOf`).
     * @throws Problem 503 `sandbox_not_stopped`, `sandbox_unavailable`; the signal's reason.
     */
    async quiet(place: Pick<SandboxSpec, "workId" | "sessionId">, signal: AbortSignal): Promise<void> {
      signal.throwIfAborted();
      await raceSignal(waitForQuiet(place), signal);
    },
    /**
     * Removes sandboxes that no lease holds and nothing keeps. @returns how many. @throws when the container engine
     * does not answer.
     */
    sweep: endings.sweep,
    /** Stops all parked sandboxes; from now on none is parked. */
    async close(): Promise<void> {
      closed = true;
      await Promise.all([idle.stopAll(), onShow.stopAll()]);
    },
  };
}

/**
 * @throws Problem 503 `sandbox_not_stopped`, `sandbox_unavailable`: the files it works on must not be committed yet.
 */
async function freeze(kept: Kept, { notFrozen }: Pick<ReturnType<typeof createEndings>, "notFrozen">): Promise<void> {
  try {
    await kept.sandbox.freeze();
    kept.frozen = true;
  } catch (error) {
    if (codeOf(error) === "sandbox_unavailable") throw error;
    throw notFrozen(error);
  }
}

/** Whether two specifications are the same. `executionId` only labels the sandbox, so it may differ. */
const isSame = (one: SandboxSpec, other: SandboxSpec): boolean =>
  JSON.stringify({ ...one, executionId: "" }) === JSON.stringify({ ...other, executionId: "" });

/** A sandbox that starts at its first use. @param isOpen whether it has been started. */
function createLazySandbox(
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
      // A visitor to a preview must not start a sandbox.
      if (!isOpen()) throw new Problem(502, "nothing_listens", "The sandbox has not been started yet.");
      return await (await open()).connect(port);
    },
    freeze: async () => (isOpen() ? freeze() : undefined),
    thaw: async () => (isOpen() ? (await open()).thaw() : undefined),
    isAlive: async () => isOpen() && (await open()).isAlive(),
    stop: async () => (isOpen() ? (await open()).stop() : undefined),
  };
}
