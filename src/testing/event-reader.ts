/** Reads a server's event streams in tests, frame by frame, until the awaited frame has arrived. */
import { EventSourceParserStream } from "eventsource-parser/stream";
import type { TestServer } from "./server.ts";

export interface ReadFrame<T = Record<string, unknown>> {
  event: string;
  data: T;
}

/**
 * The frames of a stream as they arrive. Leaving the loop closes the stream. @throws Error when the server refuses it.
 */
export async function* framesOf<T = Record<string, unknown>>(
  server: Pick<TestServer, "url">,
  path: string,
  token?: string,
): AsyncGenerator<ReadFrame<T>> {
  const leave = new AbortController();
  const headers: Record<string, string> = token ? { Authorization: `Bearer ${token}` } : {};
  try {
    const answer = await fetch(new URL(path, server.url), { headers, signal: leave.signal });
    if (!answer.ok || !answer.body) throw new Error(`${path} answered ${answer.status}: ${await answer.text()}`);
    const frames = answer.body.pipeThrough(new TextDecoderStream()).pipeThrough(new EventSourceParserStream());
    for await (const { event, data } of frames) yield { event: event ?? "message", data: JSON.parse(data) as T };
  } finally {
    leave.abort();
  }
}

/** All frames up to the first that fits. @throws Error when the stream ends before that. */
export async function framesUntil<T = Record<string, unknown>>(
  frames: AsyncGenerator<ReadFrame<T>>,
  fits: (frame: ReadFrame<T>) => boolean,
): Promise<ReadFrame<T>[]> {
  const read: ReadFrame<T>[] = [];
  for await (const frame of frames) {
    read.push(frame);
    if (fits(frame)) return read;
  }
  throw new Error(`The stream ended before: ${JSON.stringify(read.slice(-5))}`);
}
