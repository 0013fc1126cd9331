/** `skep codehost`: the connection to GitHub, Gitea or Forgejo, and the rules by which their events start runs. */
import type { AnswerOf, BodyOf, RowOf } from "../../api/types.ts";
import { badUsage } from "../../core/errors.ts";
import { readSecret, readText } from "../read-input.ts";
import { fieldLines, tableLines, timeText } from "../terminal/table.ts";
import { findOne } from "./find.ts";
import { projects } from "./projects.ts";
import { type Call, type Flags, type OptionSpec, type Resource, type Verb, verbMakers } from "./resource.ts";
import { assertMeant, bodyOf, deleteVerb, editVerb, listOf, statusStyle, switchVerbs, YES } from "./words.ts";

type List = "/v1/codehost/rules";
type Item = RowOf<List>;
type One = Call<Item, `${List}/${string}`>;
const { actOnList, actOnOne } = verbMakers<List>();

const EVENTS = ["issue_opened", "issue_labeled", "issue_comment", "pull_request_opened", "pull_request_labeled"];
const RULE_OPTIONS: OptionSpec[] = [
  { flags: "--label <name>", about: "only with this label" },
  { flags: "--command <word>", about: "word that the comment begins with, e.g. /skep" },
  { flags: "--pipeline <id>", about: "pipeline that runs" },
  { flags: "--permission <level>", about: "least that the actor may do there", choices: ["read", "write", "admin"] },
  { flags: "--bots <logins>", about: "bots that count as actors, separated by commas" },
  { flags: "--pull-request <yes>", about: "open a pull request when it succeeds", choices: ["yes", "no"] },
];
const CONNECT_OPTIONS: OptionSpec[] = [
  { flags: "--kind <kind>", about: "Forgejo counts as gitea", choices: ["github", "gitea"] },
  { flags: "--host-url <url>", about: "GitHub's API, or the site of a Gitea or Forgejo" },
  { flags: "--app-id <id>", about: "of a GitHub App" },
  { flags: "--app-key <file>", about: "file with the App's private key" },
  { flags: "--token-env <name>", about: "take the access token from this environment variable" },
  { flags: "--webhook-secret-env <name>", about: "take the webhook secret from this environment variable" },
];
const LIMIT: OptionSpec = { flags: "--limit <n>", about: "how many" };

export const codehost: Resource<List> = {
  name: "codehost",
  one: "rule",
  about: "GitHub, Gitea or Forgejo: the connection, and the rules that start runs",
  path: "/v1/codehost/rules",
  idOf: ({ id }) => id,
  namesOf: ({ name }) => [name],
  columns: [
    { head: "RULE", of: ({ name }) => name },
    { head: "STATE", of: ({ enabled }) => (enabled ? "on" : "off") },
    { head: "REPOSITORY", of: ({ repository }) => repository },
    { head: "AT", of: ({ event, label, command }) => [event, label, command].filter(Boolean).join(" ") },
    { head: "BY", of: ({ permission, bots }) => [permission, ...bots].join(", ") },
    { head: "PIPELINE", of: ({ pipeline_id }) => pipeline_id },
    { head: "ID", of: ({ id }) => id, shrinks: true },
  ],
  empty:
    "No rules. Add one: skep codehost add NAME --project PROJECT --event issue_labeled --label LABEL --pipeline ID",
  verbs: [
    actOnList("status", "the state of the connection", status),
    actOnList("repos", "repositories that it reaches", { options: [LIMIT], run: repos }),
    actOnList("deliveries", "what the host sent, and the result", {
      options: [LIMIT],
      run: deliveries,
    }),
    actOnList("retry", "act again on a delivery that failed", {
      args: [{ name: "<delivery>", about: "its id" }],
      async run({ client, args: [id] }) {
        const delivery = await client.call("POST", `/v1/codehost/deliveries/${encodeURIComponent(id!)}/retry`);
        return { json: delivery, text: `${delivery["event"]} is acted on again` };
      },
    }),
    actOnList("connect", "connect a code host; what is left out stays as it is", {
      options: CONNECT_OPTIONS,
      run: connect,
    }),
    actOnList("disconnect", "forget the stored connection; CODEHOST_… of the environment counts again", {
      options: [YES],
      async run({ client, flags }) {
        await assertMeant("Forget the connection with its secrets?", flags);
        await client.call("DELETE", "/v1/codehost/connection");
        return { json: { deleted: true }, text: "the stored connection is forgotten" };
      },
    }),
    actOnList("add", "let something on the code host start runs", {
      args: [{ name: "<name>", about: "what to call the rule" }],
      options: [
        { flags: "--project <project>", about: "project of the repository" },
        { flags: "--event <event>", about: "what starts a run", choices: EVENTS },
        ...RULE_OPTIONS,
      ],
      async run({ client, path, args: [name = ""], flags }) {
        const { project, event, pipeline } = flags;
        if (!project || !event || !pipeline) throw badUsage("A rule needs --project, --event and --pipeline.");
        const { id } = await findOne(client, projects, project);
        return showRule(
          await client.call("POST", path, { ...ruleFrom(flags), name, project_id: id, event, pipeline_id: pipeline }),
        );
      },
    }),
    editVerb("update", "change a rule", {
      options: [{ flags: "--event <event>", about: "what starts a run", choices: EVENTS }, ...RULE_OPTIONS],
      fieldsOf: ({ flags }) => ruleFrom(flags),
      linesOf,
    }),
    actOnOne("try", "ask whether a rule would start a run at an issue or pull request; nothing is started", {
      args: [{ name: "<number>", about: "of the issue or pull request" }],
      options: [
        { flags: "--actor <login>", about: "who would do it; its author unless given" },
        { flags: "--comment <text>", about: "what the comment would say" },
      ],
      async run({ client, path, args: [number], flags }) {
        const body = { number: Number(number), ...bodyOf(flags, { actor: "actor", comment: "comment" }) };
        const trial = await client.call("POST", `${path}/try`, body);
        return { json: trial, text: `${trial["starts"] ? "yes" : "no"}: ${trial["detail"]} (${trial["title"]})` };
      },
    }),
    ...switchVerbs("let a rule start runs", "keep a rule from starting runs", linesOf),
    deleteVerb("delete a rule; runs that it started continue", (item: Item) => `rule ${item["name"]}`),
    runVerb(
      "push",
      "push a run's branch to the project's repository",
      "push",
      ({ branch, commit }) => `pushed ${branch} at ${commit.slice(0, 8)}`,
    ),
    runVerb(
      "pull-request",
      "push a run's branch and open a pull request",
      "pull-request",
      ({ url, state }) => url ?? `a pull request is being opened (${state})`,
    ),
  ],
};

