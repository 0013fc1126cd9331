/**
 * A fake of the model providers over real HTTP on a free loopback port: OpenAI chat completions and responses,
 * Anthropic messages, Google generateContent and Ollama's chat, all streamed. Each request takes the next behaviour in line (the
 * last one stays). It keeps every request, headers included, so that tests can say what was sent.
 */
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { type FakeReply, type Wire, wireStream } from "./model-wire.ts";

export type Behaviour =
  | { kind: "reply"; reply: FakeReply; firstTokenMs?: number; frameMs?: number; until?: () => Promise<unknown> }
  /** An answer that is not a stream. The body's `{{key}}` becomes the key that was sent, as some providers echo it. */
  | { kind: "status"; status: number; headers?: Record<string, string>; body?: unknown }
  /** The stream ends without its end: closed in order, or the connection torn down. */
  | { kind: "cut"; reply: FakeReply; how: "closed" | "torn" }
  /** A frame that is not JSON, after the content. */
  | { kind: "malformed"; reply: FakeReply }
  /** Sends the content (if any) and then nothing, forever. */
  | { kind: "hang"; reply?: FakeReply }
  /** An error inside a stream that began well. */
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
  /** Behaviours of the coming requests, in order; the last one is kept for all that follow. */
  next(...behaviours: Behaviour[]): void;
  /** Chooses the behaviour by the request instead, from now on. */
  answerBy(choose: (request: RecordedRequest) => Behaviour): void;
  /** What a path answers, whatever the method, e.g. `/v1/models`. */
  get(path: string, answer: unknown, status?: number): void;
  /** Requests whose streams are still open. */
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
  // Behaviours that belong to no protocol are under any other path of these names.
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

/** Frames of that behaviour; how it ends is for `play`. */
function framesOf(wire: Wire, model: string, behaviour: Streamed): string[] {
  const { body, end } = wireStream(wire, model, behaviour.reply ?? {});
  if (behaviour.kind === "hang") return behaviour.reply ? body : [];
  if (behaviour.kind === "reply") return [...body, ...end];
  if (behaviour.kind === "malformed") return [...body, 'data: {"this is": not json\n\n', ...end];
  if (behaviour.kind === "error-frame") return [...(behaviour.reply ? body : []), errorFrame(wire, behaviour.message)];
  return body;
}

/** Plays the behaviour on the connection until it is over or the client has gone. */
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
    // Long enough for the frames to leave, so that the client has read them when the connection breaks.
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
    // Questions about the window that is served come before a call, and are kept where a test answers them.
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
