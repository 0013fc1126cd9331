/** `skep evals`: how often agents passed tasks. `skep eval` starts an eval. */
import type { RowOf } from "../../api/types.ts";
import { followEval } from "../eval/eval.ts";
import { ATTEMPT_COLUMNS, evalLines, whoOf } from "../eval/lines.ts";
import { tableLines, timeText } from "../terminal/table.ts";
import { findOne, listItems } from "./find.ts";
import { type Resource, verbMakers } from "./resource.ts";
import { COST, deleteVerb, statusStyle } from "./words.ts";

type List = "/v1/evals";
type Item = RowOf<List>;
const { actOnOne } = verbMakers<List>();

const MOST = 1_000;
const FOLLOW = { flags: "--follow", about: "show progress until the eval ends" };

export const evals: Resource<List, Item> = {
  name: "evals",
  one: "eval",
  about: "list the evals with the share of tasks that agents passed, or show one; skep eval starts one",
  path: "/v1/evals",
  idOf: ({ id }) => id,
  columns: [
    { head: "EVAL", of: ({ id }) => id },
    { head: "STATUS", of: ({ status }) => status, style: ({ status }) => statusStyle(status) },
    { head: "PASSED", of: ({ passed, total }) => `${passed}/${total}`, right: true },
    { head: "BEGUN", of: ({ created_at }) => timeText(created_at) },
    COST,
    { head: "NAME", of: ({ name }) => name, shrinks: true },
  ],
  empty: "No evals yet. Start one with: skep eval shipped tasks && skep eval tasks --agent NAME",
  options: [FOLLOW],
  show: async (item, { client, flags }) =>
    flags["follow"] ? followEval(client, item.id, flags["json"] === true) : { json: item, text: evalLines(item) },
  verbs: [
    actOnOne("show", "show an eval with its scores, as `skep evals EVAL` does", {
      options: [FOLLOW],
      async run({ client, item, flags }) {
        if (flags["follow"]) return followEval(client, item.id, flags["json"] === true);
        const found = await client.call("GET", `/v1/evals/${item.id}`);
        return { json: found, text: evalLines(found) };
      },
    }),
    actOnOne(
      "attempts",
      "list the attempts of an eval, each with its run and the reason if it did not pass",
      async ({ client, path }) => {
        const found = await listItems(client, `${path}/attempts`, MOST);
        return { json: found, text: tableLines(ATTEMPT_COLUMNS, found.items) };
      },
    ),
    actOnOne("compare", "show which tasks pass more or less often than in an earlier eval", {
      args: [{ name: "<earlier>", about: "earlier eval to compare with" }],
      async run({ client, item, args: [word = ""] }) {
        const earlier = await findOne(client, evals, word);
        const found = await client.call("GET", `/v1/evals/${item.id}/comparison/${earlier["id"]}`);
        const formatPasses = (of: (typeof found.tasks)[number]["before"]) => (of ? `${of.passed}/${of.ended}` : "");
        const columns = [
          { head: "TASK", of: ({ task }: (typeof found.tasks)[number]) => task },
          { head: "AGENT", of: whoOf },
          { head: "MODEL", of: ({ model }: (typeof found.tasks)[number]) => model, optional: true },
          { head: "BEFORE", of: ({ before }: (typeof found.tasks)[number]) => formatPasses(before), right: true },
          { head: "NOW", of: ({ after }: (typeof found.tasks)[number]) => formatPasses(after), right: true },
        ];
        const sum = `${found.better} better, ${found.worse} worse`;
        return { json: found, text: [...tableLines(columns, found.tasks), "", sum] };
      },
    }),
    actOnOne(
      "recording",
      "print the replies of the models, for skep eval FOLDER --replay FILE",
      async ({ client, path }) => {
        const found = await client.call("GET", `${path}/recording`);
        const text = JSON.stringify(found);
        return { json: found, text, exact: `${text}\n` };
      },
    ),
    actOnOne("cancel", "cancel an eval and its runs", async ({ client, path }) => {
      const found = await client.call("POST", `${path}/cancel`);
      return { json: found, text: `${found.id} cancelled` };
    }),
    deleteVerb("delete an eval that has ended; its runs stay", ({ name }: Item) => `the eval ${name}`),
  ],
};
