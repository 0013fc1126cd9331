/** Finds the project that a command is about: the named one, that of the current folder, or the only one. */
import type { RowOf } from "../../api/types.ts";
import { badUsage } from "../../core/errors.ts";
import { gitOrigin, gitRoot } from "../git-folder.ts";
import type { Client } from "../server/client.ts";
import { findOne, listItems } from "./find.ts";
import { projects } from "./projects.ts";
import type { Flags, OptionSpec } from "./resource.ts";

const PROJECTS = 1_000;
const NAMED = 5;

export const PROJECT: OptionSpec = {
  flags: "--project <project>",
  about: "id or name of the project (default: that of the folder you are in, or the only one)",
};

/** @throws Problem 404 for an unknown name, 422 `bad_usage` when several projects are possible. */
export async function projectHere(client: Client, { project }: Flags): Promise<RowOf<"/v1/projects">> {
  if (project !== undefined) return findOne(client, projects, project);
  const { items } = await listItems(client, projects.path, PROJECTS);
  const here = ofFolder(process.cwd(), items);
  const found = here.length > 0 ? here : items;
  if (found.length === 1) return found[0]!;
  if (found.length === 0) throw badUsage("There are no projects yet. Add one: skep projects add NAME");
  const names = found.slice(0, NAMED).map(({ name }) => name);
  const more = found.length > NAMED ? ` and ${found.length - NAMED} more` : "";
  throw badUsage(`Name the project with --project: ${names.join(", ")}${more}.`);
}

/** The projects whose repository is in this folder, or from whose repository the folder was cloned. */
export function ofFolder<P extends { repository: string | null }>(folder: string, items: readonly P[]): P[] {
  const root = gitRoot(folder);
  if (root === undefined) return [];
  const addresses = new Set([root, gitOrigin(root)].filter((one) => one !== undefined).map(normalizeAddress));
  return items.filter(({ repository }) => repository !== null && addresses.has(normalizeAddress(repository)));
}

/** Removes a trailing `/` or `.git`: addresses that differ only in these name the same repository. */
const normalizeAddress = (address: string): string => address.replace(/(?<!\/)\/+$/, "").replace(/\.git$/, "");
