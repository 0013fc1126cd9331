/** Runs a command in a running container: its output as it arrives, its input, its exit code. */
import type { Duplex } from "node:stream";
import type Docker from "dockerode";
import { createDemuxer, type FrameSink } from "./demux.ts";
import { asProblem, callEngine, type Engine } from "./failures.ts";
import { controlsOf, type StreamControls, unlessGivenUp } from "./streams.ts";

export interface ExecRequest {
  argv: readonly string[];
  /** Environment variables `NAME=value`, in addition to the container's own. */
  env?: readonly string[];
  cwd?: string;
  user?: string | undefined;
  /** Written at once, then the input is closed. Without `stdin`, the command reads an empty input. */
  stdin?: string | Uint8Array | undefined;
  /** Whether the command's input stays open for `write`. */
  keepsInput?: boolean;
  onOutput: FrameSink;
}

/** A running command whose input stays open. */
export interface OpenExec extends Omit<RunningExec, "write">, StreamControls {}

export interface RunningExec {
  /** Resolves when the command's streams are closed; throws Problem when they break. */
  readonly closed: Promise<void>;
  /**
   * The exit code that the engine has recorded; call it once the streams are closed. Null when the engine no longer
   * knows the command.
   * When the container has ended, the code may be a wrong 0: check the container's state then.
   */
  exitCode(): Promise<number | null>;
  /** Queues bytes for the command's input; only with `keepsInput`. */
  write(bytes: Uint8Array): void;
  /** Closes the streams. The command continues, and its input ends. */
  detach(): void;
}

/** The engine closes the streams a moment before it records the exit code. */
const EXIT_CODE_ATTEMPTS = 50;
const EXIT_CODE_WAIT_MS = 20;

/** Starts a command. Throws `docker_not_found` or `docker_conflict` when the container is gone or does not run. */
export async function startExec(
  container: Docker.Container,
  engine: Engine,
  request: ExecRequest,
): Promise<RunningExec> {
  return (await begin(container, engine, request, false)).running;
}

/** As `startExec`, for a program whose input stays open while it runs. */
export async function openExec(
  container: Docker.Container,
  engine: Engine,
  request: Omit<ExecRequest, "stdin">,
): Promise<OpenExec> {
  const { stream, running } = await begin(container, engine, request, true);
  const over = running.closed.catch(() => {});
  return { ...running, ...controlsOf(stream, over) };
}

function begin(
  container: Docker.Container,
  { address, call }: Engine,
  request: ExecRequest,
  isOpen: boolean,
): Promise<{ stream: Duplex; running: RunningExec }> {
  return call(async (givenUp) => {
    const { stdin, keepsInput = false } = request;
    const withStdin = isOpen || keepsInput || stdin !== undefined;
    const exec = await container.exec({
      Cmd: [...request.argv],
      AttachStdin: withStdin,
      AttachStdout: true,
      AttachStderr: true,
      ...(request.env ? { Env: [...request.env] } : {}),
      ...(request.cwd ? { WorkingDir: request.cwd } : {}),
      ...(request.user ? { User: request.user } : {}),
    });
    // The caller may have run the command again by now, so an engine that answers too late must not run it as well. An
    // engine that froze while it handled the start may still run it.
    givenUp.throwIfAborted();
    const stream = unlessGivenUp(await exec.start({ hijack: true, stdin: true }), givenUp);
    const closed = callEngine(address, () => waitForEnd(stream, request.onOutput)).finally(() => stream.destroy());
    // Nobody may be waiting for `closed`; a rejection must not count as unhandled.
    closed.catch(() => {});
    if (withStdin && !isOpen && !keepsInput) stream.end(stdin);
    const running: RunningExec = {
      closed,
      exitCode: () => call(() => exitCode(exec)),
      write: (bytes) => void (stream.destroyed || stream.write(bytes)),
      detach: () => void stream.destroy(),
    };
    return { stream, running };
  });
}

export function waitForEnd(stream: Duplex, onOutput: FrameSink): Promise<void> {
  const feed = createDemuxer(onOutput);
  return new Promise((resolve, reject) => {
    stream.on("data", (chunk: Uint8Array) => {
      try {
        feed(chunk);
      } catch (error) {
        stream.destroy();
        reject(error);
      }
    });
    stream.once("end", resolve);
    stream.once("close", resolve);
    stream.once("error", (error: Error & { code?: string }) => {
      // The command may end without reading all of its input, which is not an error.
      if (error.code === "EPIPE" || error.code === "ECONNRESET") resolve();
      else reject(error);
    });
  });
}

async function exitCode(exec: Docker.Exec): Promise<number | null> {
  for (let attempt = 0; attempt < EXIT_CODE_ATTEMPTS; attempt++) {
    try {
      const state = await exec.inspect();
      if (!state.Running) return state.ExitCode;
    } catch (error) {
      if (asProblem(error, "").code === "docker_not_found") return null;
      throw error;
    }
    await new Promise((wake) => setTimeout(wake, EXIT_CODE_WAIT_MS));
  }
  return null;
}
