/** `skep models`: the models that can be used, with the known and configured properties of each. */
import type { AnswerOf, BodyOf, RowOf } from "../../api/types.ts";
import { badUsage } from "../../core/errors.ts";
import { leaveAtInterrupt } from "../interrupt.ts";
import type { Client } from "../server/client.ts";
import { fieldLines, formatCount } from "../terminal/table.ts";
import { jobEnded } from "./jobs.ts";
import { type Answer, type Call, type Resource, verbMakers } from "./resource.ts";

type List = "/v1/models";
type Item = RowOf<List>;
const { actOnList } = verbMakers<List>();

const MODEL = { name: "<model>", about: "model as provider/model, e.g. ollama/qwen3" };
const PATH = "/v1/settings/models";

const tokensSaid = (tokens: number | null): string => (tokens === null ? "" : tokens.toLocaleString("en-US"));
const abilitiesOf = ({ tools, images, reasoning }: Item): string =>
  [tools && "tools", images && "images", reasoning && "thinking"].filter(Boolean).join(", ");

const linesOf = (model: Item): string[] =>
  fieldLines([
    ["model", model.id],
    ["window", tokensSaid(model.context_window) || "unknown until it is asked"],
    ["at most", tokensSaid(model.max_context_window)],
    ["longest reply", tokensSaid(model.max_output_tokens)],
    ["input $/M", model.input_usd_per_mtok],
    ["output $/M", model.output_usd_per_mtok],
    ["can", abilitiesOf(model)],
  ]);

export const models: Resource<List, Item, Item> = {
  name: "models",
  one: "model",
  about: "list the models that agents can use, with their settings; or show one",
  path: "/v1/models",
  single: false,
  idOf: ({ id }) => id,
  filters: [{ flags: "--provider <id>", about: "only models of this provider", query: "provider" }],
  columns: [
    { head: "MODEL", of: ({ id }) => id },
    { head: "WINDOW", of: ({ context_window }) => tokensSaid(context_window), right: true },
    { head: "AT MOST", of: ({ max_context_window }) => tokensSaid(max_context_window), right: true },
    { head: "IN $/M", of: ({ input_usd_per_mtok }) => input_usd_per_mtok, right: true },
    { head: "OUT $/M", of: ({ output_usd_per_mtok }) => output_usd_per_mtok, right: true },
    { head: "CAN", of: abilitiesOf },
  ],
  empty: "No models. Set up a provider: skep init",
  show: async (model) => linesOf(model),
  verbs: [
    actOnList(
      "set",
      "set the context window, prices and abilities of a model; options that you leave out keep their values",
      {
        args: [MODEL],
        options: [
          {
            flags: "--window <tokens>",
            about: "context window in tokens, e.g. 32k; each call asks Ollama to serve this window",
          },
          { flags: "--max-output <tokens>", about: "highest number of tokens in a reply" },
          { flags: "--input-price <usd>", about: "price of a million input tokens, in USD" },
          { flags: "--output-price <usd>", about: "price of a million output tokens, in USD" },
          { flags: "--images <yes|no>", about: "whether the model reads images" },
          { flags: "--tools <yes|no>", about: "whether the model calls tools" },
          { flags: "--reasoning <yes|no>", about: "whether the model thinks before it answers" },
          { flags: "--reset", about: "delete all settings of the model" },
        ],
        run: set,
      },
    ),
    actOnList("try", "test a model with three real calls; exit 1 when it does not answer or call tools", {
      args: [MODEL],
      options: [
        { flags: "--needle", about: "also fill nine tenths of the context window and ask for a word at its far end" },
        { flags: "--detach", about: "return at once; skep models trial shows the result" },
      ],
      run: tryModel,
    }),
    actOnList("trial", "show the result of the last trial of a model", {
      args: [MODEL],
      async run({ client, args: [model = ""] }) {
        const found = await trialOf(client, model);
        const underWay = found.job_id === null ? [] : [`A trial is under way: skep jobs wait ${found.job_id}`];
        const never = [`${model} was never tried. Try it: skep models try ${model}`];
        const lines = found.trial ? [...trialLines(found.trial), ...underWay] : underWay.length > 0 ? underWay : never;
        return { json: found, text: lines };
      },
    }),
    actOnList("window", "ask the server which context window it really serves; exit 1 when too small for agents", {
      args: [MODEL],
      async run({ client, args: [model = ""] }) {
        const found = await client.call("POST", `${PATH}/window`, { model });
        const served =
          found.context_window === null ? "the server does not say" : `${tokensSaid(found.context_window)} tokens`;
        const text = found.advice ? `${model}: ${found.advice}` : `${model}: ${served}`;
        return { json: found, text, ...(found.is_small ? { code: 1 } : {}) };
      },
    }),
  ],
};

