/** What the form of a new run proposes: where the last one worked, and the pipeline that was used there last. */

interface Run {
  pipeline_id: string;
  project_id: string | null;
  created_by: string | null;
}

/** What this browser chose last; empty where it has chosen nothing. */
export interface Choices {
  /** Id of the project that the navigation leads into. */
  project: string;
  /** Name of the project of the last run that was started here. */
  runProject: string;
  pipeline: string;
}

/** A shipped pipeline that fits where nobody has started a run yet: a first run of seconds, or a change of a repository. */
const FIRST = { folder: "hello", repository: "feature" };

/**
 * The project that the navigation leads into, else of the last run that was started here, else of this person's newest
 * run on any device.
 * @param runs the newest, newest first.
 */
export function proposeProject<Project extends { id: string; name: string }>(
  projects: readonly Project[],
  choices: Choices,
  runs: readonly Run[],
  ownId: string | null,
): Project | undefined {
  const begunHere = choices.pipeline !== "";
  const newest = begunHere ? undefined : runs.find(({ created_by }) => created_by === ownId)?.project_id;
  const wanted = choices.project || choices.runProject || newest;
  return projects.find(({ id, name }) => id === wanted || name === wanted);
}

/**
 * The pipeline of the newest run of the project that can still be started: this person's own, then anybody's. Without a project
 * the one that was chosen here last comes first.
 * @param runs the newest of the project, or of all without one, newest first.
 */
export function proposePipeline(
  valid: readonly string[],
  project: { repository: string | null } | undefined,
  choices: Choices,
  runs: readonly Run[],
  ownId: string | null,
): string | null {
  const used = [...runs.filter(({ created_by }) => created_by === ownId), ...runs].map((run) => run.pipeline_id);
  const first = project?.repository ? FIRST.repository : FIRST.folder;
  const wanted = project ? [...used, choices.pipeline, first] : [choices.pipeline, ...used, first];
  return wanted.find((id) => valid.includes(id)) ?? null;
}
