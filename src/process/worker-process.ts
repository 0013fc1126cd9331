/**
 * A child process of this program, as its parent sees it. Calls go in and answers come out. The parent kills a child
 * that is late, too large or no longer used, so work that may hang, crash or grow runs in one.
 */
import { readFileSync } from "node:fs";

export interface WorkerSetup {
  /** The child's command line. */
  command: readonly string[];
  /** The child's whole environment: no other variable of the parent is passed on. */
  env: Readonly<Record<string, string>>;
  /** Resident bytes; a child that holds more is killed. */
  memoryBytes: number;
  memoryCheckMs: number;
  /** A child without a call for this many milliseconds is stopped. */
  idleMs: number;
  /** Name of the child in the log. */
  name: string;
}

export type LostHow = "ended" | "late" | "memory";

/** The child process died during a call. */
export class WorkerLost extends Error {
  constructor(
    readonly how: LostHow,
    reason: string,
  ) {
    super(reason);
  }
}

/** What a message of the child means for its call: `not-over` when more messages follow, else the call's result. */
export type Taken = "not-over" | { value: unknown } | { error: Error };

export interface WorkerCall<Reply> {
  /** Name of the call in the log. */
  what: string;
  message: Readonly<Record<string, unknown>>;
  /** Longest wait for the next message, in milliseconds; then the process is killed. */
  timeoutMs: number;
  take(reply: Reply): Taken;
}

interface Pending<Reply> extends WorkerCall<Reply> {
  resolve(value: unknown): void;
  reject(error: Error): void;
  timer: ReturnType<typeof setTimeout> | undefined;
}

const PAGE_BYTES = 4096;

/** Resident bytes of a process; 0 where the system does not report them. */
export function residentBytes(pid: number): number {
  try {
    return Number(readFileSync(`/proc/${pid}/statm`, "utf8").split(" ")[1]) * PAGE_BYTES;
  } catch {
    return 0;
  }
}

/** @typeParam Reply messages of the child; each names the call that it belongs to by its `id`. */
export class WorkerProcess<Reply extends { id: number }> {
  alive = true;
  /** Number of calls that the child has answered. */
  answered = 0;
  private readonly calls = new Map<number, Pending<Reply>>();
  private readonly process: Bun.Subprocess;
  private readonly watch: ReturnType<typeof setInterval>;
  private lastUsed = Date.now();
  private nextId = 1;
  private lost: { how: LostHow; reason: string } | undefined;

  /** @param onEnd called once, when the child has ended. `reason` is empty when the child was no longer needed. */
  constructor(
    private readonly setup: WorkerSetup,
    private readonly onEnd: (worker: WorkerProcess<Reply>, reason: string) => void,
  ) {
    const { command, env, memoryBytes, memoryCheckMs, idleMs, name } = setup;
    this.process = Bun.spawn([...command], {
      stdin: "ignore",
      stdout: "ignore",
      stderr: "ignore",
      env: { ...env },
      ipc: (reply: Reply) => this.receive(reply),
      onExit: (_, code, signal) => this.end(`${name} ended (${signal ?? code})`),
    });
    this.watch = setInterval(
      () => {
        if (this.residentBytes() > memoryBytes) this.kill(`${name} over its memory bound`, "memory");
        else if (this.calls.size === 0 && Date.now() - this.lastUsed > idleMs) this.kill("");
      },
      Math.min(memoryCheckMs, idleMs),
    );
    this.watch.unref();
    this.process.unref();
  }

  get pid(): number {
    return this.process.pid;
  }

  get exited(): Promise<unknown> {
    return this.process.exited;
  }

  residentBytes(): number {
    return residentBytes(this.pid);
  }

  /** @param reason for the log; empty when the process is no longer needed. */
  kill(reason: string, how: LostHow = "ended"): void {
    this.lost ??= { how, reason };
    this.process.kill("SIGKILL");
  }

  /** Sends a call to the child. @throws WorkerLost, or the error that `take` makes of a reply. */
  ask(call: WorkerCall<Reply>): Promise<unknown> {
    return new Promise((resolve, reject) => {
      if (!this.alive) throw new WorkerLost("ended", `${this.setup.name} has ended`);
      this.lastUsed = Date.now();
      const id = this.nextId++;
      const pending: Pending<Reply> = { ...call, resolve, reject, timer: undefined };
      this.calls.set(id, pending);
      this.arm(pending);
      this.process.send({ ...call.message, id });
    });
  }

  private end(reason: string): void {
    if (!this.alive) return;
    this.alive = false;
    clearInterval(this.watch);
    const lost = this.lost?.reason ? this.lost : { how: this.lost?.how ?? "ended", reason };
    const cause = this.calls.size > 0 || this.lost?.reason ? lost.reason : "";
    for (const call of this.calls.values()) {
      clearTimeout(call.timer);
      call.reject(new WorkerLost(lost.how, lost.reason));
    }
    this.calls.clear();
    this.onEnd(this, cause);
  }

  private arm(call: Pending<Reply>): void {
    clearTimeout(call.timer);
    const killLate = () => this.kill(`${this.setup.name} did not answer ${call.what} in time`, "late");
    call.timer = setTimeout(killLate, call.timeoutMs);
  }

  private receive(reply: Reply): void {
    const call = this.calls.get(reply.id);
    if (!call) return;
    this.lastUsed = Date.now();
    const taken = call.take(reply);
    if (taken === "not-over") return this.arm(call);
    clearTimeout(call.timer);
    this.calls.delete(reply.id);
    this.answered++;
    if ("error" in taken) call.reject(taken.error);
    else call.resolve(taken.value);
  }
}