type Trial = NonNullable<AnswerOf<"GET", `${typeof PATH}/trial`>["trial"]>;

const trialOf = (client: Client, model: string) =>
  client.call("GET", `${PATH}/trial?${new URLSearchParams({ model })}`);

async function tryModel({ client, args: [model = ""], flags }: Call): Promise<Answer> {
  const started = await client.call("POST", `${PATH}/try`, { model, needle: flags["needle"] === true });
  if (flags["detach"]) return { json: started, text: [started.id, `see it with: skep models trial ${model}`] };
  const left = leaveAtInterrupt(
    `\nThe trial continues on the server. See it with: skep models trial ${model}; end it with: skep jobs cancel ${started.id}`,
  );
  const job = await jobEnded(client, started).finally(left.stopListening);
  if (job.state === "cancelled") return { json: job, text: `The trial of ${model} was cancelled.`, code: 3 };
  const { trial } = await trialOf(client, model);
  if (job.state !== "succeeded" || !trial)
    return { json: job, text: `The trial of ${model} ended early: ${job.error?.message ?? job.state}`, code: 1 };
  const isFit = trial.answers.ok === true && trial.tools.ok === true;
  return { json: trial, text: trialLines(trial), ...(isFit ? {} : { code: 1 }) };
}

function trialLines(found: Trial): string[] {
  const formatCheck = ({ ok, detail }: typeof found.tools) =>
    [ok === null ? "" : ok ? "yes" : "no", detail ?? ""].filter(Boolean).join(". ");
  const { calls, cost_usd, time_to_first_token_ms } = found;
  return fieldLines([
    ["answers", formatCheck(found.answers)],
    ["piece by piece", found.streams ? "yes" : "no: its words come at once"],
    ["calls tools", formatCheck(found.tools)],
    ["sees pictures", formatCheck(found.images)],
    ["thinks", found.reasoning ? "yes" : "it did not, here"],
    ["served window", found.context_window === null ? "not known" : `${tokensSaid(found.context_window)} tokens`],
    ["end of window", formatCheck(found.needle)],
    ["first word after", time_to_first_token_ms === null ? "" : `${(time_to_first_token_ms / 1_000).toFixed(1)} s`],
    [
      "cost",
      cost_usd === null
        ? "unknown: it has no price"
        : `$${cost_usd.toFixed(6)} for ${formatCount(calls, "call")}, $${(cost_usd / calls).toFixed(6)} each`,
    ],
  ]);
}

/** `auto` and `default` reset a field to what the server or the price table says. */
const UNSET = /^(auto|default)$/i;
const FIELDS = {
  window: ["context_window", tokensOf],
  maxOutput: ["max_output_tokens", tokensOf],
  inputPrice: ["input_usd_per_mtok", priceOf],
  outputPrice: ["output_usd_per_mtok", priceOf],
  images: ["images", yesOf],
  tools: ["tools", yesOf],
  reasoning: ["reasoning", yesOf],
} as const;

async function set({ client, args: [model = ""], flags }: Call) {
  const fields = Object.fromEntries(
    Object.entries(FIELDS).flatMap(([flag, [field, read]]) => {
      if (flags["reset"]) return [[field, null]];
      const given: string | undefined = flags[flag];
      return given === undefined ? [] : [[field, UNSET.test(given) ? null : read(given)]];
    }),
  );
  if (Object.keys(fields).length === 0)
    throw badUsage(
      "Give at least one of --window, --max-output, --input-price, --output-price, --images, --tools, --reasoning, --reset.",
    );
  const body: BodyOf<"PUT", typeof PATH> = { model, ...fields };
  const found = await client.call("PUT", PATH, body);
  return { json: found, text: linesOf(found) };
}

function tokensOf(text: string): number {
  const [, digits, thousands] = /^(\d{1,9})(k?)$/i.exec(text) ?? [];
  if (digits === undefined || Number(digits) === 0)
    throw badUsage(`"${text}" is no number of tokens. Write for example 32768 or 32k.`);
  return Number(digits) * (thousands ? 1_024 : 1);
}

function priceOf(text: string): number {
  const price = /^\d{1,6}(\.\d{1,6})?$/.test(text) ? Number(text) : Number.NaN;
  if (Number.isNaN(price)) throw badUsage(`"${text}" is no price. Write dollars, for example 0.25.`);
  return price;
}

function yesOf(text: string): boolean {
  if (/^(yes|true|on)$/i.test(text)) return true;
  if (/^(no|false|off)$/i.test(text)) return false;
  throw badUsage(`"${text}" is neither yes nor no.`);
}
