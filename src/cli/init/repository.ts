/** Adds the repository of the current folder as a project of the server. */

import { basename, resolve } from "node:path";
import type { RowOf } from "../../api/types.ts";
import { badUsage, isProblem, Problem } from "../../core/errors.ts";
import { gitOrigin, gitRoot } from "../git-folder.ts";
import { listItems } from "../resource/find.ts";
import { ofFolder } from "../resource/project-here.ts";
import { projects, untilCloned } from "../resource/projects.ts";
import type { Client } from "../server/client.ts";
import { confirm, hasPerson } from "../terminal/ask.ts";
import type { InitFlags } from "./init.ts";

type Project = RowOf<"/v1/projects">;

const PROJECTS = 1_000;

/**
 * @returns the project's name, or undefined when there is none. If the repository cannot be added, that is reported but
 * is no error.
 */
export async function addRepository(
  client: Client,
  flags: InitFlags,
  say: (text: string) => void,
): Promise<string | undefined> {
  if (flags.project === false) return undefined;
  const asked = typeof flags.project === "string" ? flags.project : undefined;
  const root = gitRoot(asked === undefined ? process.cwd() : resolve(asked));
  if (root === undefined) {
    if (asked !== undefined) throw badUsage(`${flags.project} is not a git repository.`);
    say("Project     none: this folder is not a git repository. Later: skep projects add --repository URL");
    return undefined;
  }
  if (!asked && !flags.yes && hasPerson() && !(await confirm(`Add the repository ${root} as a project?`, true)))
    return undefined;
  const { items } = await listItems(client, projects.path, PROJECTS);
  const origin = gitOrigin(root);
  const [known] = ofFolder(root, items);
  const name = known?.["name"] ?? freeName(basename(root), items);
  try {
    const made = known ?? (await create(client, name, root, origin));
    const { workspace } = await untilCloned(client, made);
    if (workspace.state === "failed") throw new Problem(422, "clone_failed", workspace.error ?? "the clone failed");
    say(`Project     ${name}: ${known ? "already added" : `cloned from ${made["repository"]}`}`);
    return name;
  } catch (error) {
    if (!isProblem(error)) throw error;
    say(`Project     none: ${error.detail} Later: skep projects add --repository URL`);
    return undefined;
  }
}

/**
 * Creates the project from the local path. If the server may not clone from it, uses the repository's origin instead.
 */
async function create(client: Client, name: string, root: string, origin: string | undefined): Promise<Project> {
  try {
    return await client.ask<Project>("POST", projects.path, { name, repository: root });
  } catch (error) {
    if (!isProblem(error) || error.status !== 422 || origin === undefined || origin.startsWith("/")) throw error;
    return client.ask<Project>("POST", projects.path, { name, repository: origin });
  }
}

function freeName(wanted: string, items: readonly Project[]): string {
  const taken = new Set(items.map(({ name }) => String(name).toLowerCase()));
  for (let count = 1; ; count++) {
    const name = count === 1 ? wanted : `${wanted}-${count}`;
    if (!taken.has(name.toLowerCase())) return name;
  }
}
