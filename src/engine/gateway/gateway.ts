/**
 * The model gateway of one execution, which an external agent's program asks instead of a provider. Its key is the
 * execution's token, so provider keys stay in the server. Calls are made one after another: each is reserved in the
 * budgets before it starts, and its exact cost is stored afterwards.
 */
import { createHash, timingSafeEqual } from "node:crypto";
import { isProblem, type Problem } from "../../core/errors.ts";
import { isObject, membersOf } from "../../core/is-object.ts";
import { jsonIn } from "../../core/json-reader.ts";
import { LIMITS } from "../../core/limits.ts";
import { readBeginning } from "../../core/read-bounded.ts";
import { hasQuotaEnded, waitForProvider } from "../ask.ts";
import { sizeOf, tokensOf } from "../context.ts";
import type { Ending } from "../execution.ts";
import type { ModelReply } from "../model.ts";
import { admitCall } from "../model-call.ts";
import { createFailure } from "../result.ts";
import { boundBody } from "./bounds.ts";
import { type Asked, type CallsInput, logCall, makeCall, refuse } from "./calls.ts";
import { chat } from "./chat.ts";
import { GENERATION_BOUNDS, type GeminiCall, gemini, geminiCallIn } from "./gemini.ts";
import { messages } from "./messages.ts";
import { responses } from "./responses.ts";
import type { WireFailure, WireProtocol, WireRequest } from "./wire.ts";

interface GatewayInput extends CallsInput {
  token: string;
  /** Answers requests to `/mcp`. */
  tools(request: Request, body: unknown): Promise<Response>;
}

/** Why the turn ends because of its model calls. */
type Over = { ending: Ending } | { wait: Problem };

export type Gateway = ReturnType<typeof createGateway>;

const PROTOCOLS: Readonly<Record<string, WireProtocol>> = {
  "/v1/chat/completions": chat,
  "/v1/responses": responses,
  "/v1/messages": messages,
};

/**
 * Errors that end the turn. Each next call would fail in the same way, but programs try again for a long time, and after
 * a truncated prompt they would go on with half of it.
 */
const ENDING_ERRORS: ReadonlySet<string> = new Set(["context_truncated", "provider_auth", "provider_not_configured"]);

const digest = (text: string): Buffer => createHash("sha256").update(text).digest();

export function createGateway(input: GatewayInput) {
  const { execution, ports, agent, model, signal } = input;
  const expected = digest(input.token);
  const over = Promise.withResolvers<Over>();
  let isOver: WireFailure | undefined;
  let made = ports.rows.replies(execution);
  let waiting = 0;
  let tail: Promise<unknown> = Promise.resolve();

  const end = (why: Over, failure: WireFailure): WireFailure => {
    isOver ??= failure;
    over.resolve(why);
    return failure;
  };
  const isAllowed = ({ headers }: Request, { searchParams }: URL): boolean => {
    const bearer = /^Bearer (\S+)$/i.exec(headers.get("authorization") ?? "")?.[1];
    const named = headers.get("x-api-key") ?? headers.get("x-goog-api-key") ?? searchParams.get("key");
    const given = bearer ?? named ?? "";
    return timingSafeEqual(digest(given), expected);
  };
  /** Checks limits and budgets. @returns the failure to answer with, else the most tokens the reply may have. */
  function admit(tokens: number, cachesForHour: boolean | undefined): WireFailure | { most?: number } {
    if (isOver) return isOver;
    if (made >= agent.maxTurns) {
      const message = `It took ${made} model calls, the most this agent may (max_turns).`;
      return end(
        { ending: createFailure("turns_exceeded", `${message} Raise max_turns, or ask for less.`) },
        createQuotaFailure(message),
      );
    }
    const budget = admitCall(input, model, tokens, cachesForHour);
    if (!("status" in budget)) return budget;
    const message = budget.status === "failed" ? budget.error.message : "It was stopped.";
    return end({ ending: budget }, createQuotaFailure(message));
  }
  /** Logs a finished call, and ends the turn when its error requires that. */
  function settle(reply: ModelReply): void {
    made++;
    const error = logCall(input, reply);
    if (error && ENDING_ERRORS.has(error.code))
      return void end(
        { ending: createFailure(error.code, error.message) },
        { kind: "provider", message: error.message },
      );
    if (!error || !hasQuotaEnded(error)) return;
    // A rate that is limited for a moment: the program waits and tries again by itself.
    if (error.retry_at === undefined && error.retryable) return;
    try {
      end({ ending: waitForProvider(input, error) }, createBusyFailure(error.message));
    } catch (wait) {
      if (!isProblem(wait)) throw wait;
      end({ wait }, createBusyFailure(error.message));
    }
  }
  /** Queues calls so that one runs after the other. */
  function inTurn<T>(act: () => Promise<T>): Promise<T> {
    waiting++;
    const next = tail.then(act).finally(() => waiting--);
    tail = next.catch(() => {});
    return next;
  }

  async function call(protocol: WireProtocol, request: Request, named?: GeminiCall): Promise<Response> {
    const asked = await readCall(protocol, request, named);
    if ("kind" in asked) return refuse(protocol, asked);
    const { wire, tokens } = asked;
    if (!isSameModel(wire.model, model))
      return refuse(protocol, {
        kind: "not_found",
        message: `This agent may ask ${model} alone, not ${wire.model.slice(0, 200)}.`,
      });
    if (waiting >= LIMITS.gatewayWaiting) return refuse(protocol, createBusyFailure("Too many requests at once."));
    const answered = Promise.withResolvers<Response>();
    void inTurn(async () => {
      const gone = AbortSignal.any([signal, request.signal]);
      if (gone.aborted) return answered.resolve(refuse(protocol, createBusyFailure("It was stopped.")));
      const room = admit(tokens, wire.cachesForHour);
      if ("kind" in room) return answered.resolve(refuse(protocol, room));
      const reply = await makeCall({ ...input, signal: gone }, asked, room.most, answered.resolve);
      // Lets the end of the answer go out first, so that the client does not wait for the disk.
      await new Promise((go) => setImmediate(go));
      settle(reply);
    }).catch((error) => {
      ports.log.error({ err: error, execution: execution.id }, "a call of the model gateway failed");
      answered.resolve(refuse(protocol, { kind: "provider", message: "The call failed inside the server." }));
    });
    return answered.promise;
  }

  async function answer(request: Request): Promise<Response> {
    const url = new URL(request.url);
    const { pathname } = url;
    const named = geminiCallIn(url);
    const protocol = named ? gemini : PROTOCOLS[pathname];
    if (!isAllowed(request, url))
      return refuse(protocol ?? chat, { kind: "unauthorized", message: "The key is not this execution's." });
    if (request.method === "GET" && pathname === "/v1/models") return Response.json(listOf(model));
    if (request.method === "POST" && pathname === "/mcp") return input.tools(request, await bodyOf(request));
    if (request.method === "POST" && pathname === "/v1/messages/count_tokens")
      return Response.json({ input_tokens: sizeOf([await bodyOf(request)]) });
    if (request.method === "POST" && named?.method === "count")
      return Response.json({ totalTokens: sizeOf([await bodyOf(request)]) });
    if (request.method === "POST" && protocol) return call(protocol, request, named);
    return refuse(chat, {
      kind: "not_found",
      message: `There is no ${request.method} ${pathname.slice(0, 100)} here.`,
    });
  }
  return {
    /**
     * Resolves when the turn is over because of its model calls: a budget is used up, there were too many calls, or a
     * provider must be waited for.
     */
    over: over.promise,
    /** Answers a request of the agent's program. Never throws. */
    answer: (request: Request): Promise<Response> =>
      answer(request).catch((error) => {
        if (!isProblem(error)) ports.log.error({ err: error, execution: execution.id }, "the model gateway failed");
        const message = isProblem(error) ? error.detail : "The request failed inside the server.";
        return refuse(chat, { kind: isProblem(error) ? "bad_request" : "provider", message });
      }),
    /** Refuses further calls and waits until those under way have their rows. */
    async close(): Promise<void> {
      isOver ??= createBusyFailure("The turn is over.");
      await tail;
    },
  };
}

