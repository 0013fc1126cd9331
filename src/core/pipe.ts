/**
 * A running program with its standard streams: a tool server or an external agent, in a container or, if the operator
 * allows it, on this host.
 */

export interface PipeEvents {
  onStdout(chunk: Uint8Array): void;
  onStderr(chunk: Uint8Array): void;
}

export interface Pipe {
  /** Resolves with the reason, in words, when the program has ended or its streams are gone. */
  readonly ended: Promise<string>;
  write(line: string): Promise<void>;
  /** Stops reading its standard output until `resume`, so that the program must wait. */
  pause(): void;
  resume(): void;
  /** Ends the program with everything that it started, and waits until all is gone. May be called again. */
  kill(): Promise<void>;
}

/** Starts the program. @throws Problem when it cannot be started. */
export type OpenPipe = (events: PipeEvents, signal: AbortSignal) => Promise<Pipe>;
