/** Reads the event stream from outside, as a client would: follows it until it is cut off. */
import { EventSourceParserStream } from "eventsource-parser/stream";
import type { SkepEvent } from "../../core/events.ts";

export interface EventReader {
  /** All events so far, in the order of arrival. */
  readonly events: SkepEvent[];
  /** Resolves when the stream has ended for any reason. */
  readonly ended: Promise<void>;
  close(): void;
}

/** Follows all events after that id. */
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
  // If the stream is cut off, by us or because the process died, it has ended. An answer that is no stream is an error
  // of the test.
  const ended = follow().catch((error: unknown) => {
    if (String(error).includes("the stream answered")) throw error;
  });
  return { events, ended, close: () => stop.abort() };
}
