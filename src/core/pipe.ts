/** A running program as its standard streams: a tool server or an external agent, in a container or (where the operator allows it) on this host. */

export interface PipeEvents {
  onStdout(chunk: Uint8Array): void;
  onStderr(chunk: Uint8Array): void;
}

export interface Pipe {
  /** Resolves with why, in words, when the server has ended or its streams are gone. */
  readonly ended: Promise<string>;
  write(line: string): Promise<void>;
  /** Reads nothing more of its standard output until `resume`, so that it has to wait. */
  pause(): void;
  resume(): void;
  /** Ends it with everything that it started, and waits until it is gone. May be called again. */
  kill(): Promise<void>;
}

/** Starts it. @throws Problem when it cannot be started. */
export type OpenPipe = (events: PipeEvents, signal: AbortSignal) => Promise<Pipe>;
