/** Chooses a model: one of the operator's that answers and is suitable for agents, else the scripted one. */
import type { Client } from "./server/client.ts";

export interface ChosenModel {
  /** Undefined: the model of the settings. */
  model: string | undefined;
  scripted: boolean;
  /** The reason for the choice, shown to the person. */
  why: string;
}

export const SCRIPTED = "demo/scripted";
/** Names of models that are not made for chats with tools. */
const OTHER_USE = /embed|rerank|whisper|tts|speech|audio|image|vision-preview|moderation|realtime|transcri|guard|live/i;
/** Fast and cheap models of families that are known to handle tools, in order of preference. */
const PREFERRED = [
  /claude[^c]*haiku/i,
  /gpt-\d.{0,40}mini/i,
  /gemini-.{0,40}flash(?!.{0,40}lite)/i,
  /qwen|llama|mistral|gpt-oss|gemma/i,
  /./,
];

export async function chooseModel(client: Client): Promise<ChosenModel> {
  const { items } = await client.call("GET", "/v1/settings/providers?limit=200");
  const own = items.filter(({ id, configured }) => configured && id !== "demo");
  const chosen = items.find((provider) => provider.default !== null);
  if (chosen)
    return { model: undefined, scripted: chosen.default === SCRIPTED, why: `${chosen.default}, as the settings say` };
  const missed: string[] = [];
  for (const { id, name } of own) {
    const found = await client.call("POST", `/v1/settings/providers/${id}/test`, {});
    const model = found.ok ? pickModel(found.models) : undefined;
    if (model) return { model, scripted: false, why: `${model}, which ${name} lists` };
    missed.push(found.ok ? `${name} lists no model that fits` : `${name}: ${found.error}`);
  }
  const why = missed.length > 0 ? missed.join("; ") : "no provider's key or address is set";
  return { model: SCRIPTED, scripted: true, why: `${SCRIPTED}, a fixed transcript and no AI (${why})` };
}

/** Chooses among models that take tools; among equals the last by name, which is usually the newest. */
export function pickModel(models: readonly { id: string; tools: boolean }[]): string | undefined {
  const fit = models.filter(({ id }) => !OTHER_USE.test(id));
  const able = fit.some(({ tools }) => tools) ? fit.filter(({ tools }) => tools) : fit;
  const ids = able.map(({ id }) => id).sort((a, b) => b.localeCompare(a, "en", { numeric: true }));
  return PREFERRED.flatMap((family) => ids.find((id) => family.test(id)) ?? [])[0];
}
