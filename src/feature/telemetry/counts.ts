/**
 * Counts what runs, steps, models and tools have done since the start, for `/metrics`. Labels have few values and hold
 * no names that people make up.
 */
import type { Metrics } from "../../http/metrics.ts";
import type { Bus } from "../../store/bus.ts";
import { RUN_ENDS, stepComplete, stepFailed } from "../runs/events.ts";
import { toolCallEnd } from "../sessions/events.ts";
import { llmCall } from "../usage/events.ts";

const ENDS = ["succeeded", "failed", "cancelled"] as const;
const OUTCOMES = ["ok", "failed", "interrupted"] as const;

/** @returns a function that ends the subscriptions. */
export function countWork(metrics: Pick<Metrics, "counter">, bus: Pick<Bus, "subscribe">): () => void {
  const runs = metrics.counter("runs_ended_total", "Runs that ended.");
  const steps = metrics.counter("steps_ended_total", "Attempts of steps that ended.");
  const tools = metrics.counter("tool_calls_total", "Tool calls that ended.");
  const calls = metrics.counter("model_calls_total", "Model calls.");
  const seconds = metrics.counter("model_call_seconds_total", "Time that model calls took.");
  const tokens = metrics.counter("model_tokens_total", "Tokens of model calls.");
  const cost = metrics.counter("model_cost_usd_total", "Cost of model calls whose price is known, USD.");
  // A counter starts at 0, because a rate needs a value before the first count.
  for (const status of ENDS) for (const count of [runs, steps]) count({ status }, 0);
  for (const outcome of OUTCOMES) tools({ outcome }, 0);
  const stops = [
    bus.subscribe(RUN_ENDS, ({ data }) => runs({ status: data.status })),
    bus.subscribe([stepComplete, stepFailed], ({ data }) => steps({ status: data.status })),
    bus.subscribe([toolCallEnd], ({ data }) =>
      tools({ outcome: data.interrupted ? "interrupted" : data.ok ? "ok" : "failed" }),
    ),
    bus.subscribe([llmCall], ({ data }) => {
      const { provider } = data;
      calls({ provider, outcome: data.error === null ? "ok" : "failed" });
      seconds({ provider }, data.duration_ms / 1_000);
      tokens({ provider, type: "input" }, data.input_tokens);
      tokens({ provider, type: "output" }, data.output_tokens);
      cost({ provider }, data.cost_usd ?? 0);
    }),
  ];
  return () => {
    for (const stop of stops) stop();
  };
}
