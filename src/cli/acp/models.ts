/** The model that answers in a chat, as a setting of the session. */
import type { SessionConfigOption } from "@agentclientprotocol/sdk";
import type { Link } from "./link.ts";

export const MODEL_SETTING = "model";
/** The choice that leaves the model to the agent's own file. */
export const AGENTS_OWN = "default";

const SHOWN = 200;

const modelsOf = (link: Link) => link.ask((server) => server.call("GET", `/v1/models?limit=${SHOWN}`));

export async function settingsOf(link: Link, model: string | null): Promise<SessionConfigOption[]> {
  const { items } = await modelsOf(link);
  const known = items.map(({ id, name }) => ({ value: id, name: `${name} (${id})` }));
  const isListed = model === null || known.some(({ value }) => value === model);
  const own = { value: AGENTS_OWN, name: "As the agent's file says" };
  return [
    {
      type: "select",
      id: MODEL_SETTING,
      name: "Model",
      category: "model",
      description: "Answers from the next prompt on.",
      currentValue: model ?? AGENTS_OWN,
      options: [own, ...(isListed ? [] : [{ value: model, name: model }]), ...known],
    },
  ];
}

/** Whether a model accepts pictures. A model that is not in the list is assumed to accept them. */
export async function seesPictures(link: Link, model: string | null): Promise<boolean> {
  const { items } = await modelsOf(link);
  return items.find(({ id }) => id === model)?.images !== false;
}
