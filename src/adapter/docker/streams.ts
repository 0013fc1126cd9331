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
