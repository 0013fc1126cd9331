/**
 * A fake of the model providers over HTTP on a free loopback port: OpenAI chat completions and responses, Anthropic
 * messages, Google generateContent and Ollama's chat, all streamed. Each request uses the next behavior; the last one
 * is repeated. All requests are recorded with their headers, so that tests can check what was sent.
 */
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { type FakeReply, type Wire, wireStream } from "./model-wire.ts";

export type Behaviour =
  | { kind: "reply"; reply: FakeReply; firstTokenMs?: number; frameMs?: number; until?: () => Promise<unknown> }
  /**
   * An answer that is not streamed. `{{key}}` in the body becomes the key that was sent, because some providers repeat
   * it.
   */
  | { kind: "status"; status: number; headers?: Record<string, string>; body?: unknown }
  /** The stream lacks its end: it is closed in order, or the connection is torn down. */
  | { kind: "cut"; reply: FakeReply; how: "closed" | "torn" }
  /** After the content, a frame that is not JSON. */
  | { kind: "malformed"; reply: FakeReply }
  /** Sends the content, if any, and then nothing more, forever. */
  | { kind: "hang"; reply?: FakeReply }
  /** An error within a stream that began normally. */
  | { kind: "error-frame"; reply?: FakeReply; message: string }
  | { kind: "redirect"; location: string };

export interface RecordedRequest {
  method: string;
  path: string;
  headers: Record<string, string>;
  body: unknown;
}

export interface ModelServer {
  /** `http://127.0.0.1:port`. */
  origin: string;
  requests: RecordedRequest[];
  /** Sets the behaviors for the next requests, in order. The last one applies to all that follow. */
  next(...behaviours: Behaviour[]): void;
  /** From now on, chooses the behavior by the request instead. */
  answerBy(choose: (request: RecordedRequest) => Behaviour): void;
  /** Sets the answer for a path, whatever the method, e.g. `/v1/models`. */
  get(path: string, answer: unknown, status?: number): void;
  /** Number of requests whose streams are still open. */
  open(): number;
  stop(): Promise<void>;
}

export const reply = (fake: FakeReply): Behaviour => ({ kind: "reply", reply: fake });

function wireOf(path: string): Wire | undefined {
  if (path.endsWith("/chat/completions")) return "chat";
  if (path.endsWith("/api/chat")) return "ollama";
  if (path.endsWith("/responses")) return "responses";
  if (path.endsWith("/messages")) return "anthropic";
  if (path.includes(":streamGenerateContent")) return "google";
  // Behaviors that belong to no protocol are served below these paths.
  if (/^\/(hang|redirect)\b/.test(path)) return "chat";
  return undefined;
}

const WINDOW_QUESTIONS = /\/(v1\/models|props|api\/ps|api\/generate)$/;

const sentKey = (headers: Record<string, string>): string =>
  headers["x-api-key"] ?? headers["x-goog-api-key"] ?? headers["authorization"]?.replace(/^Bearer /, "") ?? "";

const errorFrame = (wire: Wire, message: string): string => {
  if (wire === "ollama") return `${JSON.stringify({ error: message })}\n`;
  if (wire === "anthropic")
    return `event: error\ndata: ${JSON.stringify({ type: "error", error: { type: "overloaded_error", message } })}\n\n`;
  if (wire === "responses")
    return `event: error\ndata: ${JSON.stringify({ type: "error", code: "server_error", message, param: null, sequence_number: 9 })}\n\n`;
  return `data: ${JSON.stringify({ error: { message, code: 500, status: "INTERNAL", type: "server_error" } })}\n\n`;
};

type Streamed = Exclude<Behaviour, { kind: "status" } | { kind: "redirect" }>;

/** The frames for a behavior; `play` decides how the stream ends. */
function framesOf(wire: Wire, model: string, behaviour: Streamed): string[] {
  const { body, end } = wireStream(wire, model, behaviour.reply ?? {});
  if (behaviour.kind === "hang") return behaviour.reply ? body : [];
  if (behaviour.kind === "reply") return [...body, ...end];
  if (behaviour.kind === "malformed") return [...body, 'data: {"this is": not json\n\n', ...end];
  if (behaviour.kind === "error-frame") return [...(behaviour.reply ? body : []), errorFrame(wire, behaviour.message)];
  return body;
}

