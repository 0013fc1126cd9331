/** The client types its streams as interfaces of Node without `destroy`; they are Node's own. */
import { Duplex, Readable } from "node:stream";

export function readable(stream: NodeJS.ReadableStream): Readable {
  if (!(stream instanceof Readable)) throw new Error("The client of the container engine gave no stream to read.");
  return stream;
}

export function duplex(stream: NodeJS.ReadWriteStream): Duplex {
  if (!(stream instanceof Duplex)) throw new Error("The client of the container engine gave no stream of both ways.");
  return stream;
}