const createQuotaFailure = (message: string): WireFailure => ({ kind: "quota", message });
const createBusyFailure = (message: string): WireFailure => ({ kind: "busy", message });

/**
 * Whether the requested name means the execution's model: `provider/model`, the name without the provider, or its last
 * part.
 */
const isSameModel = (asked: string, model: string): boolean =>
  asked === model || asked === model.slice(model.indexOf("/") + 1) || asked === model.slice(model.lastIndexOf("/") + 1);

/** The list of models, in a form that clients of each protocol can read. */
const listOf = (id: string) => ({
  object: "list",
  data: [
    {
      id,
      object: "model",
      type: "model",
      display_name: id,
      created: 0,
      created_at: "1970-01-01T00:00:00Z",
      owned_by: "skep",
    },
  ],
  has_more: false,
  first_id: id,
  last_id: id,
});

/** Parses a request and limits it to what the provider may read. */
async function readCall(
  protocol: WireProtocol,
  request: Request,
  named: GeminiCall | undefined,
): Promise<Asked | WireFailure> {
  const text = await textOf(request);
  const given = jsonIn(text ?? "");
  const askedBy = (body: Record<string, unknown>, wire: WireRequest): Asked => {
    const tokens = tokensOf(text?.length ?? 0, wire.request.messages);
    return { protocol, headers: request.headers, body, wire, tokens };
  };
  if (!isObject(given)) return { kind: "bad_request", message: "The body is no JSON object, or too long." };
  try {
    const body = boundBody(given, protocol.bounds);
    if (!named) return askedBy(body, protocol.read(body));
    const generationConfig = boundBody(membersOf(given["generationConfig"]), GENERATION_BOUNDS);
    const whole = { ...body, generationConfig };
    const wire = { ...protocol.read(whole), model: named.model, stream: named.method === "stream" };
    return askedBy(whole, wire);
  } catch (error) {
    if (isProblem(error)) return { kind: "bad_request", message: error.detail };
    throw error;
  }
}

/** The body as parsed JSON; undefined when it is too long or not JSON. */
const bodyOf = async (request: Request): Promise<unknown> => jsonIn((await textOf(request)) ?? "");

/** The body's text; undefined when it is too long. */
async function textOf(request: Request): Promise<string | undefined> {
  const { bytes, isWhole } = await readBeginning(request.body, LIMITS.gatewayBodyBytes);
  return isWhole ? bytes.toString("utf8") : undefined;
}
