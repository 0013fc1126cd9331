/**
 * Passes bytes of a pipe to their reader in pieces. Other work gets a turn between the pieces, and the writer is paused
 * while much is waiting to be read.
 */

interface PacedChunksOptions {
  read(piece: Uint8Array): void;
  /** Asks the writer to stop for now. */
  pause(): void;
  resume(): void;
}

/** Small pieces, because each line costs the reader some microseconds, even lines of mere noise. */
const PIECE_BYTES = 8 * 1024;
/** How long it reads without a pause, in ms. */
const TURN_MS = 4;
const WAITING_BYTES = 256 * 1024;

export function createPacedChunks({ read, pause, resume }: PacedChunksOptions) {
  const waiting: Uint8Array[] = [];
  let [bytes, isReading, isPaused] = [0, false, false];
  let reading = Promise.resolve();
  const drain = async (): Promise<void> => {
    isReading = true;
    let until = performance.now() + TURN_MS;
    for (let chunk = waiting.shift(); chunk; chunk = waiting.shift()) {
      for (let at = 0; at < chunk.length; at += PIECE_BYTES) {
        read(chunk.subarray(at, at + PIECE_BYTES));
        if (performance.now() < until) continue;
        // A timer and not an immediate: the runtime may sleep on an immediate while the only pipe it watches is paused.
        await new Promise((go) => setTimeout(go, 0));
        until = performance.now() + TURN_MS;
      }
      bytes -= chunk.length;
    }
    isReading = false;
    if (!isPaused) return;
    isPaused = false;
    resume();
  };
  return {
    add(chunk: Uint8Array): void {
      if (chunk.length === 0) return;
      waiting.push(chunk);
      bytes += chunk.length;
      if (!isReading) reading = drain();
      if (isPaused || bytes <= WAITING_BYTES) return;
      isPaused = true;
      pause();
    },
    /** Resolves when everything received so far has been read. */
    waitForDrain: (): Promise<void> => reading,
  };
}

/**
 * Like `createPacedChunks`, for text that need not be read completely: the writer never waits, and excess bytes are
 * dropped.
 */
export function createBoundedNoise({ read, leftOut }: { read(piece: Uint8Array): void; leftOut(bytes: number): void }) {
  let [left, isFull] = [0, false];
  const chunks = createPacedChunks({
    read,
    pause() {
      isFull = true;
    },
    resume() {
      isFull = false;
      if (left > 0) leftOut(left);
      left = 0;
    },
  });
  return {
    waitForDrain: chunks.waitForDrain,
    add(chunk: Uint8Array): void {
      if (isFull) left += chunk.byteLength;
      else chunks.add(chunk);
    },
  };
}
