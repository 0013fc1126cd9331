/** Exports a project as an archive. */

import { toTimestamp } from "../../core/clock.ts";
import { forbidden, invalidField, Problem } from "../../core/errors.ts";
import type { Masking } from "../../core/masking.ts";
import { shownOf } from "../../core/schema.ts";
import { takeTurns } from "../../core/turns.ts";
import { actedBy, actorOf, type Caller } from "../../http/caller.ts";
import { type Page, pageOf } from "../../http/list.ts";
import type { Environments } from "../environments/service.ts";
import type { Core } from "../feature.ts";
import type { Project } from "../projects/model.ts";
import type { RunViews } from "../runs/views.ts";
import type { Secrets } from "../secrets/service.ts";
import type { Task } from "../tasks/model.ts";
import type { Policies } from "../tasks/policy.ts";
import type { Tasks } from "../tasks/service.ts";
import { type FileName, packArchive } from "./archive.ts";
import { ArchivedProject, type ArchivedTask, type ProjectExport, RUNS_MAX, TASKS_MAX } from "./model.ts";
import { sealSecrets } from "./sealed.ts";

interface ArchiveWriterDeps extends Pick<Core, "clock" | "audit"> {
  masking: Pick<Masking, "json">;
  version: string;
  projects: { get(id: string): Project };
  tasks: Pick<Tasks, "list"> & { policies: Pick<Policies, "get"> };
  environments: Pick<Environments, "of">;
  runs: Pick<RunViews, "list">;
  secrets: Pick<Secrets, "get" | "valueOf">;
}

const PAGE = 200;
/** Statuses that are reset in the archive: no agent works on the tasks of a project that was just imported. */
const RESTING: Readonly<Record<string, string>> = { in_progress: "ready", review: "ready" };

const formatNdjson = (rows: readonly unknown[]): string => rows.map((row) => `${JSON.stringify(row)}\n`).join("");
const formatJson = (value: unknown): string => `${JSON.stringify(value, null, 2)}\n`;

/**
 * Reads every row of a list page by page and lets other work run in between.
 * @throws Problem 422 beyond `most`, if `tooMany` gives one.
 */
async function readAll<Row>(
  page: (page: Page) => { items: Row[]; next_cursor: string | null },
  most: number,
  tooMany: () => Problem | undefined,
): Promise<Row[]> {
  const rows: Row[] = [];
  const turn = takeTurns();
  for (let cursor: string | undefined; ; await turn()) {
    const { items, next_cursor } = page(pageOf({ limit: PAGE, cursor }));
    rows.push(...items);
    const problem = rows.length > most ? tooMany() : undefined;
    if (problem) throw problem;
    if (next_cursor === null || rows.length >= most) return rows.slice(0, most);
    cursor = next_cursor;
  }
}

/** The key is the old id. The import gives the task a new id. */
const archivedTask = (task: Task): ArchivedTask => ({
  key: task.id,
  title: task.title,
  description: task.description,
  status: RESTING[task.status] ?? task.status,
  priority: task.priority,
  tags: task.tags,
  metadata: task.metadata,
  depends_on: task.depends_on,
  ...(task.work_type === null ? {} : { work_type: task.work_type }),
  ...(task.assigned_agent === null ? {} : { assigned_agent: task.assigned_agent }),
  ...(task.parent_id === null ? {} : { parent_id: task.parent_id }),
  ...(task.estimate_hours === null ? {} : { estimate_hours: task.estimate_hours }),
});

export function createArchiveWriter(deps: ArchiveWriterDeps) {
  const { clock, audit, projects, tasks, environments, secrets } = deps;
  const readNow = (): string => toTimestamp(clock.now());

  /** @throws Problem 403, 404, 422. */
  async function sealedOf({ secrets: names = [], passphrase }: ProjectExport, caller: Caller) {
    if (names.length === 0) return undefined;
    if (!caller.admin) throw forbidden("Only an administrator puts secrets into an archive.");
    if (passphrase === undefined) throw invalidField("/passphrase", "Secrets leave this server sealed by a passphrase");
    const values = names.map((name) => {
      const { description, secret_type, edge, name: own } = secrets.get(name);
      const value = secrets.valueOf(own, actorOf(caller));
      if (value === undefined) throw new Problem(422, "secret_closed", `The secret ${own} cannot be opened.`);
      return { name: own, description, secret_type, value, edge };
    });
    return formatJson(await sealSecrets(JSON.stringify(values), passphrase));
  }

  async function write(id: string, wanted: ProjectExport, caller: Caller) {
    const project = projects.get(id);
    // Runs that belong to others are left out, even for administrators.
    const asOwn = caller.kind === "local" ? caller : { ...caller, admin: false };
    const board = await readAll(
      (page) => tasks.list(id, {}, page),
      TASKS_MAX,
      () => new Problem(422, "project_too_large", `An archive holds ${TASKS_MAX} tasks. Delete what is done long ago.`),
    );
    const runs = await readAll(
      (page) => deps.runs.list({ project_id: id }, page, asOwn),
      RUNS_MAX,
      () => undefined,
    );
    const fields: ArchivedProject = shownOf(ArchivedProject, project);
    const { name } = project;
    const { exists, rules, wait_for_merge } = tasks.policies.get(id);
    const environment = environments.of(id);
    const mask = <T>(value: T): T => deps.masking.json(value);
    const known = new Set(board.map((task) => task.id));
    const files = new Map<FileName, string>([
      ["project.json", formatJson(mask(fields))],
      ["tasks.ndjson", formatNdjson(board.map((task) => mask(archivedTask(withKnown(task, known)))))],
      ["runs.ndjson", formatNdjson(runs.map(mask))],
    ]);
    if (exists) files.set("policy.json", formatJson({ rules, wait_for_merge }));
    if (environment) files.set("environment.json", formatJson(mask(environment)));
    const sealed = await sealedOf(wanted, caller);
    if (sealed !== undefined) files.set("secrets.json", sealed);
    const bytes = await packArchive(files, { skep: deps.version, created_at: readNow() });
    const data = { name, secrets: wanted.secrets ?? [] };
    audit({ action: "project.exported", ...actedBy(caller), subject: id, data });
    return { name, bytes };
  }

  return write;
}

/** The task without references to tasks outside the archive. */
const withKnown = (task: Task, known: ReadonlySet<string>): Task => ({
  ...task,
  depends_on: task.depends_on.filter((id) => known.has(id)),
  parent_id: task.parent_id !== null && known.has(task.parent_id) ? task.parent_id : null,
});
