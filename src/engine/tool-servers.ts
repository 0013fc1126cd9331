/**
 * The port for tool servers that run as programs of their own (MCP over standard input and output), similar to
 * `sandbox.ts`. Features know it only by what it can do; drivers are in `adapter/sandbox/`.
 */
import type { Pipe, PipeEvents } from "../core/pipe.ts";

export interface ToolServerSpec {
  /** Id of the server. It is used to find tool servers that a dead process left running. */
  server: string;
  /** Container image; undefined: a program on this machine. */
  image?: string | undefined;
  /** Undefined: the image's own command. */
  command?: string | undefined;
  args: readonly string[];
  env: Readonly<Record<string, string>>;
  network: "none" | "bridge";
  memoryMb: number;
  /**
   * Folder on this host for data that outlives the server: its home, and `/data` in a container. If the driver's engine
   * cannot see this host's folders, it keeps a folder there instead.
   */
  folder: string;
}

export interface ToolServers {
  /**
   * Starts the server, as locked down as an agent's sandbox if the driver isolates at all. All processes that it starts
   * end with it.
   * @throws Problem: no engine, no image, a command that does not exist, or one that this driver cannot run.
   */
  open(spec: ToolServerSpec, events: PipeEvents, signal: AbortSignal): Promise<Pipe>;
  /**
   * Ends tool servers that another process of this instance left running, and forgets those for which `isThere` returns
   * false. Throws when the engine does not answer.
   */
  sweep(isThere: (server: string) => boolean): Promise<void>;
  /** Deletes what the driver keeps of a deleted server outside its folder. */
  forget(server: string): Promise<void>;
  /** Removes what this instance made for its tool servers, such as networks, unless a running server uses it. */
  close(): Promise<void>;
}