/** Plays the behavior on the connection until it is over or the client has disconnected. */
async function play(response: ServerResponse, frames: string[], behaviour: Streamed): Promise<void> {
  const { firstTokenMs = 0, frameMs = 0, until } = behaviour.kind === "reply" ? behaviour : {};
  response.writeHead(200, { "content-type": "text/event-stream" });
  response.flushHeaders();
  await until?.();
  if (firstTokenMs) await Bun.sleep(firstTokenMs);
  for (const frame of frames) {
    if (response.destroyed) return;
    response.write(frame);
    if (frameMs) await Bun.sleep(frameMs);
  }
  if (behaviour.kind === "hang") return;
  if (behaviour.kind === "cut" && behaviour.how === "torn") {
    // Wait until the frames are sent, so that the client has read them when the connection breaks.
    await Bun.sleep(20);
    response.socket?.destroy();
  } else response.end();
}

async function bodyOf(request: IncomingMessage): Promise<unknown> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  const text = Buffer.concat(chunks).toString();
  return text ? JSON.parse(text) : undefined;
}

function sendJson(response: ServerResponse, status: number, text: string, headers: Record<string, string> = {}): void {
  response.writeHead(status, { "content-type": "application/json", ...headers });
  response.end(text);
}

export async function createModelServer(): Promise<ModelServer> {
  const requests: RecordedRequest[] = [];
  const gets = new Map<string, { answer: unknown; status: number }>();
  let line: Behaviour[] = [];
  let choose: ((request: RecordedRequest) => Behaviour) | undefined;
  let open = 0;

  function answer(request: RecordedRequest, wire: Wire, response: ServerResponse): void {
    const inLine = () => (line.length > 1 ? line.shift() : line[0]) ?? reply({ text: "Hello." });
    const behaviour = choose ? choose(request) : inLine();
    if (behaviour.kind === "redirect") {
      response.writeHead(307, { location: behaviour.location }).end();
      return;
    }
    if (behaviour.kind === "status") {
      const text = JSON.stringify(behaviour.body ?? { error: { message: "no" } });
      const echoed = text.replaceAll("{{key}}", sentKey(request.headers));
      sendJson(response, behaviour.status, echoed, behaviour.headers);
      return;
    }
    const { model } = (request.body ?? {}) as { model?: string };
    open++;
    response.on("close", () => open--);
    void play(response, framesOf(wire, model ?? "unknown", behaviour), behaviour);
  }

  async function handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const path = request.url ?? "/";
    const { pathname } = new URL(path, "http://localhost");
    const headers = Object.fromEntries(Object.entries(request.headers).map(([name, value]) => [name, String(value)]));
    const recorded: RecordedRequest = { method: request.method ?? "", path, headers, body: await bodyOf(request) };
    const known = gets.get(pathname);
    // Requests for the model's window precede a call. They are recorded only if the test has set an answer for them.
    if (known || !WINDOW_QUESTIONS.test(pathname)) requests.push(recorded);
    if (known) return sendJson(response, known.status, JSON.stringify(known.answer));
    const wire = wireOf(pathname);
    if (wire) answer(recorded, wire, response);
    else sendJson(response, 404, '{"error":"not found"}');
  }

  const server = createServer((request, response) => void handle(request, response));
  const { promise: listening, resolve } = Promise.withResolvers<void>();
  server.listen(0, "127.0.0.1", resolve);
  await listening;
  return {
    origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    requests,
    next: (...behaviours) => {
      line = behaviours;
      choose = undefined;
    },
    answerBy: (by) => {
      choose = by;
    },
    get: (path, body, status = 200) => void gets.set(path, { answer: body, status }),
    open: () => open,
    stop: () => {
      const closed = new Promise<void>((done) => server.close(() => done()));
      server.closeAllConnections();
      return closed;
    },
  };
}
