/** Exports a project as an archive, and makes a project of one: with ids of its own, and owned by whoever reads it in. */
import { type Clock, timestamp } from "../../core/clock.ts";
import { forbidden, invalidField, isProblem, Problem } from "../../core/errors.ts";
import type { Masking } from "../../core/masking.ts";
import { roleIn } from "../../core/ownership.ts";
import { takeTurns } from "../../core/turns.ts";
import { actorOf, type Caller } from "../../http/caller.ts";
import { type Page, pageOf } from "../../http/list.ts";
import type { Audit } from "../../store/audit.ts";
import type { Store } from "../../store/store.ts";
import type { Environments } from "../environments/service.ts";
import type { Job } from "../jobs/model.ts";
import type { NewProject, Project } from "../projects/model.ts";
import type { RunViews } from "../runs/views.ts";
import type { Secrets } from "../secrets/service.ts";
import type { Task, TaskImport } from "../tasks/model.ts";
import type { Policies } from "../tasks/policy.ts";
import type { Tasks } from "../tasks/service.ts";
import { badArchive, type FileName, packArchive, parsed, parsedLines, readArchive } from "./archive.ts";
import {
  ArchivedEnvironment,
  ArchivedPolicy,
  ArchivedProject,
  ArchivedSecrets,
  ArchivedTask,
  type ImportedProject,
  type ProjectExport,
  type ProjectImport,
  RUNS_MAX,
  SealedSecrets,
  TASKS_MAX,
} from "./model.ts";
import { openSecrets, sealSecrets } from "./sealed.ts";

interface ProjectArchivesDeps {
  store: Store;
  clock: Clock;
  audit: Audit;
  masking: Pick<Masking, "json">;
  version: string;
  projects: { get(id: string): Project; create(input: NewProject, caller: Caller): Project };
  tasks: Pick<Tasks, "list"> & {
    policies: Pick<Policies, "get" | "update">;
    /** @throws Problem 422. */
    importInto(projectId: string, input: TaskImport, caller: Caller, outside: string | undefined): Job;
  };
  environments: Pick<Environments, "of" | "accept">;
  runs: Pick<RunViews, "list">;
  secrets: Pick<Secrets, "get" | "valueOf" | "create">;
  pipelineExists(id: string): boolean;
  agentExists(id: string): boolean;
}

const PAGE = 200;
const OUTSIDE = "It was read in from an archive.";
/** An agent at work there is at work on no task here. */
const RESTING: Readonly<Record<string, string>> = { in_progress: "ready", review: "ready" };

const lines = (rows: readonly unknown[]): string => rows.map((row) => `${JSON.stringify(row)}\n`).join("");
const whole = (value: unknown): string => `${JSON.stringify(value, null, 2)}\n`;

