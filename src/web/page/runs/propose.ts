/** What the form for a new run proposes: the project of the last run, and the pipeline that was used there last. */

interface Run {
  pipeline_id: string;
  project_id: string | null;
  created_by: string | null;
}

/** The last choices in this browser; empty if there are none. */
export interface Choices {
  /** Id of the project that the navigation is set to. */
  project: string;
  /** Name of the project of the last run that was started in this browser. */
  runProject: string;
  pipeline: string;
}

/** Proposed if no run was started yet: a pipeline that takes seconds, or for a repository one that changes code. */
const FIRST = { folder: "hello", repository: "feature" };

/**
 * The project that the navigation is set to, else that of the last run started in this browser, else that of this
 * person's newest run on any device.
 * @param runs the newest runs, newest first.
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
 * The pipeline of the project's newest run that can still be started: first of this person's runs, then of all. Without
 * a project, the pipeline chosen last in this browser comes first.
 * @param runs the newest runs of the project, or of all projects if there is none, newest first.
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
