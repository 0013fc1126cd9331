/**
 * Bytes of a pipe on their way to their reader, a piece at a time: between the pieces others get their turn, and while there
 * is more than a little to read, the writer waits.
 */

interface PacedChunksOptions {
  read(piece: Uint8Array): void;
  /** Nothing more should come for now. */
  pause(): void;
  resume(): void;
}

/** Lines of nothing but noise cost their reader some microseconds each. */
const PIECE_BYTES = 8 * 1024;
/** How long it reads without a pause. */
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
        // Not an immediate: the runtime may sleep on one while the only pipe that it watches is paused.
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
    /** Resolves when all that came so far has been read. */
    drained: (): Promise<void> => reading,
  };
}

/** The same for text that nobody has to read whole: the writer never waits, and what comes too fast is left out. */
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
    drained: chunks.drained,
    add(chunk: Uint8Array): void {
      if (isFull) left += chunk.byteLength;
      else chunks.add(chunk);
    },
  };
}
