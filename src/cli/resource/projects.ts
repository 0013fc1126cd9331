/** `skep projects`: repositories that agents work in. */

import { basename, resolve } from "node:path";
import type { RowOf } from "../../api/types.ts";
import { badUsage } from "../../core/errors.ts";
import { textIn } from "../../core/is-object.ts";
import { gitRoot } from "../git-folder.ts";
import { readText } from "../read-input.ts";
import type { Client } from "../server/client.ts";
import { fieldLines, timeText } from "../terminal/table.ts";
import { findOne } from "./find.ts";
import { everythingOf } from "./history.ts";
import { jobEnded } from "./jobs.ts";
import { exportVerb, importVerb } from "./project-archive.ts";
import { cachesVerb } from "./project-caches.ts";
import { environmentVerb } from "./project-environment.ts";
import { inviteVerb } from "./project-invitations.ts";
import { membersVerb, shareVerb } from "./project-members.ts";
import { setupVerb } from "./project-setup.ts";
import { type Call, type OptionSpec, type Resource, verbMakers } from "./resource.ts";
import {
  ALLOWED_HOST,
  assertMeant,
  bodyOf,
  confirmVerb,
  deleteVerb,
  editVerb,
  readAllowedHost,
  statusStyle,
  YES,
} from "./words.ts";

type List = "/v1/projects";
type Item = RowOf<List>;
type One = Call<Item, `${List}/${string}`>;
const { actOnList, actOnOne } = verbMakers<List>();

const FIELDS = {
  name: "name",
  description: "description",
  repository: "repository",
  branch: "default_branch",
  pipeline: "default_pipeline_id",
  check: "check",
  scip: "scip_path",
  fetch: "fetch_before_run",
  status: "status",
  access: "access",
} as const;

const OPTIONS: OptionSpec[] = [
  { flags: "--description <text>", about: "description of the project" },
  { flags: "--branch <name>", about: "branch that runs start from (default: the repository's)" },
  { flags: "--pipeline <id>", about: "default pipeline of the project's tasks" },
  { flags: "--check <command>", about: 'command that checks whether the code works, e.g. "npm test"' },
  { flags: "--scip <path>", about: "path of a SCIP index in the repository; the code graph takes its calls as exact" },
  {
    flags: "--fetch <when>",
    about: "whether to fetch the repository before a run; require: the run needs the fetch to succeed",
    choices: ["try", "require", "never"],
  },
];
const NO_WAIT: OptionSpec = { flags: "--no-wait", about: "return at once; do not wait until the repository is cloned" };
const LOOK_MS = 250;

export const projects: Resource<List> = {
  name: "projects",
  one: "project",
  about: "list the projects: repositories that agents work in; or show one",
  path: "/v1/projects",
  idOf: ({ id }) => id,
  namesOf: ({ name }) => [name],
  columns: [
    { head: "NAME", of: ({ name }) => name },
    { head: "STATUS", of: ({ status }) => status },
    { head: "CLONE", of: ({ workspace }) => workspace.state, style: ({ workspace }) => statusStyle(workspace.state) },
    { head: "HEAD", of: ({ workspace }) => workspace.head?.slice(0, 8) },
    { head: "OPEN TO", of: ({ access }) => access },
    { head: "REPOSITORY", of: ({ repository }) => repository, shrinks: true },
    { head: "ID", of: ({ id }) => id },
  ],
  filters: [
    {
      flags: "--status <status>",
      about: "only projects with this status",
      query: "status",
      choices: ["active", "paused", "archived"],
    },
  ],
  empty: "No projects yet. Add one: skep projects add --repository URL",
  show: async (project) => linesOf(project),
  verbs: [
    actOnList("add", "add a project: register a repository and clone it", {
      args: [
        {
          name: "[name]",
          about: "name of the project (default: the repository's), or the folder or address of the repository",
        },
      ],
      options: [
        { flags: "--repository <url>", about: "https or ssh address of the repository" },
        ...OPTIONS,
        {
          flags: "--access <whom>",
          about: "who sees the project (default: everyone)",
          choices: ["everyone", "members", "personal"],
        },
        NO_WAIT,
      ],
      async run({ client, args: [given], flags }) {
        const isRepository = given !== undefined && flags["repository"] === undefined && /^[./~]|:/.test(given);
        const repository: string | undefined = isRepository ? repositoryAt(given) : flags["repository"];
        const name = (isRepository ? undefined : given) ?? (repository && basename(repository).replace(/\.git$/, ""));
        if (!name) throw badUsage("Give a name, or --repository URL, or both.");
        const made = await client.call("POST", "/v1/projects", { ...bodyOf(flags, FIELDS), name, repository });
        return presentClone(flags["wait"] === false ? made : await untilCloned(client, made));
      },
    }),
    editVerb("update", "change a project", {
      options: [
        { flags: "--name <text>", about: "new name of the project" },
        { flags: "--repository <url>", about: "new address of the repository, which is cloned again" },
        ...OPTIONS,
        { flags: "--status <status>", about: "new status of the project", choices: ["active", "paused", "archived"] },
      ],
      fieldsOf: ({ flags }) => bodyOf(flags, FIELDS),
      linesOf,
    }),
    confirmVerb("confirm that you trust a project's description and vision, which may come from outside text", linesOf),
    actOnOne("clone", "clone the repository again after the clone has failed; bring an existing clone up to date", {
      options: [NO_WAIT],
      async run(call) {
        const { client, item, path, flags } = call;
        if (item.workspace.state === "ready" && flags["wait"] !== false)
          return { ...(await fetchProject(call)), json: await client.call("GET", path) };
        const started = await client.call("POST", `${path}/clone`);
        return presentClone(flags["wait"] === false ? started : await untilCloned(client, started));
      },
    }),
    actOnOne("fetch", "bring the clone up to date with its repository", {
      options: [{ flags: "--no-wait", about: "return at once; do not wait until the job has ended" }],
      run: fetchProject,
    }),
    actOnOne("reset", "move the clone to the fetched branch, after the repository's history was rewritten", {
      options: [YES],
      async run({ client, item, path, flags }) {
        await assertMeant(`Reset ${item["name"]}? Merges that were not pushed are lost.`, flags);
        const project = await client.call("POST", `${path}/reset`);
        return { json: project, text: `${item["name"]}: at ${project["workspace"].head?.slice(0, 8) ?? "no commit"}` };
      },
    }),
    actOnOne("vision", "show or set the vision of a project: where it is going; its agents read it", {
      options: [
        { flags: "--set <file>", about: "file with the new vision (Markdown); - for standard input" },
        { flags: "--clear", about: "remove the vision" },
      ],
      async run({ client, item, path, flags }) {
        const file: string | undefined = flags["set"];
        if (file !== undefined && flags["clear"]) throw badUsage("Give --set FILE or --clear, not both.");
        if (file === undefined && !flags["clear"]) {
          const text: string = item["vision"] ?? "";
          const shown =
            text || `${item["name"]} has no vision. Set one: skep projects vision ${item["name"]} --set FILE`;
          return { json: { vision: item["vision"] }, text: shown };
        }
        const text = file === undefined ? null : (await readText(file)).trim() || null;
        const project = await client.call("PUT", `${path}/vision`, { vision: text });
        return {
          json: project,
          text: text ? `${project["name"]}: the vision is saved` : `${project["name"]}: no vision`,
        };
      },
    }),
    environmentVerb,
    setupVerb,
    cachesVerb,
    membersVerb((client, name) => findOne(client, projects, name)),
    inviteVerb((client, name) => findOne(client, projects, name)),
    shareVerb,
    exportVerb,
    importVerb,
    actOnOne("allow", "add a network host to the project's list, for agents with `project` in their allow-list", {
      args: [ALLOWED_HOST],
      async run({ client, item, path, args: [given = ""] }) {
        const { entry, ...body } = readAllowedHost(given);
        const now = await client.call("POST", `${path}/allowed-hosts`, body);
        return { json: now, text: `${item["name"]}: ${entry} may be reached from the next connection on.` };
      },
    }),
    deleteVerb("delete a project with its clone and its branches", (item: Item) => `project ${item["name"]}`, {
      force: { flags: "--force", about: "delete even if the project has runs that were not merged" },
      everything: everythingOf("projects"),
    }),
  ],
};

