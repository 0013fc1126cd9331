/** Tells the windows that models are actually served with, and whether they are large enough for agents. */
import type { Clock } from "../../core/clock.ts";
import { type ModelPortDeps, resolveTarget } from "./model-port.ts";
import { OWN_KINDS, splitModel } from "./providers.ts";
import { askBesideCard, createWindows, SMALL_WINDOW, USUAL_WINDOW, windowRemedy } from "./served-window.ts";

interface ModelWindow {
  model: string;
  /** Served window in tokens; null when the server does not tell. */
  context_window: number | null;
  max_context_window: number | null;
  /** Window in tokens that an administrator set. */
  wanted: number | null;
  is_small: boolean;
  /** What a person can do about it. */
  advice: string | null;
}

/**
 * @param mayLoad whether the server may load the model to answer. @returns undefined when no provider has such a model.
 */
export type ModelWindows = (
  model: string,
  options: { mayLoad: boolean; signal: AbortSignal },
) => Promise<ModelWindow | undefined>;

const formatTokens = (tokens: number): string => tokens.toLocaleString("en-US");
/** A smaller share is no reason for advice. */
const BESIDE_LEAST = 0.01;

function besideText(part: number, served: number | null): string | null {
  if (part < BESIDE_LEAST) return null;
  const window = served === null ? "its window" : `a window of ${formatTokens(served)}`;
  return `${Math.round(part * 100)} % of it does not fit the card with ${window} and is computed by the processor, which is slow; set a smaller window, not below ${formatTokens(SMALL_WINDOW)}, or take a smaller model`;
}

export function createModelWindows(deps: Pick<ModelPortDeps, "keys" | "prices"> & { clock: Clock }): ModelWindows {
  const { prices, clock } = deps;
  const askWindow = createWindows(clock);
  return async (model, { mayLoad, signal }) => {
    const parts = splitModel(model);
    if (!parts || !prices.provider(parts.provider)) return undefined;
    const { wanted, most } = prices.readWindows(model);
    const known = prices.describeModel(model);
    const answer = { model, wanted, max_context_window: most ?? known.max_context_window };
    const to = await resolveTarget(deps, { model, userId: undefined });
    const isOwn = !("code" in to) && OWN_KINDS.has(to.kind) && (to.local || to.providerId.startsWith("custom-"));
    if (!isOwn) return { ...answer, context_window: known.context_window, is_small: false, advice: null };
    const question = { endpoint: to, name: to.name, wanted, most, mayLoad, signal };
    const { tokens } = await askWindow(question);
    const served = tokens ?? known.context_window;
    const remedy = windowRemedy(to.kind, to.providerId, model);
    if (served === null && to.kind === "ollama") {
      const advice = `no window is set: Ollama serves ${formatTokens(USUAL_WINDOW)} tokens on cards below 24 GiB, too small for agents; ${remedy}`;
      return { ...answer, context_window: null, is_small: false, advice };
    }
    const is_small = served !== null && served < SMALL_WINDOW;
    if (is_small) {
      const advice = `served window ${formatTokens(served)}: too small for agents; ${remedy}`;
      return { ...answer, context_window: served, is_small, advice };
    }
    const beside = await askBesideCard(question);
    const advice = beside === null ? null : besideText(beside, served);
    return { ...answer, context_window: served, is_small, advice };
  };
}
