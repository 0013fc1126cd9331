/** Makes a project from an archive. Everything in it gets a new id and belongs to the person who imports it. */
import { isProblem } from "../../core/errors.ts";
import { roleIn } from "../../core/ownership.ts";
import { actedBy, type Caller } from "../../http/caller.ts";
import type { Environments } from "../environments/service.ts";
import type { Core } from "../feature.ts";
import type { Job } from "../jobs/model.ts";
import type { NewProject, Project } from "../projects/model.ts";
import type { Secrets } from "../secrets/service.ts";
import type { TaskImport } from "../tasks/model.ts";
import type { Policies } from "../tasks/policy.ts";
import { badArchive, parse, parsedLines, readArchive } from "./archive.ts";
import {
  ArchivedEnvironment,
  ArchivedPolicy,
  ArchivedProject,
  ArchivedSecrets,
  ArchivedTask,
  type ImportedProject,
  type ProjectImport,
  SealedSecrets,
  TASKS_MAX,
} from "./model.ts";
import { openSecrets } from "./sealed.ts";

interface ArchiveReaderDeps extends Pick<Core, "store" | "audit"> {
  projects: { get(id: string): Project; create(input: NewProject, caller: Caller): Project };
  tasks: {
    policies: Pick<Policies, "update">;
    /** @throws Problem 422. */
    importInto(projectId: string, input: TaskImport, caller: Caller, outside: string | undefined): Job;
  };
  environments: Pick<Environments, "accept">;
  secrets: Pick<Secrets, "create">;
  pipelineExists(id: string): boolean;
  agentExists(id: string): boolean;
}

const OUTSIDE = "It was read in from an archive.";

export function createArchiveReader(deps: ArchiveReaderDeps) {
  const { store, audit, projects, tasks, environments, secrets } = deps;

  /** The rules without references to what this server does not have. Adds a notice for what was left out. */
  function fitPolicy(policy: ArchivedPolicy, notices: string[]): ArchivedPolicy {
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
    const opened = await openSecrets(parse(SealedSecrets, text, "secrets.json"), passphrase);
    return parse(ArchivedSecrets, opened, "secrets.json");
  }
  /** Runs an optional part of the import. A failure becomes a notice, because the project exists already. */
  async function attempt(what: string, act: () => unknown, notices: string[]): Promise<void> {
    try {
      await act();
    } catch (error) {
      if (!isProblem(error)) throw error;
      notices.push(`${what}: ${error.detail}`);
    }
  }

  /**
   * @param file path of the archive.
   * @throws Problem 409 when the name is taken, 422 `bad_archive`, `wrong_passphrase`.
   */
  async function read(file: string, wanted: ProjectImport, caller: Caller): Promise<ImportedProject> {
    const files = await readArchive(file);
    const text = files.get("project.json");
    if (text === undefined) throw badArchive("project.json is missing");
    const notices: string[] = [];
    const archived = parse(ArchivedProject, text, "project.json");
    const board = await parsedLines(ArchivedTask, files.get("tasks.ndjson") ?? "", "tasks.ndjson", TASKS_MAX);
    const policy = files.has("policy.json")
      ? fitPolicy(parse(ArchivedPolicy, files.get("policy.json")!, "policy.json"), notices)
      : undefined;
    const environment = files.has("environment.json")
      ? parse(ArchivedEnvironment, files.get("environment.json")!, "environment.json")
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
      audit({ action: "project.imported", ...actedBy(caller), subject: project.id, data });
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
  return read;
}
