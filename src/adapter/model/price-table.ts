/** Access to the price table of `@pydantic/genai-prices`. It is large, and loaded at its first use. */
import { calcPrice, findProvider, type MatchLogic, type Provider } from "@pydantic/genai-prices";
import type { ProviderEntry } from "./providers.ts";

/** The table also lists models that cannot hold an agent's conversation. */
const NOT_TEXT =
  /embed|whisper|tts|dall-e|image|audio|realtime|transcri|moderation|rerank|ocr|guard|voice|live|text-davinci|veo|imagen|babbage|davinci|^ada|computer-use/i;
/**
 * The full names that a match rule accepts. At some providers (Fireworks), the table's own id is not the name that a
 * call needs.
 */
function exactNames(match: MatchLogic): string[] {
  if ("equals" in match) return [match.equals];
  if ("or" in match) return match.or.flatMap(exactNames);
  return [];
}

export interface Rates {
  /** USD per million tokens; null when unknown, as is `output`. */
  input: number | null;
  output: number | null;
  context: number | null;
}

/** The price by the table; null when the model is not in it. Errors of the table (impossible usage) also give null. */
export function tablePrice(table: Provider, name: string, usage: Record<string, number>, timestamp: Date) {
  try {
    return calcPrice(usage, name, { provider: table, timestamp });
  } catch {
    return null;
  }
}

export function ratesOf(table: Provider, name: string, at: Date): Rates | undefined {
  const input = tablePrice(table, name, { input_tokens: 1000, output_tokens: 0 }, at);
  const output = tablePrice(table, name, { input_tokens: 0, output_tokens: 1000 }, at);
  if (!input || !output) return undefined;
  // Prices per token carry binary rounding errors. The table has at most ten digits.
  const roundRate = (usd: number) => Number((usd * 1000).toPrecision(10));
  return {
    input: roundRate(input.input_price),
    output: roundRate(output.output_price),
    context: input.model.context_window ?? null,
  };
}

export const tableOf = (entry: ProviderEntry | undefined): Provider | undefined =>
  entry?.priceId ? findProvider({ providerId: entry.priceId }) : undefined;

/**
 * Callable ids of the table's text models, with their rates. Each model is priced in a table of its own, which avoids
 * scanning all rules.
 */
export function tableModels(table: Provider, at: Date): { id: string; name: string; rates: Rates }[] {
  return table.models.flatMap((model) => {
    if (model.deprecated || model.id.startsWith("~") || NOT_TEXT.test(model.id)) return [];
    const alone: Provider = { ...table, models: [model] };
    for (const id of [model.id, ...exactNames(model.match)]) {
      const rates = ratesOf(alone, id, at);
      if (rates) return [{ id, name: model.name ?? model.id, rates }];
    }
    return [];
  });
}
