/**
 * Makes the model gateway's calls: to the agent's model and, when that does not answer, to the fallback models. What
 * was sent to the program cannot be taken back, so another model is asked only while nothing has been sent.
 */
import { LIMITS } from "../../core/limits.ts";
import { canRead, mayFall } from "../fallback.ts";
import type { ModelReply } from "../model.ts";
import { admitCall, type CallInput, scopeOf } from "../model-call.ts";
import { boundHeaders } from "./bounds.ts";
import { renameTools } from "./scripted-tools.ts";
import type { WireFailure, WireProtocol, WireRequest } from "./wire.ts";

export interface CallsInput extends Pick<CallInput, "execution" | "ports" | "agent" | "masker" | "signal"> {
  /** The one model that the program may ask. */
  model: string;
}

/** What the program asks for. */
export interface Asked {
  protocol: WireProtocol;
  headers: Headers;
  /** The body with only the members that the provider may read. */
  body: Record<string, unknown>;
  wire: WireRequest;
  /** Upper estimate of the prompt's tokens. */
  tokens: number;
}

export function refuse(protocol: WireProtocol, failure: WireFailure): Response {
  const { status, body } = protocol.failure(failure);
  return Response.json(body, { status });
}

/** Stores the row of a call. @returns the call's error, masked. */
export function logCall({ ports, execution, masker }: CallsInput, reply: ModelReply): ModelReply["error"] {
  const error = reply.error && masker.json(reply.error);
  ports.rows.logCall(execution, { ...reply, parts: [], ...(error ? { error } : {}) }, "turn");
  return error;
}

/**
 * Makes one call, for which the budgets have room. Failed calls of earlier models are logged here; the caller logs the
 * returned one.
 * @param most the tokens of the reply that the budgets have room for.
 * @param respond called with the answer as soon as it begins.
 * @returns the reply with its usage, once it has ended. When every model failed, it is the first failure, with the
 *   earliest time at which a model answers again.
 */
export async function makeCall(
  input: CallsInput,
  asked: Asked,
  most: number | undefined,
  respond: (answer: Response) => void,
): Promise<ModelReply> {
  const { ports, execution, model } = input;
  const answer = createAnswer(asked, respond);
  const others = ports.fallbackModels(execution).filter((one) => one !== model);
  const end = (reply: ModelReply): ModelReply => {
    if (others.length > 0 && reply.finish !== "error") ports.rows.answeredBy(execution, reply.model);
    return answer.finish(reply);
  };
  const first = await callModel(input, { ...asked, model, most, answer });
  if (answer.isSaid() || !mayFall(first)) return end(first);
  let retryAt = first.error?.retry_at;
  for (const other of others) {
    if (!(await canRead(input, asked.wire.request.messages, asked.tokens, other))) continue;
    const room = admitCall(input, other, asked.tokens, asked.wire.cachesForHour);
    // The budget does not allow this model; the next may be cheaper.
    if ("status" in room) continue;
    const reply = await callModel(input, { ...asked, model: other, most: room.most, answer });
    if (answer.isSaid() || !mayFall(reply)) {
      logCall(input, first);
      return end(reply);
    }
    logCall(input, reply);
    const again = reply.error?.retry_at;
    if (again !== undefined) retryAt = Math.min(again, retryAt ?? again);
  }
  const failed = first.error && { ...first, error: { ...first.error, retry_at: retryAt } };
  return answer.finish(failed ?? first);
}

interface One extends Asked {
  model: string;
  most: number | undefined;
  answer: Answer;
}

/** Limits a reply to the tokens that were reserved for it. */
function mostOf({ models }: CallInput["ports"], model: string, most: number | undefined): number | undefined {
  const price = models.estimateUsd(model, 0, LIMITS.replyTokensAmple);
  if (most !== undefined || !price) return most;
  return Math.min(LIMITS.replyTokensAmple, models.info(model).max_output_tokens ?? LIMITS.replyTokensAmple);
}

async function callModel(input: CallsInput, one: One): Promise<ModelReply> {
  const { ports, execution, signal } = input;
  const { model, tokens, wire, answer } = one;
  const most = mostOf(ports, model, one.most);
  const cost_usd = ports.models.estimateUsd(model, tokens, 0, wire.cachesForHour);
  ports.rows.beginCall(execution, { model, purpose: "turn", input_tokens: tokens, cost_usd });
  // A stream that the gateway itself has begun cannot be replaced by a provider's stream.
  const passed = answer.isOpen()
    ? undefined
    : await ports.models.pass?.({
        model,
        userId: execution.userId,
        protocol: one.protocol.name,
        body: one.body,
        signal,
        headers: boundHeaders(one.headers),
        maxOutputTokens: most,
        stream: wire.stream,
      });
  if (passed === undefined) return translate(input, { ...one, most });
  if (!("answer" in passed)) return passed;
  answer.pass(passed.answer);
  return passed.reply;
}

