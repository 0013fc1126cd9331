/**
 * Records the model calls of a program that asks its vendor instead of the gateway. Each turn is one call without a
 * price, with the token counts that the program gives. A turn that was cut off is recorded with what is known of it.
 */
import { sizeOf, tokensOf } from "../context.ts";
import type { LoopInput } from "../loop.ts";
import type { ModelReply, ModelUsage } from "../model.ts";
import { loginModel, loginNote } from "./own-login.ts";
import type { TurnEnd } from "./port.ts";

export interface LoginMeter {
  /** The program was given this prompt. */
  begin(prompt: string): void;
  /** The program wrote this piece of text or reasoning. */
  say(piece: string): void;
  /** The program reported how many tokens its conversation has by now. */
  fill(tokens: number): void;
  /** The program's turn has ended. */
  end(turn: TurnEnd): void;
  /** Records the current turn, if any, as cut off: by a limit, a stop, a result, or the end of the program. */
  cut(): void;
}

interface UnderWay {
  input_tokens: number;
  started: number;
  said: number;
  conversation: number;
}

/** @returns undefined when the program asks the gateway, which records its calls itself. */
export function createLoginMeter(
  input: Pick<LoopInput, "execution" | "ports" | "agent" | "model"> & { login: string | undefined },
): LoginMeter | undefined {
  const { execution, ports, agent, login, model } = input;
  const { ownLogin } = agent;
  if (ownLogin === undefined || login === undefined) return undefined;
  const asked = loginModel(ownLogin, model);
  let turn: UnderWay | undefined;

  function settle(finish: ModelReply["finish"], told: ModelUsage | undefined): void {
    if (!turn) return;
    const { said, conversation, input_tokens, started } = turn;
    turn = undefined;
    const output_tokens = tokensOf(said, []);
    const measured = {
      ...NOTHING_CACHED,
      // The last call of the turn has read everything that was said before it.
      input_tokens: Math.max(input_tokens, conversation - output_tokens),
      output_tokens,
    };
    const times = { duration_ms: ports.clock.monotonic() - started, time_to_first_token_ms: null, attempts: 1 };
    const price = { cost_usd: null, cost_source: "unknown", key_source: "user" } as const;
    const usage = { usage: told ?? measured, usage_estimated: told === undefined };
    ports.rows.logCall(execution, { ...asked, ...times, ...price, ...usage, parts: [], finish }, "turn");
  }
  return {
    begin(prompt) {
      const note = loginNote(ownLogin);
      if (!ports.rows.notes(execution).includes(note)) ports.rows.addNote(execution, note, "announced");
      const input_tokens = sizeOf([prompt]);
      turn = { input_tokens, started: ports.clock.monotonic(), said: 0, conversation: 0 };
      ports.rows.beginCall(execution, { model: asked.model, purpose: "turn", input_tokens, cost_usd: null });
    },
    say(piece) {
      if (turn) turn.said += piece.length;
    },
    fill(tokens) {
      if (turn) turn.conversation = tokens;
    },
    end: ({ usage }) => settle("stop", usage),
    cut: () => settle("aborted", undefined),
  };
}

const NOTHING_CACHED = { cache_read_tokens: 0, cache_write_tokens: 0, reasoning_tokens: 0 };