/** Every row of a list, page by page, with other work in between. @throws Problem 422 beyond `most`. */
async function every<Row>(
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

/** The key is the old id: the import gives another. */
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

export type ProjectArchives = ReturnType<typeof createProjectArchives>;

export function createProjectArchives(deps: ProjectArchivesDeps) {
  const { store, clock, audit, projects, tasks, environments, secrets } = deps;
  const now = (): string => timestamp(clock.now());

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
    return whole(await sealSecrets(JSON.stringify(values), passphrase));
  }

  async function write(id: string, wanted: ProjectExport, caller: Caller) {
    const project = projects.get(id);
    const { name, description, repository, default_branch, default_pipeline_id, check } = project;
    const { scip_path, fetch_before_run, vision, columns } = project;
    // What others did in it is theirs, for administrators too.
    const asOwn = caller.kind === "local" ? caller : { ...caller, admin: false };
    const board = await every(
      (page) => tasks.list(id, {}, page),
      TASKS_MAX,
      () => new Problem(422, "project_too_large", `An archive holds ${TASKS_MAX} tasks. Delete what is done long ago.`),
    );
    const runs = await every(
      (page) => deps.runs.list({ project_id: id }, page, asOwn),
      RUNS_MAX,
      () => undefined,
    );
    const fields: ArchivedProject = {
      name,
      description,
      repository,
      default_branch,
      default_pipeline_id,
      check,
      scip_path,
      fetch_before_run,
      vision,
      columns,
    };
    const { exists, rules, wait_for_merge } = tasks.policies.get(id);
    const environment = environments.of(id);
    const masked = <T>(value: T): T => deps.masking.json(value);
    const known = new Set(board.map((task) => task.id));
    const files = new Map<FileName, string>([
      ["project.json", whole(masked(fields))],
      ["tasks.ndjson", lines(board.map((task) => masked(archivedTask(withKnown(task, known)))))],
      ["runs.ndjson", lines(runs.map(masked))],
    ]);
    if (exists) files.set("policy.json", whole({ rules, wait_for_merge }));
    if (environment) files.set("environment.json", whole(masked(environment)));
    const sealed = await sealedOf(wanted, caller);
    if (sealed !== undefined) files.set("secrets.json", sealed);
    const bytes = await packArchive(files, { skep: deps.version, created_at: now() });
    const data = { name, secrets: wanted.secrets ?? [] };
    audit({ action: "project.exported", actor: actorOf(caller), subject: id, address: caller.address, data });
    return { name, bytes };
  }

  /** Rules without what this server does not have. */
  function fitting(policy: ArchivedPolicy, notices: string[]): ArchivedPolicy {
    const missing = new Set<string>();
    const rules = Object.fromEntries(
      Object.entries(policy.rules).map(([type, stages]) => [
        type,
        stages?.map(({ agent_id, pipeline_id, ...stage }) => {
          const hasAgent = agent_id === undefined || deps.agentExists(agent_id);
          const hasPipeline = pipeline_id === undefined || deps.pipelineExists(pipeline_id);
          if (!hasAgent) missing.add(`agent ${agent_id}`);
          if (!hasPipeline) missing.add(`pipeline ${pipeline_id}`);
          return {
            ...stage,
            ...(agent_id !== undefined && hasAgent ? { agent_id } : {}),
            ...(pipeline_id !== undefined && hasPipeline ? { pipeline_id } : {}),
          };
        }),
      ]),
    );
    if (missing.size > 0)
      notices.push(`Stages of its policy are by hand now, since this server lacks: ${[...missing].join(", ")}.`);
    return { ...policy, rules };
  }
  function projectOf(archived: ArchivedProject, wanted: ProjectImport, caller: Caller, notices: string[]): NewProject {
    const { default_pipeline_id, check, ...fields } = archived;
    const hasPipeline = !default_pipeline_id || deps.pipelineExists(default_pipeline_id);
    if (!hasPipeline)
      notices.push(`Its default pipeline ${default_pipeline_id} is not on this server. Choose another.`);
    if (check && !caller.admin) notices.push(`An administrator has to set its check: ${check}`);
    return {
      ...fields,
      name: wanted.name ?? archived.name,
      default_pipeline_id: hasPipeline ? default_pipeline_id : null,
      ...(caller.admin && check ? { check } : {}),
      access: wanted.access ?? (caller.userId === undefined ? "everyone" : "personal"),
      outside: wanted.trusted === "true" ? undefined : OUTSIDE,
    };
  }
  async function secretsOf(text: string | undefined, { passphrase }: ProjectImport, caller: Caller, notices: string[]) {
    if (text === undefined) return [];
    if (passphrase === undefined || !caller.admin) {
      notices.push("Its sealed secrets were left out: an administrator reads them in with the passphrase.");
      return [];
    }
    const opened = await openSecrets(parsed(SealedSecrets, text, "secrets.json"), passphrase);
    return parsed(ArchivedSecrets, opened, "secrets.json");
  }
  /** What is left undone is a notice: the project is there. */
  async function attempt(what: string, act: () => unknown, notices: string[]): Promise<void> {
    try {
      await act();
    } catch (error) {
      if (!isProblem(error)) throw error;
      notices.push(`${what}: ${error.detail}`);
    }
  }

  /** @param file the archive, on the disk. @throws Problem 409 the name is taken, 422 `bad_archive`, `wrong_passphrase`. */
  async function read(file: string, wanted: ProjectImport, caller: Caller): Promise<ImportedProject> {
    const files = await readArchive(file);
    const text = files.get("project.json");
    if (text === undefined) throw badArchive("project.json is missing");
    const notices: string[] = [];
    const archived = parsed(ArchivedProject, text, "project.json");
    const board = await parsedLines(ArchivedTask, files.get("tasks.ndjson") ?? "", "tasks.ndjson", TASKS_MAX);
    const policy = files.has("policy.json")
      ? fitting(parsed(ArchivedPolicy, files.get("policy.json")!, "policy.json"), notices)
      : undefined;
    const environment = files.has("environment.json")
      ? parsed(ArchivedEnvironment, files.get("environment.json")!, "environment.json")
      : undefined;
    const values = await secretsOf(files.get("secrets.json"), wanted, caller, notices);
    const agents = new Set<string>();
    const own = board.map(({ assigned_agent, ...task }) => {
      if (assigned_agent == null || deps.agentExists(assigned_agent)) return { ...task, assigned_agent };
      agents.add(assigned_agent);
      return task;
    });
    if (agents.size > 0) notices.push(`Tasks are nobody's now that were given to: ${[...agents].join(", ")}.`);
    const input = projectOf(archived, wanted, caller, notices);
    const made = store.write(() => {
      const project = projects.create(input, caller);
      if (policy) tasks.policies.update(project.id, policy);
      const job = own.length === 0 ? null : tasks.importInto(project.id, { tasks: own }, caller, input.outside);
      const data = { name: project.name, tasks: own.length };
      audit({ action: "project.imported", actor: actorOf(caller), subject: project.id, address: caller.address, data });
      return { project, job };
    });
    const { id } = made.project;
    if (environment && caller.admin)
      await attempt(
        "Its environment was left out",
        () => environments.accept(id, { definition: environment }, caller),
        notices,
      );
    else if (environment) notices.push("An administrator has to set its environment: environment.json in the archive.");
    for (const secret of values)
      await attempt(`The secret ${secret.name} was left out`, () => secrets.create(secret, caller), notices);
    const project = { ...projects.get(id), role: roleIn(caller, id) ?? ("viewer" as const) };
    return { project, job: made.job, tasks: own.length, notices };
  }
  return { write, read };
}

/** Without what it names outside of the archive. */
const withKnown = (task: Task, known: ReadonlySet<string>): Task => ({
  ...task,
  depends_on: task.depends_on.filter((id) => known.has(id)),
  parent_id: task.parent_id !== null && known.has(task.parent_id) ? task.parent_id : null,
});