/**
 * Asks a provider of another protocol, the scripted model, or a recorded one, by way of the engine's own request.
 * @returns the reply, with the program's names for its tools.
 */
async function translate({ ports, execution, agent, signal }: CallsInput, one: One): Promise<ModelReply> {
  const { model, most, answer } = one;
  const { request, nameOf } = renameTools(one.wire, model);
  const wanted = [request.maxOutputTokens, most].filter((tokens) => tokens !== undefined);
  answer.open();
  const reply = await ports.models.call({
    ...request,
    model,
    userId: execution.userId,
    thinkingLevel: agent.thinkingLevel,
    temperature: request.temperature ?? agent.temperature,
    scope: scopeOf({ execution, ports }),
    maxOutputTokens: wanted.length > 0 ? Math.min(...wanted) : undefined,
    signal: AbortSignal.any([signal, answer.left]),
    onText: answer.text,
    onThinking: answer.thinking,
    onWithdrawn: answer.withdraw,
  });
  const parts = reply.parts.map((part) => (part.type === "tool_call" ? { ...part, tool: nameOf(part.tool) } : part));
  return { ...reply, parts };
}

const failureOf = ({ error }: ModelReply): WireFailure => ({
  kind: error?.retry_at === undefined ? "provider" : "busy",
  message: error?.message ?? "The model gave no answer.",
});

type Answer = ReturnType<typeof createAnswer>;

/** What the program reads of one call, no matter which model answers. */
function createAnswer({ protocol, wire }: Asked, respond: (answer: Response) => void) {
  const writer = protocol.writer(wire);
  const left = new AbortController();
  let pipe: ReturnType<typeof openStream> | undefined;
  let [isPassed, isSaid, isWithdrawn] = [false, false, false];
  const send = (text: string): void => {
    if (text === "") return;
    isSaid = true;
    pipe?.send(text);
  };
  return {
    /** Aborted when the program stops reading. */
    left: left.signal,
    /** Whether the program reads a stream that the gateway writes. */
    isOpen: () => pipe !== undefined,
    /** Whether the program has received any part of the answer. */
    isSaid: () => isPassed || (pipe !== undefined && isSaid),
    pass(answer: Response): void {
      isPassed = true;
      respond(answer);
    },
    /** Begins a stream if the program asked for one. */
    open(): void {
      if (pipe || !wire.stream) return;
      pipe = openStream(() => left.abort());
      respond(new Response(pipe.body, { headers: { "Content-Type": "text/event-stream" } }));
    },
    text: (piece: string) => send(writer.text(piece)),
    thinking: (piece: string) => send(writer.thinking(piece)),
    withdraw(): void {
      isWithdrawn = true;
    },
    /** Ends the answer with this reply, unless the provider's answer was passed on. @returns the reply. */
    finish(reply: ModelReply): ModelReply {
      if (isPassed) return reply;
      const isBad = reply.finish === "error" || reply.finish === "aborted";
      // What was sent cannot be taken back, so this is reported as a failure and the client asks again.
      const failure: WireFailure | undefined = isBad
        ? failureOf(reply)
        : isWithdrawn && pipe
          ? { kind: "provider", message: "The reply broke off and was begun again." }
          : undefined;
      if (pipe) pipe.end(failure ? writer.fail(failure) : writer.end(reply));
      else respond(failure ? refuse(protocol, failure) : Response.json(protocol.whole(wire, reply)));
      return reply;
    },
  };
}

function openStream(onGone: () => void) {
  const encoder = new TextEncoder();
  let to: ReadableStreamDefaultController<Uint8Array> | undefined;
  const body = new ReadableStream<Uint8Array>({
    start(controller) {
      to = controller;
    },
    cancel() {
      to = undefined;
      onGone();
    },
  });
  return {
    body,
    send: (text: string) => text && to?.enqueue(encoder.encode(text)),
    end(text: string) {
      to?.enqueue(encoder.encode(text));
      to?.close();
      to = undefined;
    },
  };
}
