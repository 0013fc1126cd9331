/**
 * Makes one span for each thing that has ended: a run, an attempt of a step, an agent's work, a tool call, a model
 * call. Spans are made from the event and its rows, following the semantic conventions for generative AI. They hold
 * what people and models wrote only if that was asked for.
 */
import type { EventOf } from "../../core/events.ts";
import type { Masking } from "../../core/masking.ts";
import { toUsd } from "../../core/money.ts";
import { ownJson } from "../../core/own-json.ts";
import { traceIdOf } from "../../core/trace-context.ts";
import type { Store } from "../../store/store.ts";
import { RUN_ENDS, stepComplete, stepFailed } from "../runs/events.ts";
import { sessionEnded, toolCallEnd, turnEnded } from "../sessions/events.ts";
import { llmCall } from "../usage/events.ts";
import { createPlaces, type ExecutionRow, SPAN } from "./places.ts";
import { createRunSpans } from "./run-spans.ts";
import { type Attributes, codeOf, type OtlpSpan, type Placed, toBigInt, writeSpan } from "./span.ts";

/** Events after which there is a span to send. */
export const TRACED = [...RUN_ENDS, stepComplete, stepFailed, sessionEnded, turnEnded, toolCallEnd, llmCall] as const;
export type TracedEvent = EventOf<(typeof TRACED)[number]>;

/** Names of providers in the conventions. Other providers keep their own names. */
const PROVIDER_NAMES: Readonly<Record<string, string>> = { google: "gcp.gemini", mistral: "mistral_ai", xai: "x_ai" };
/** The provider's name when no model was called, because the attribute is required. */
const NO_PROVIDER = "skep";
const CONTENT_CHARACTERS = 8_000;

const providerName = (provider: string): string => PROVIDER_NAMES[provider] ?? provider;
const providerOf = (model: string | null): string =>
  model === null ? NO_PROVIDER : providerName(model.split("/", 1)[0]!);
/** The model's name without its provider: `openai/gpt-5` → `gpt-5`. */
const modelName = (model: string): string => model.slice(model.indexOf("/") + 1);
type ModelCall = Pick<EventOf<typeof llmCall>, "session_id" | "agent_id" | "data">;

function modelCallAttributes(model: string, { session_id, agent_id, data }: ModelCall): Attributes {
  return {
    "gen_ai.operation.name": "chat",
    "gen_ai.provider.name": providerName(data.provider),
    "gen_ai.request.model": model,
    "gen_ai.request.stream": data.time_to_first_token_ms === null ? undefined : true,
    "gen_ai.response.model": model,
    "gen_ai.response.finish_reasons": [data.finish_reason],
    "gen_ai.response.time_to_first_chunk":
      data.time_to_first_token_ms === null ? undefined : data.time_to_first_token_ms / 1_000,
    "gen_ai.usage.input_tokens": toBigInt(data.input_tokens),
    "gen_ai.usage.output_tokens": toBigInt(data.output_tokens),
    "gen_ai.usage.cache_read.input_tokens": toBigInt(data.cache_read_tokens),
    "gen_ai.usage.cache_creation.input_tokens": toBigInt(data.cache_write_tokens),
    "gen_ai.usage.reasoning.output_tokens": toBigInt(data.reasoning_tokens),
    "gen_ai.agent.id": agent_id,
    "gen_ai.agent.name": agent_id,
    "gen_ai.conversation.id": session_id,
    "skep.purpose": data.purpose,
    "skep.usage.cost_usd": data.cost_usd ?? undefined,
  };
}

interface SpansDeps {
  store: Pick<Store, "statement">;
  masking: Pick<Masking, "json" | "part">;
}

