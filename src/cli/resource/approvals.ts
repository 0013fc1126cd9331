/** `skep approvals`: requests that wait for a person's answer. `skep permissions`: the answers that are remembered. */
import type { RowOf } from "../../api/types.ts";
import { badUsage } from "../../core/errors.ts";
import { stripControls } from "../terminal/style.ts";
import { fieldLines, timeText } from "../terminal/table.ts";
import { type Answer, type Call, type OptionSpec, type Resource, verbMakers } from "./resource.ts";
import { assertMeant, statusStyle, YES } from "./words.ts";

type List = "/v1/approvals";
type Item = RowOf<List>;
type One = Call<Item, `${List}/${string}`>;
const { actOnOne } = verbMakers<List>();

const LASTS = ["once", "work", "agent"] as const;
const COMMENT: OptionSpec = { flags: "--comment <text>", about: "comment that the agent or the next steps read" };

export const approvals: Resource<List, Item, Item> = {
  name: "approvals",
  one: "approval",
  about: "list what waits for a person, or show one: steps of runs, and tool calls that rules ask about",
  path: "/v1/approvals",
  idOf: ({ id }) => id,
  single: false,
  filters: [
    {
      flags: "--state <state>",
      about: "only approvals in this state (default: waiting)",
      choices: ["waiting", "answered"],
      query: "state",
    },
    { flags: "--kind <kind>", about: "only approvals of this kind", choices: ["step", "permission"], query: "kind" },
  ],
  columns: [
    { head: "ID", of: ({ id }) => id },
    { head: "KIND", of: ({ kind }) => kind },
    { head: "STATE", of: ({ state }) => state, style: ({ state }) => statusStyle(state) },
    { head: "QUESTION", of: ({ message }) => message, shrinks: true },
    { head: "ASKED", of: ({ requested_at }) => timeText(requested_at) },
    { head: "UNTIL", of: ({ deadline }) => timeText(deadline) || "no limit" },
  ],
  empty: "Nothing waits for you.",
  show: async (item) => linesOf(item),
  verbs: [
    actOnOne("allow", "approve; the work continues", {
      options: [
        {
          flags: "--for <what>",
          about: "for a permission, what it covers: this call, this run or chat, or all work of the agent",
          choices: ["once", "work", "agent"],
          default: "once",
        },
        COMMENT,
      ],
      run: (call) => answer(call, true),
    }),
    actOnOne("deny", "reject; the agent is told", {
      options: [COMMENT],
      run: (call) => answer(call, false),
    }),
  ],
};

function linesOf(item: Item): string[] {
  if (item.kind === "step")
    return fieldLines([
      ["approval", item.id],
      ["run", item.run_id],
      ["step", item.step_id],
      ["question", item.message],
      ["state", item.state],
      ["if approved", item.if_approved.says],
      ["if refused", item.if_refused.says],
    ]);
  return fieldLines([
    ["approval", item.id],
    ["agent", item.agent_id],
    ["tool", item.tool],
    ["would do", stripControls(item.subject)],
    ["asked by", item.rules],
    ["about", item.about],
    ["run", item.run_id],
    ["session", item.session_id],
    ["state", item.state],
    ["answered by", item.answered_by],
    ["until", timeText(item.deadline)],
  ]);
}

async function answer({ client, item, flags }: One, allow: boolean): Promise<Answer> {
  const said = flags["comment"] ? { comment: String(flags["comment"]) } : {};
  const lasts = LASTS.find((one) => one === flags["for"]) ?? "once";
  if (item.kind === "permission") {
    const body = { allow, ...(allow ? { lasts } : {}), ...said };
    const after = await client.call("POST", `/v1/permissions/requests/${item.id}/answer`, body);
    return { json: after, text: `${after.id} ${after.state}` };
  }
  if (lasts !== "once") throw badUsage("--for is for permissions; this is a step of a run.");
  const after = await client.call("POST", `/v1/runs/${item.run_id}/approve`, {
    step_id: item.step_id,
    approved: allow,
    ...said,
  });
  return { json: after, text: `${after.id} ${after.status}` };
}

type Answers = "/v1/permissions/answers";

export const permissions: Resource<Answers> = {
  name: "permissions",
  one: "remembered answer",
  about: "list the permissions that were given for a run, a chat or an agent, or show one",
  path: "/v1/permissions/answers",
  idOf: ({ id }) => id,
  single: false,
  filters: [
    { flags: "--agent <agent>", about: "only permissions of this agent", query: "agent_id" },
    { flags: "--run <run>", about: "only permissions of this run", query: "run_id" },
  ],
  columns: [
    { head: "ID", of: ({ id }) => id },
    { head: "AGENT", of: ({ agent_id }) => agent_id },
    { head: "RULE", of: ({ rule }) => rule, shrinks: true },
    {
      head: "FOR",
      of: ({ lasts, run_id, session_id }) => (lasts === "agent" ? "the agent" : (run_id ?? session_id ?? "")),
    },
    { head: "BY", of: ({ answered_by }) => answered_by },
    { head: "SINCE", of: ({ created_at }) => timeText(created_at) },
  ],
  empty: "No answer is remembered. Remember one: skep approvals allow ID --for work",
  verbs: [
    verbMakers<Answers>().actOnOne("revoke", "take a permission back; the rule asks a person again", {
      options: [YES],
      async run({ client, item, path, flags }) {
        await assertMeant(`Have ${item.agent_id} ask again for: ${item.rule}?`, flags);
        await client.call("DELETE", path);
        return { json: { id: item.id, revoked: true }, text: `${item.id}: taken back` };
      },
    }),
  ],
};