function linesOf(rule: Item): string[] {
  return fieldLines(Object.entries(rule));
}

const showRule = (rule: Item) => ({ json: rule, text: linesOf(rule) });

function runVerb<At extends "push" | "pull-request">(
  name: string,
  about: string,
  at: At,
  textOf: (answer: AnswerOf<"POST", `/v1/runs/${string}/${At}`>) => string,
): Verb<Item, List> {
  return actOnList(name, about, {
    args: [{ name: "<run>", about: "its id" }],
    async run({ client, args: [id] }) {
      const answer = await client.ask<AnswerOf<"POST", `/v1/runs/${string}/${At}`>>(
        "POST",
        `/v1/runs/${encodeURIComponent(id!)}/${at}`,
      );
      return { json: answer, text: textOf(answer) };
    },
  });
}

function ruleFrom(flags: Flags): BodyOf<"PUT", One["path"]> {
  return {
    ...bodyOf(flags, { event: "event", label: "label", command: "command", pipeline: "pipeline_id" }),
    ...bodyOf(flags, { permission: "permission" }),
    ...(flags["bots"] === undefined ? {} : { bots: listOf(flags["bots"]) }),
    ...(flags["pullRequest"] === undefined ? {} : { pull_request: flags["pullRequest"] === "yes" }),
  };
}

async function connect({ client, flags }: Call) {
  const secret = async (what: string, env: string | undefined) =>
    env === undefined ? undefined : readSecret(what, { env });
  const token = await secret("access token", flags["tokenEnv"]);
  const webhook_secret = await secret("webhook secret", flags["webhookSecretEnv"]);
  const connection = await client.call("PUT", "/v1/codehost/connection", {
    ...bodyOf(flags, { kind: "kind", hostUrl: "url", appId: "app_id" }),
    ...(flags["appKey"] === undefined ? {} : { private_key: await readText(flags["appKey"]) }),
    token,
    webhook_secret,
  });
  return { json: connection, text: fieldLines(Object.entries(connection)) };
}

async function status({ client }: Call) {
  const now = await client.call("GET", "/v1/codehost/app/status");
  const { webhook } = now;
  const counts = Object.entries(webhook.deliveries).map(([state, rows]) => `${rows} ${state}`);
  const text = fieldLines([
    ["host", now["url"] ?? "none is connected: skep codehost connect"],
    ["connected", now["connected"] ? `yes, as ${now["login"]}` : "no"],
    ["error", now["error"]?.message],
    ["webhook", webhook.configured ? webhook.path : "no secret is set, so none are accepted"],
    ["last delivery", timeText(webhook.last_delivery_at)],
    ["deliveries", counts.join(", ")],
  ]);
  return { json: now, text };
}

async function repos({ client, flags }: Call) {
  const { items } = await client.call("GET", `/v1/codehost/repos?limit=${flags["limit"] ?? 100}`);
  const text = tableLines(
    [
      { head: "REPOSITORY", of: (one) => one["full_name"] },
      { head: "PRIVATE", of: (one) => (one["private"] ? "yes" : "no") },
      { head: "PROJECT", of: (one) => one["project_id"] },
      { head: "CLONE", of: (one) => one["clone_url"], shrinks: true },
    ],
    items,
  );
  return { json: items, text };
}

async function deliveries({ client, flags }: Call) {
  const { items } = await client.call("GET", `/v1/codehost/deliveries?limit=${flags["limit"] ?? 30}`);
  const text = tableLines(
    [
      { head: "RECEIVED", of: (one) => timeText(one["received_at"]) },
      { head: "EVENT", of: (one) => one["event"] },
      { head: "REPOSITORY", of: (one) => one["repository"] },
      { head: "STATE", of: (one) => one["state"], style: (one) => statusStyle(one["state"]) },
      { head: "RESULT", of: (one) => one["detail"], shrinks: true },
      { head: "ID", of: (one) => one["id"] },
    ],
    items,
  );
  return { json: items, text };
}
