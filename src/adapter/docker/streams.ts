/** The client types its streams as interfaces of Node without `destroy`; they are Node's own. */
import { Duplex, Readable } from "node:stream";

/** The stream, unless nobody waits for it any more: then it is closed. @throws the signal's reason. */
export function unlessGivenUp<S extends { destroy(): void }>(stream: S, givenUp: AbortSignal): S {
  if (givenUp.aborted) stream.destroy();
  givenUp.throwIfAborted();
  return stream;
}

export function readable(stream: NodeJS.ReadableStream): Readable {
  if (!(stream instanceof Readable)) throw new Error("The client of the container engine gave no stream to read.");
  return stream;
}

export function duplex(stream: NodeJS.ReadWriteStream): Duplex {
  if (!(stream instanceof Duplex)) throw new Error("The client of the container engine gave no stream of both ways.");
  return stream;
}

/** How a program's streams are driven: neither its input nor its output grows in memory. */
export type StreamControls = ReturnType<typeof controlsOf>;

/** @param over resolves when the stream has ended; it does not reject. */
export function controlsOf(stream: Duplex, over: Promise<void>) {
  return {
    /** Reads nothing more of its output until `resume`. */
    pause: (): void => void stream.pause(),
    resume: (): void => void stream.resume(),
    /** Queues bytes for its input. Resolves when there is room for more, or nobody reads them any more. */
    write: (data: string | Uint8Array): Promise<void> =>
      new Promise<void>((resolve) => {
        if (stream.destroyed || stream.write(data)) return resolve();
        stream.once("drain", resolve);
        void over.then(resolve);
      }),
  };
}
