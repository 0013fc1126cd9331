/**
 * Operations of this API that MCP clients get as tools. The API's own document defines their parameters; the API itself
 * checks rights.
 */

export interface Operation {
  tool: string;
  /** The operation's name in the API's document. */
  operationId: string;
  /** The tool's description, for a model. */
  about: string;
  /** The tool's names for parameters of the path, where they differ. */
  names?: Readonly<Record<string, string>>;
  /** Members of the body and the query that the tool leaves out. */
  without?: readonly string[];
  /** The tool changes something that cannot be undone. */
  destructive?: true;
}

const RUN = { id: "run_id" };
const PROJECT = { id: "project_id" };
const TASK = { id: "project_id", tid: "task_id" };
const DOCUMENT = { id: "document_id" };

export const OPERATIONS: readonly Operation[] = [
  {
    tool: "search",
    operationId: "search",
    about: "Finds runs, tasks, projects, pipelines, agents and skills by words.",
  },
  { tool: "list_projects", operationId: "listProjects", about: "Lists the projects with their ids." },
  {
    tool: "list_pipelines",
    operationId: "listPipelines",
    about: "Lists the pipelines that can be run, with their inputs.",
  },
  {
    tool: "get_pipeline",
    operationId: "getPipeline",
    about: "Shows a pipeline: steps, agents, inputs, its text.",
    names: { id: "pipeline_id" },
  },
  {
    tool: "start_run",
    operationId: "createRun",
    about:
      "Starts a run of a pipeline: agents work on the task, step by step. It continues by itself; look at it with get_run.",
  },
  { tool: "list_runs", operationId: "listRuns", about: "Lists runs, newest first." },
  {
    tool: "get_run",
    operationId: "getRun",
    about: "Shows a run: status, outputs, what it waits for, cost.",
    names: RUN,
  },
  { tool: "list_steps", operationId: "listSteps", about: "Lists the steps of a run with their attempts and outputs." },
  { tool: "get_step_output", operationId: "getStepOutput", about: "Shows the whole output of a step of a run." },
  {
    tool: "get_run_diff",
    operationId: "listRunDiff",
    about: "Shows what a run changed in its project's files.",
    names: RUN,
    without: ["format"],
  },
  {
    tool: "answer_step",
    operationId: "approveRun",
    about: "Answers a step that waits for a person: agrees, or says no and why.",
    names: RUN,
  },
  { tool: "restart_run", operationId: "restartRun", about: "Restarts a run that failed or was cancelled.", names: RUN },
  { tool: "cancel_run", operationId: "cancelRun", about: "Cancels a run.", names: RUN, destructive: true },
  {
    tool: "merge_run",
    operationId: "mergeRun",
    about: "Merges what a run did into its project's branch.",
    names: RUN,
    destructive: true,
  },
  {
    tool: "list_tasks",
    operationId: "listProjectTasks",
    about: "Lists the tasks of a project; `ready`: those that can be started now.",
    names: PROJECT,
  },
  { tool: "get_task", operationId: "getProjectTask", about: "Shows a task.", names: TASK },
  {
    tool: "create_task",
    operationId: "createProjectTask",
    about: "Adds a task to a project's backlog.",
    names: PROJECT,
  },
  { tool: "update_task", operationId: "updateProjectTask", about: "Changes a task.", names: TASK },
  {
    tool: "transition_task",
    operationId: "transitionProjectTask",
    about: "Moves a task to another status of the board.",
    names: TASK,
  },
  {
    tool: "execute_task",
    operationId: "executeProjectTask",
    about: "Starts a run that works on a task.",
    names: TASK,
  },
  { tool: "search_memory", operationId: "getMemorySearch", about: "Searches what agents remember." },
  { tool: "get_memory", operationId: "getMemoryVaultEntry", about: "Shows an entry of an agent's memory." },
  {
    tool: "remember",
    operationId: "createMemoryVaultEntry",
    about: "Writes an entry into an agent's memory, or into what all share (agent_id `shared`).",
  },
  {
    tool: "list_documents",
    operationId: "listDocuments",
    about: "Lists the documents that were given to this server.",
  },
  { tool: "search_documents", operationId: "searchDocuments", about: "Searches the text of documents." },
  {
    tool: "get_document_contents",
    operationId: "getDocumentToc",
    about: "Shows the table of contents of a document.",
    names: DOCUMENT,
  },
  {
    tool: "get_document_section",
    operationId: "getDocumentSection",
    about: "Shows a section of a document.",
    names: DOCUMENT,
  },
];
