/** One graph worker as its parent sees it: calls go in, answers come out, and it is killed when it is late or too large. */
import { readFileSync } from "node:fs";
import { GraphError, isGraphErrorCode } from "./graph-error.ts";
import type { PhaseReport } from "./indexer.ts";
import type { GraphOperation, GraphReply, GraphRequest } from "./protocol.ts";
import type { GraphPlace } from "./session.ts";

/** An endpoint's answer as JSON. */
export interface GraphJson {
  /** UTF-8, in order. */
  pieces: Uint8Array<ArrayBuffer>[];
  /** Where a list goes on; null at its end. */
  next: number | null;
}

export interface Asked {
  operation: GraphOperation;
  args: readonly unknown[];
  json?: true;
  /** Longest without an answer or progress; the process is killed then. */
  timeoutMs: number;
  progress?: ((phases: readonly PhaseReport[]) => void) | undefined;
}

export interface WorkerSetup {
  /** Command line of a graph worker. */
  command: readonly string[];
  /** Nothing of the parent's environment is passed on otherwise. */
  env: Readonly<Record<string, string>>;
  /** Resident bytes; beyond them it is killed. */
  memoryBytes: number;
  memoryCheckMs: number;
  /** Not asked for so long, it is stopped. */
  idleMs: number;
  /** Told once; `reason` is empty when it was no longer needed. */
  onEnd(worker: WorkerProcess, reason: string): void;
}

export type LostHow = "ended" | "late" | "memory";

/** The process died under a call. */
export class WorkerLost extends Error {
  constructor(
    readonly how: LostHow,
    reason: string,
  ) {
    super(reason);
  }
}

interface Call extends Asked {
  resolve(value: unknown): void;
  reject(error: Error): void;
  timer: ReturnType<typeof setTimeout> | undefined;
  pieces: Uint8Array<ArrayBuffer>[];
}

const PAGE_BYTES = 4096;

export class WorkerProcess {
  /** Calls it has answered. */
  answered = 0;
  private readonly calls = new Map<number, Call>();
  private readonly process: Bun.Subprocess;
  private readonly watch: ReturnType<typeof setInterval>;
  private lastUsed = Date.now();
  private nextId = 1;
  alive = true;
  private lost: { how: LostHow; reason: string } | undefined;

  constructor(private readonly setup: WorkerSetup) {
    const { command, env, memoryBytes, memoryCheckMs, idleMs } = setup;
    this.process = Bun.spawn([...command], {
      stdin: "ignore",
      stdout: "ignore",
      stderr: "ignore",
      env: { ...env },
      ipc: (message: GraphReply) => this.receive(message),
      onExit: (_, code, signal) => this.end(`graph worker ended (${signal ?? code})`),
    });
    this.watch = setInterval(
      () => {
        if (this.residentBytes() > memoryBytes) this.kill("graph worker over its memory bound", "memory");
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

  /** 0 where the system does not tell. */
  residentBytes(): number {
    try {
      return Number(readFileSync(`/proc/${this.pid}/statm`, "utf8").split(" ")[1]) * PAGE_BYTES;
    } catch {
      return 0;
    }
  }

  /** @param reason for the log; empty when it is just no longer needed. */
  kill(reason: string, how: LostHow = "ended"): void {
    this.lost ??= { how, reason };
    this.process.kill("SIGKILL");
  }

  /** @throws WorkerLost, GraphError, or what went wrong inside. */
  ask(place: GraphPlace, asked: Asked): Promise<unknown> {
    return new Promise((resolve, reject) => {
      if (!this.alive) throw new WorkerLost("ended", "graph worker has ended");
      this.lastUsed = Date.now();
      const id = this.nextId++;
      const call: Call = { ...asked, resolve, reject, timer: undefined, pieces: [] };
      this.calls.set(id, call);
      this.arm(call);
      const { operation, args, json } = asked;
      this.process.send({ id, operation, place, args, ...(json ? { json } : {}) } satisfies GraphRequest);
    });
  }

  private end(reason: string): void {
    if (!this.alive) return;
    this.alive = false;
    clearInterval(this.watch);
    const lost = this.lost?.reason ? this.lost : { how: this.lost?.how ?? "ended", reason };
    const told = this.calls.size > 0 || this.lost?.reason ? lost.reason : "";
    for (const call of this.calls.values()) {
      clearTimeout(call.timer);
      call.reject(new WorkerLost(lost.how, lost.reason));
    }
    this.calls.clear();
    this.setup.onEnd(this, told);
  }

  private arm(call: Call): void {
    clearTimeout(call.timer);
    call.timer = setTimeout(
      () => this.kill(`graph worker did not answer ${call.operation} in time`, "late"),
      call.timeoutMs,
    );
  }

  private receive(message: GraphReply): void {
    const call = this.calls.get(message.id);
    if (!call) return;
    this.lastUsed = Date.now();
    if (message.kind === "progress") {
      this.arm(call);
      call.progress?.(message.phases);
      return;
    }
    if (message.kind === "json") {
      call.pieces.push(message.bytes);
      if (!message.last) return this.arm(call);
    }
    clearTimeout(call.timer);
    this.calls.delete(message.id);
    this.answered++;
    if (message.kind === "json") call.resolve({ pieces: call.pieces, next: message.next } satisfies GraphJson);
    else if (message.kind === "value") call.resolve(message.value);
    else if (isGraphErrorCode(message.code)) call.reject(new GraphError(message.code, message.message, message.data));
    else call.reject(new Error(message.message));
  }
}
