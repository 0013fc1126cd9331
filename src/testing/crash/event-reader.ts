/** A reader of the event stream from outside, as a client would write one: follows until it is cut off. */
import { EventSourceParserStream } from "eventsource-parser/stream";
import type { SkepEvent } from "../../core/events.ts";

export interface EventReader {
  /** Every event so far, in the order of arrival. */
  readonly events: SkepEvent[];
  /** Resolves when the stream has ended, however it did. */
  readonly ended: Promise<void>;
  close(): void;
}

/** Follows everything that happens after that id. */
export function readEvents(url: string, after: number, onEvent: (event: SkepEvent) => void = () => {}): EventReader {
  const events: SkepEvent[] = [];
  const stop = new AbortController();
  const follow = async () => {
    const answer = await fetch(`${url}/v1/events/stream?after=${after}`, { signal: stop.signal });
    if (!answer.ok || !answer.body) throw new Error(`the stream answered ${answer.status}`);
    const frames = answer.body.pipeThrough(new TextDecoderStream()).pipeThrough(new EventSourceParserStream());
    for await (const { data } of frames) {
      const event = JSON.parse(data) as SkepEvent;
      events.push(event);
      onEvent(event);
    }
  };
  // However it is cut off, by us or with the process, is an end; an answer that is not a stream is a mistake of the test.
  const ended = follow().catch((error: unknown) => {
    if (String(error).includes("the stream answered")) throw error;
  });
  return { events, ended, close: () => stop.abort() };
}