function linesOf(project: Item): string[] {
  return fieldLines([
    ["name", project["name"]],
    ["id", project["id"]],
    ["description", project["description"]],
    ["unconfirmed because", project["outside"]],
    ["status", project["status"]],
    ["open to", project["access"]],
    ["your role", project["role"]],
    ["repository", project["repository"]],
    ["branch", project["default_branch"]],
    ["clone", project["workspace"].state],
    ["error", project["workspace"].error],
    ["head", project["workspace"].head],
    ["fetched", timeText(project["workspace"].fetched_at)],
    ["pipeline", project["default_pipeline_id"]],
    ["check", project["check"]],
    ["vision", project["vision"]],
    ["created", timeText(project["created_at"])],
  ]);
}

/** Returns a URL as it is; for a local folder, the root of its repository. */
function repositoryAt(text: string): string {
  if (text.includes(":")) return text;
  const root = gitRoot(resolve(text));
  if (root === undefined) throw badUsage(`${text} is not a git repository.`);
  return root;
}

async function fetchProject({ client, item, path, flags }: One) {
  const started = await client.call("POST", `${path}/fetch`);
  if (flags["wait"] === false) return { json: started, text: `${item["name"]}: fetching, as job ${started["id"]}` };
  const job = await jobEnded(client, started);
  const text =
    job["state"] === "succeeded"
      ? `${item["name"]}: up to date, at ${textIn(job.result, "commit")?.slice(0, 8) ?? "no commit"}`
      : `${item["name"]}: not brought up to date: ${job["error"]?.message ?? job["state"]}`;
  return { json: job, text, ...(job["state"] === "succeeded" ? {} : { code: 1 }) };
}

/** Waits until the project's clone is ready or has failed. */
export async function untilCloned(client: Client, project: Item): Promise<Item> {
  let now = project;
  while (now["workspace"].state === "cloning") {
    await Bun.sleep(LOOK_MS);
    now = await client.call("GET", `/v1/projects/${project["id"]}`);
  }
  return now;
}

function presentClone(project: Item) {
  const { name, workspace } = project;
  const failed = workspace.state === "failed";
  const text = failed
    ? `${name}: the clone failed: ${workspace.error?.replace(/\.$/, "")}. Try again with: skep projects clone ${name}`
    : `${name}: ${workspace.state === "ready" ? `cloned, at ${workspace.head?.slice(0, 8) ?? "no commit"}` : workspace.state === "none" ? "added, without a repository" : workspace.state}`;
  // Work is merged into the default branch, so say now that it is missing, not at the first merge.
  const isHeadless = workspace.state === "ready" && workspace.head && project["default_branch"] === null;
  const hint = `It has no default branch, since HEAD is a commit in its repository. Choose a branch: skep projects update ${name} --branch BRANCH`;
  return { json: project, text: isHeadless ? [text, hint] : text, ...(failed ? { code: 1 } : {}) };
}
