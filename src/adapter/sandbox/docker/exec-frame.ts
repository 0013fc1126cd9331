/**
 * Separates a command's output from the lines that the `sh` wrapper around it writes: the process id before the output
 * and the exit code after it.
 */
import type { FrameSink } from "../../docker/demux.ts";

export type ExecFrame = ReturnType<typeof createExecFrame>;

const MAX_FIRST_LINE = 20;
const NEWLINE = 0x0a;

/** @param marker the beginning of the line with the exit code. Nobody can guess it before the command has started. */
export function createExecFrame(marker: string, sink: FrameSink) {
  const needle = Buffer.from(marker);
  const ended = Promise.withResolvers<void>();
  let pid: string | undefined;
  let exitCode: number | undefined;
  let held = Buffer.alloc(0);

  const emit = (chunk: Uint8Array) => {
    if (chunk.length > 0) sink("stdout", chunk);
  };
  /** @returns true when the first line is complete. */
  const takeFirstLine = (): boolean => {
    const end = held.indexOf(NEWLINE);
    if (end < 0 && held.length < MAX_FIRST_LINE) return false;
    const line = held.toString("latin1", 0, Math.max(end, 0));
    // If the first line is not the wrapper's, there is no process id, and everything is output.
    pid = /^[1-9]\d*$/.test(line) ? line : "";
    if (pid !== "") held = held.subarray(end + 1);
    return true;
  };
  const takeLastLine = (): boolean => {
    const start = held.indexOf(needle);
    const end = start < 0 ? -1 : held.indexOf(NEWLINE, start);
    if (end < 0) return false;
    exitCode = Number(held.toString("latin1", start + needle.length, end));
    emit(held.subarray(0, start));
    held = held.subarray(end + 1);
    ended.resolve();
    return true;
  };
  const pushStdout = (chunk: Uint8Array) => {
    held = held.length === 0 ? Buffer.from(chunk) : Buffer.concat([held, chunk]);
    if (pid === undefined && !takeFirstLine()) return;
    if (exitCode === undefined && !takeLastLine()) {
      const keep = beginningOf(needle, held);
      emit(held.subarray(0, held.length - keep));
      held = held.subarray(held.length - keep);
      return;
    }
    emit(held);
    held = Buffer.alloc(0);
  };
  return {
    push: (stream: "stdout" | "stderr", chunk: Uint8Array): void =>
      stream === "stderr" ? sink(stream, chunk) : pushStdout(chunk),
    /** Process id of the session's leader inside the container; undefined until known. */
    get pid(): string | undefined {
      return pid || undefined;
    },
    get exitCode(): number | undefined {
      return exitCode;
    },
    /** Resolves once the exit code is known. */
    ended: ended.promise,
    /** Passes on bytes that were held back because they might begin the line with the exit code. */
    flush: (): void => {
      emit(held);
      held = Buffer.alloc(0);
    },
  };
}

/** Number of bytes at the end of `data` that may begin the line with the exit code. */
function beginningOf(needle: Buffer, data: Buffer): number {
  const whole = data.lastIndexOf(needle);
  if (whole >= 0) return data.length - whole;
  for (let length = Math.min(needle.length - 1, data.length); length > 0; length--)
    if (data.subarray(data.length - length).equals(needle.subarray(0, length))) return length;
  return 0;
}