/** @returns the span of an event; undefined when it has none or its subject is deleted. */
export function createSpans({ store, masking }: SpansDeps) {
  const places = createPlaces(store);
  const { ofRun, ofStep } = createRunSpans(store, places);
  const maskContent = (text: string): string =>
    masking.part(text.slice(0, CONTENT_CHARACTERS), { after: text.length > CONTENT_CHARACTERS });

  /** Span of an execution. A command has none of its own, because its step's span says everything. */
  function ofExecution(row: ExecutionRow | undefined, at: string, withContent: boolean): Placed {
    if (row === undefined || row.command !== null || row.started_at === null) return undefined;
    const attributes: Attributes = {
      "gen_ai.operation.name": "invoke_agent",
      "gen_ai.provider.name": providerOf(row.model),
      "gen_ai.agent.id": row.agent_id,
      "gen_ai.agent.name": row.agent_id,
      "gen_ai.conversation.id": row.session_id,
      "gen_ai.request.model": row.model === null ? undefined : modelName(row.model),
      "skep.run.id": row.run_id ?? undefined,
      "skep.execution.id": row.id,
      "skep.execution.turns": toBigInt(row.turns),
      "skep.usage.tokens": toBigInt(row.tokens),
      "skep.usage.cost_usd": toUsd(row.cost_nano),
      ...(withContent ? messagesOf(row) : {}),
    };
    return {
      place: places.ofExecution(row),
      draft: {
        spanId: SPAN.execution(row.id),
        name: `invoke_agent ${row.agent_id}`,
        kind: "internal",
        attributes,
        start: Date.parse(row.started_at),
        end: Date.parse(row.finished_at ?? at),
        error: codeOf(row.error, row.status),
      },
    };
  }
  function messagesOf({ input, text }: ExecutionRow): Attributes {
    const said = ownJson<{ type: string; text?: string }[]>(input).flatMap((part) => part.text ?? []);
    const toMessage = (role: string, words: string) => ({
      role,
      parts: [{ type: "text", content: maskContent(words) }],
    });
    return {
      "gen_ai.input.messages": JSON.stringify([toMessage("user", said.join("\n"))]),
      "gen_ai.output.messages": JSON.stringify([{ ...toMessage("assistant", text), finish_reason: "stop" }]),
    };
  }

  function ofToolCall({ at, session_id = "", data }: EventOf<typeof toolCallEnd>, withContent: boolean): Placed {
    const row = places.findExecution(data.execution_id);
    if (!row) return undefined;
    const end = Date.parse(at);
    const attributes: Attributes = {
      "gen_ai.operation.name": "execute_tool",
      "gen_ai.tool.name": data.tool,
      "gen_ai.tool.call.id": data.call_id,
      "gen_ai.tool.type": "function",
      "gen_ai.agent.id": row.agent_id,
      "gen_ai.agent.name": row.agent_id,
      "gen_ai.conversation.id": session_id,
      "gen_ai.tool.call.arguments": withContent ? argumentsOf(session_id, data.call_id) : undefined,
      "gen_ai.tool.call.result": withContent ? maskContent(data.output) : undefined,
    };
    return {
      place: places.within(row),
      draft: {
        spanId: SPAN.call(session_id, data.call_id),
        name: `execute_tool ${data.tool}`,
        kind: "internal",
        attributes,
        start: end - data.duration_ms,
        end,
        error: data.ok ? undefined : data.interrupted ? "interrupted" : "tool_error",
      },
    };
  }
  const argumentsOf = (sessionId: string, callId: string): string | undefined => {
    const input = store
      .statement<string>("SELECT input FROM tool_calls WHERE session_id = ? AND call_id = ?")
      .pluck()
      .get([sessionId, callId]);
    return input === undefined ? undefined : maskContent(input);
  };

  /**
   * Span of a model call. A call outside any execution, such as the one that gives a chat its title, is a trace of its
   * own.
   */
  function ofModelCall({ session_id, agent_id, data }: EventOf<typeof llmCall>): Placed {
    const row = session_id === undefined ? undefined : places.executionAt(session_id, data.created_at);
    const end = Date.parse(data.created_at);
    const model = modelName(data.model);
    const attributes = modelCallAttributes(model, { session_id, agent_id, data });
    return {
      place: row
        ? places.within(row)
        : { traceId: traceIdOf(`model ${data.id}`), parentSpanId: undefined, isDropped: false },
      draft: {
        spanId: SPAN.model(data.id),
        name: `chat ${model}`,
        kind: "client",
        attributes,
        start: end - data.duration_ms,
        end,
        error: data.error?.code,
      },
    };
  }

  function placedOf(event: TracedEvent, withContent: boolean): Placed {
    switch (event.kind) {
      case "run_complete":
      case "run_failed":
      case "run_cancelled":
        return ofRun(event.run_id ?? "", event.at);
      case "step_complete":
      case "step_failed":
        return ofStep(event);
      case "turn_ended":
        return ofExecution(places.findExecution(event.data.execution_id), event.at, withContent);
      case "session_ended":
        // When a chat is closed, its turns were sent already, each when it ended.
        if (event.data.status === "ended") return undefined;
        return ofExecution(places.findEnded(event.session_id ?? ""), event.at, withContent);
      case "tool_call_end":
        return ofToolCall(event, withContent);
      case "llm_call":
        return ofModelCall(event);
    }
  }

  return (event: TracedEvent, withContent: boolean): OtlpSpan | undefined => {
    const placed = placedOf(event, withContent);
    if (placed === undefined || placed.place.isDropped) return undefined;
    const { traceId, parentSpanId } = placed.place;
    return masking.json(writeSpan({ ...placed.draft, traceId, parentSpanId }));
  };
}
