/**
 * Where tool servers run that are programs of their own (MCP over standard input and output). A port beside `sandbox.ts`:
 * features know it by what it can do; drivers are in `adapter/sandbox/`.
 */
import type { Pipe, PipeEvents } from "../core/pipe.ts";

export interface ToolServerSpec {
  /** Its id: what a dead server of ours left running is found by it. */
  server: string;
  /** Container image; undefined: a program of this machine. */
  image?: string | undefined;
  /** Undefined: what the image itself starts. */
  command?: string | undefined;
  args: readonly string[];
  env: Readonly<Record<string, string>>;
  network: "none" | "bridge";
  memoryMb: number;
  /**
   * Folder of this host with what outlives it: its home, and `/data` in a container. A driver whose engine does not see this
   * host's folders keeps one there instead.
   */
  folder: string;
}

export interface ToolServers {
  /**
   * Starts it, locked down as an agent's sandbox is where the driver has walls at all. Everything that it starts ends with it.
   * @throws Problem: no engine, no image, a command that does not exist, or one that this driver cannot run.
   */
  open(spec: ToolServerSpec, events: PipeEvents, signal: AbortSignal): Promise<Pipe>;
  /**
   * Ends tool servers that another process of this instance left, and forgets those that `isThere` denies. Throws when the
   * engine does not answer.
   */
  sweep(isThere: (server: string) => boolean): Promise<void>;
  /** The server is deleted: what the driver keeps of it elsewhere than in its folder goes. */
  forget(server: string): Promise<void>;
  /** Leaves nothing of this instance behind but what runs. */
  close(): Promise<void>;
}
