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
  { flags: "--label <name>", about: "only when the issue or pull request has this label" },
  { flags: "--command <word>", about: "word that a comment must begin with, e.g. /skep" },
  { flags: "--pipeline <id>", about: "id of the pipeline to run" },
  {
    flags: "--permission <level>",
    about: "permission that the actor must at least have in the repository",
    choices: ["read", "write", "admin"],
  },
  { flags: "--bots <logins>", about: "logins of bots that may also start runs, separated by commas" },
  {
    flags: "--pull-request <yes>",
    about: "whether to open a pull request when the run succeeds",
    choices: ["yes", "no"],
  },
];
const CONNECT_OPTIONS: OptionSpec[] = [
  { flags: "--kind <kind>", about: "kind of code host; use gitea for Forgejo", choices: ["github", "gitea"] },
  { flags: "--host-url <url>", about: "address of GitHub's API, or of the Gitea or Forgejo site" },
  { flags: "--app-id <id>", about: "id of the GitHub App" },
  { flags: "--app-key <file>", about: "file with the private key of the GitHub App" },
  { flags: "--token-env <name>", about: "take the access token from this environment variable" },
  { flags: "--webhook-secret-env <name>", about: "take the webhook secret from this environment variable" },
];
/** How many items are listed unless --limit says otherwise. */
const REPOS = 100;
const DELIVERIES = 30;
const limitOf = (most: number): OptionSpec => ({
  flags: "--limit <n>",
  about: `highest number of items to list (default: ${most})`,
});

export const codehost: Resource<List> = {
  name: "codehost",
  one: "rule",
  about: "list the rules by which GitHub, Gitea or Forgejo starts runs, or show one; connect a code host",
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
    actOnList("status", "show the state of the connection to the code host", showStatus),
    actOnList("repos", "list the repositories that the connection reaches", {
      options: [limitOf(REPOS)],
      run: listRepos,
    }),
    actOnList("deliveries", "list the events that the code host sent, and what came of each", {
      options: [limitOf(DELIVERIES)],
      run: listDeliveries,
    }),
    actOnList("retry", "process a failed delivery again", {
      args: [{ name: "<delivery>", about: "id of the delivery" }],
      async run({ client, args: [id] }) {
        const delivery = await client.call("POST", `/v1/codehost/deliveries/${encodeURIComponent(id!)}/retry`);
        return { json: delivery, text: `${delivery["event"]} is acted on again` };
      },
    }),
    actOnList("connect", "connect to a code host; options that you leave out keep their values", {
      options: CONNECT_OPTIONS,
      run: connect,
    }),
    actOnList("disconnect", "delete the stored connection; the CODEHOST_… environment variables apply again", {
      options: [YES],
      async run({ client, flags }) {
        await assertMeant("Forget the connection with its secrets?", flags);
        await client.call("DELETE", "/v1/codehost/connection");
        return { json: { deleted: true }, text: "the stored connection is forgotten" };
      },
    }),
    actOnList("add", "add a rule by which events on the code host start runs", {
      args: [{ name: "<name>", about: "name of the rule" }],
      options: [
        { flags: "--project <project>", about: "project whose repository the rule is for" },
        { flags: "--event <event>", about: "event that starts a run", choices: EVENTS },
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
      options: [{ flags: "--event <event>", about: "event that starts a run", choices: EVENTS }, ...RULE_OPTIONS],
      fieldsOf: ({ flags }) => ruleFrom(flags),
      linesOf,
    }),
    actOnOne("try", "show whether a rule would start a run for an issue or pull request; starts nothing", {
      args: [{ name: "<number>", about: "number of the issue or pull request" }],
      options: [
        { flags: "--actor <login>", about: "login of the person who would cause the event (default: the author)" },
        { flags: "--comment <text>", about: "text of the comment" },
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
    args: [{ name: "<run>", about: "id of the run" }],
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
  const findSecret = async (what: string, env: string | undefined) =>
    env === undefined ? undefined : readSecret(what, { env });
  const token = await findSecret("access token", flags["tokenEnv"]);
  const webhook_secret = await findSecret("webhook secret", flags["webhookSecretEnv"]);
  const connection = await client.call("PUT", "/v1/codehost/connection", {
    ...bodyOf(flags, { kind: "kind", hostUrl: "url", appId: "app_id" }),
    ...(flags["appKey"] === undefined ? {} : { private_key: await readText(flags["appKey"]) }),
    token,
    webhook_secret,
  });
  return { json: connection, text: fieldLines(Object.entries(connection)) };
}

async function showStatus({ client }: Call) {
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

async function listRepos({ client, flags }: Call) {
  const { items } = await client.call("GET", `/v1/codehost/repos?limit=${flags["limit"] ?? REPOS}`);
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

async function listDeliveries({ client, flags }: Call) {
  const { items } = await client.call("GET", `/v1/codehost/deliveries?limit=${flags["limit"] ?? DELIVERIES}`);
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
