/**
 * The sandboxes of executions. One is started when a tool first needs it and goes with its execution; that of a chat
 * stays for a while, so that what was started in it still runs at the next turn.
 */
import { LIMITS } from "../core/limits.ts";
import type { Logger } from "../core/log.ts";
import type { Sandbox, SandboxAbout, SandboxDriver, SandboxSpec } from "./sandbox.ts";

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
  /** Ends the lease, once. @param keep leaves the sandbox to the next turn of its session, for the idle time. */
  release(keep: boolean): Promise<void>;
}

export interface SandboxPool {
  readonly capabilities: SandboxDriver["capabilities"];
  about(spec: SandboxSpec): Promise<SandboxAbout>;
  lease(request: LeaseRequest): Lease;
  /** Stops the one that waits for the session's next turn. */
  end(sessionId: string): void;
  /** Whether a sandbox that this execution started is there. */
  holds(executionId: string): boolean;
  /** Stops all that wait, and keeps none from now on. */
  close(): Promise<void>;
}

interface Kept {
  sandbox: Sandbox;
  spec: SandboxSpec;
  userId: string | undefined;
}
type Idle = Kept & { timer: ReturnType<typeof setTimeout> };

export interface SandboxPoolDeps {
  driver: SandboxDriver;
  log: Logger;
  /** How long a chat's sandbox waits for the next turn. 0: none does. */
  idleMs(): number;
}

export function createSandboxPool({ driver, log, idleMs }: SandboxPoolDeps): SandboxPool {
  /** By session, the one that has waited longest first. */
  const idle = new Map<string, Idle>();
  const held = new Set<string>();
  let closed = false;

  async function stop({ sandbox, spec }: Kept): Promise<void> {
    try {
      await sandbox.stop();
    } catch (err) {
      log.warn({ err, execution: spec.executionId }, "sandbox not stopped; it will be swept");
    } finally {
      held.delete(spec.executionId);
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
    if (found) await stop(found);
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
    const start = async (): Promise<Kept> => {
      const found = await waiting(spec);
      if (found) return found;
      held.add(spec.executionId);
      try {
        return { sandbox: await driver.start(spec, signal), spec, userId };
      } catch (error) {
        held.delete(spec.executionId);
        throw error;
      }
    };
    // A start that failed is tried again by the next call.
    const opened = (): Promise<Kept> => {
      opening ??= start().catch((error) => {
        opening = undefined;
        throw error;
      });
      return opening;
    };
    return {
      sandbox: lazy(
        driver,
        env,
        async () => (await opened()).sandbox,
        () => opening !== undefined,
        // A container engine that fails does not lose what was done.
        (sandbox) =>
          sandbox.freeze().catch((err) => {
            log.warn({ err, execution: spec.executionId }, "sandbox not paused; it will be swept");
          }),
      ),
      open: async () => void (await opened()),
      async release(wanted) {
        const kept = await opening?.catch(() => undefined);
        // One that this turn did not need keeps waiting.
        const left = kept ?? takeIdle(spec.sessionId);
        if (!left) return;
        if (wanted && !closed && idleMs() > 0) keep(left);
        else await stop(left);
      },
    };
  }

  return {
    capabilities: driver.capabilities,
    about: driver.about,
    lease,
    end: (sessionId) => void stopIdle(sessionId),
    holds: (executionId) => held.has(executionId),
    async close() {
      closed = true;
      await Promise.all([...idle.keys()].map(stopIdle));
    },
  };
}

/** The execution that started it only names it; all else must be the same. */
const isSame = (one: SandboxSpec, other: SandboxSpec): boolean =>
  JSON.stringify({ ...one, executionId: "" }) === JSON.stringify({ ...other, executionId: "" });

/** A sandbox that is started by its first use. @param isOpen whether there is anything to bring back. */
function lazy(
  { capabilities }: SandboxDriver,
  env: Readonly<Record<string, string>>,
  open: () => Promise<Sandbox>,
  isOpen: () => boolean,
  freeze: (sandbox: Sandbox) => Promise<void>,
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
    exec: async (argv, options) => (await open()).exec(argv, { ...options, env: { ...env, ...options.env } }),
    freeze: async () => (isOpen() ? freeze(await open()) : undefined),
    isAlive: async () => isOpen() && (await open()).isAlive(),
    stop: async () => (isOpen() ? (await open()).stop() : undefined),
  };
}
