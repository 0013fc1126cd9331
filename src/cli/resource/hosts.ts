/** `skep hosts`: the container engines that agents work on, and which of them receive new work. */
import type { RowOf } from "../../api/types.ts";
import type { Style } from "../terminal/style.ts";
import { type OneVerb, type Resource, verbMakers } from "./resource.ts";

type List = "/v1/hosts";
type Item = RowOf<List>;
const { actOnOne } = verbMakers<List>();

const STYLES: Readonly<Record<Item["state"], Style>> = {
  ready: "green",
  away: "red",
  draining: "yellow",
  drained: "dim",
};
const EMPTY = "Agents work on one container engine, or none. Name several with DOCKER_HOSTS: see docs/sandboxes.md";

const createVerb = (name: "drain" | "enable", about: string): OneVerb<Item, List> =>
  actOnOne(name, about, async ({ client, path }) => {
    const host = await client.call("POST", `${path}/${name}`);
    return { json: host, text: sentenceOf(host) };
  });

export const hosts: Resource<List> = {
  name: "hosts",
  one: "host",
  about: "list the container engines that agents work on (DOCKER_HOSTS), or show one",
  path: "/v1/hosts",
  idOf: ({ name }) => name,
  columns: [
    { head: "HOST", of: ({ name }) => name },
    { head: "STATE", of: ({ state }) => state, style: ({ state }) => STYLES[state] },
    { head: "USED", of: ({ used }) => used, right: true },
    { head: "SLOTS", of: ({ slots }) => slots, right: true },
    { head: "LABELS", of: ({ labels }) => labels.join(", "), shrinks: true },
    { head: "ADDRESS", of: ({ address }) => address, shrinks: true },
    { head: "ERROR", of: ({ error }) => error, shrinks: true, optional: true },
  ],
  empty: EMPTY,
  absent: (word) => `There is no host ${word}.`,
  verbs: [
    createVerb("drain", "stop giving a host new work; running work finishes there"),
    createVerb("enable", "start giving a drained host work again"),
  ],
};

const sentenceOf = ({ name, state, used, error }: Item): string => {
  if (state === "draining")
    return `${name} gets no new work; ${used} ${used === 1 ? "sandbox is" : "sandboxes are"} still there`;
  if (state === "drained") return `${name} gets no new work, and has none`;
  return state === "ready" ? `${name} gets work` : `${name} gets work as soon as it answers: ${error}`;
};
