/**
 * Helpers for streams. The client library types its streams as Node's interfaces without `destroy`, but they are Node's
 * own classes.
 */
import { Duplex, Readable } from "node:stream";

/** Returns the stream, unless the call was given up: then the stream is closed. @throws the signal's reason. */
export function unlessGivenUp<S extends { destroy(): void }>(stream: S, givenUp: AbortSignal): S {
  if (givenUp.aborted) stream.destroy();
  givenUp.throwIfAborted();
  return stream;
}

export function requireReadable(stream: NodeJS.ReadableStream): Readable {
  if (!(stream instanceof Readable)) throw new Error("The client of the container engine gave no stream to read.");
  return stream;
}

export function requireDuplex(stream: NodeJS.ReadWriteStream): Duplex {
  if (!(stream instanceof Duplex)) throw new Error("The client of the container engine gave no stream of both ways.");
  return stream;
}

/** Controls of a program's streams with back-pressure, so that neither its input nor its output piles up in memory. */
export type StreamControls = ReturnType<typeof controlsOf>;

/** @param over resolves when the stream has ended; it does not reject. */
export function controlsOf(stream: Duplex, over: Promise<void>) {
  return {
    /** Stops reading the program's output until `resume`. */
    pause: (): void => void stream.pause(),
    resume: (): void => void stream.resume(),
    /** Queues bytes for the program's input. Resolves when there is room for more, or the stream has ended. */
    write: (data: string | Uint8Array): Promise<void> =>
      new Promise<void>((resolve) => {
        if (stream.destroyed || stream.write(data)) return resolve();
        stream.once("drain", resolve);
        void over.then(resolve);
      }),
  };
}
