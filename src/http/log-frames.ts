/**
 * Sends lines of a log as an event stream: `event: log` with one JSON object per frame, then `event: end`. JSON
 * contains no raw line breaks, so no text can forge a frame.
 */
import { Type as t } from "@sinclair/typebox";
import { isProblem, overLimit } from "../core/errors.ts";
import { LIMITS } from "../core/limits.ts";
import { queryBoolean, queryInteger } from "./schema.ts";

/** Query schema for the part of a log that is requested. */
export const LogQuery = {
  tail: t.Optional(
    queryInteger({
      minimum: 0,
      maximum: 10_000,
      description: "Number of the log's last lines with which the stream starts; default 200.",
    }),
  ),
  follow: t.Optional(queryBoolean({ description: "Whether the stream goes on with new lines; default true." })),
};

export const logPartOf = ({ tail = 200, follow = true }: { tail?: number; follow?: boolean }) => ({ tail, follow });

/** The answer's description in OpenAPI. */
export const LOG_RESPONSES = {
  200: {
    description: "The log as an event stream.",
    content: { "text/event-stream": { schema: { type: "string" as const } } },
  },
};

export interface LogLine {
  stream: string;
  text: string;
  [member: string]: unknown;
}

const encoder = new TextEncoder();
const encodeFrame = (event: string, data: unknown) =>
  encoder.encode(`event: ${event}\ndata: ${JSON.stringify(data)}\n\n`);
const BUFFER_BYTES = 256 * 1024;

interface LogStreamOptions {
  /** Returns false to end the stream, when the reader's credential was revoked. Asked at each line and heartbeat. */
  stillValid(): boolean;
  /** Called once, when the reader has gone or the lines have ended. */
  stop(): void;
  /** The reader's user; undefined without accounts. */
  userId: string | undefined;
}

/** Number of open log streams per user in this process. */
const following = new Map<string, number>();

/**
 * Reserves a stream for the user. @throws Problem 429 `too_many_streams`. @returns a function that frees it; call it
 * once.
 */
function takePlace(userId: string | undefined): () => void {
  if (userId === undefined) return () => {};
  const current = following.get(userId) ?? 0;
  if (current >= LIMITS.logStreamsPerUser)
    throw overLimit(
      "too_many_streams",
      "open streams of logs",
      current,
      LIMITS.logStreamsPerUser,
      "Close pages or programs that follow logs.",
    );
  following.set(userId, current + 1);
  return () => {
    const left = (following.get(userId) ?? 1) - 1;
    if (left > 0) following.set(userId, left);
    else following.delete(userId);
  };
}

/** Like `takePlace`; when there is no room, it also calls `stop`, so that the lines are released. */
function takePlaceOr(stop: () => void, userId: string | undefined): () => void {
  try {
    return takePlace(userId);
  } catch (error) {
    stop();
    throw error;
  }
}

/** Sends the lines as they come, no faster than the reader accepts them. @throws Problem 429 `too_many_streams`. */
export function logStream(lines: AsyncIterable<LogLine>, { stillValid, stop, userId }: LogStreamOptions): Response {
  const leavePlace = takePlaceOr(stop, userId);
  let heart: ReturnType<typeof setInterval>;
  let over = false;
  const source = lines[Symbol.asyncIterator]();
  const end = () => {
    if (over) return;
    over = true;
    clearInterval(heart);
    leavePlace();
    stop();
    source.return?.(undefined).catch(() => {});
  };
  const body = new ReadableStream<Uint8Array>(
    {
      start(controller) {
        controller.enqueue(encoder.encode("retry: 2000\n\n"));
        heart = setInterval(() => {
          if (over) return;
          if (!stillValid()) {
            end();
            controller.close();
          } else if ((controller.desiredSize ?? 0) > 0) controller.enqueue(encoder.encode(": beat\n\n"));
        }, LIMITS.streamHeartbeatMs);
      },
      async pull(controller) {
        try {
          const { done, value } = await source.next();
          if (over) return;
          if (stillValid()) {
            if (!done) return controller.enqueue(encodeFrame("log", value));
            controller.enqueue(encodeFrame("end", {}));
          }
        } catch (error) {
          if (over) return;
          const code = isProblem(error) ? error.code : "internal";
          controller.enqueue(encodeFrame("end", { error: code }));
        }
        end();
        controller.close();
      },
      cancel: end,
    },
    new ByteLengthQueuingStrategy({ highWaterMark: BUFFER_BYTES }),
  );
  return answerWithEvents(body);
}

/** Answers with an event stream that proxies neither store nor buffer. */
export const answerWithEvents = (body: ReadableStream): Response =>
  new Response(body, {
    headers: {
      "Content-Type": "text/event-stream; charset=utf-8",
      "Cache-Control": "no-store",
      "X-Accel-Buffering": "no",
    },
  });
