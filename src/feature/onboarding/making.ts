/** Makes the result of an onboarding: the project with its vision, its pipeline and its first tasks. */
import { invalidField } from "../../core/errors.ts";
import type { Caller } from "../../http/caller.ts";
import type { NewProject, Project } from "../projects/model.ts";
import type { NewTask, Task } from "../tasks/model.ts";
import { taskFaults, visionOf, type WholeContext } from "./context.ts";

export interface Making {
  createProject(input: NewProject, caller: Caller): Project;
  setVision(projectId: string, vision: string): unknown;
  createTask(projectId: string, input: NewTask, caller: Caller): Task;
}

/**
 * Runs inside a transaction, so that either everything or nothing is made.
 * @throws Problem 409 for a name that is taken, 422 for an invalid repository, pipeline or task.
 */
export function makeProject(
  making: Making,
  context: WholeContext,
  { caller, outside }: { caller: Caller; outside: string | undefined },
): { project: Project; tasks: Task[] } {
  const { intake, architecture } = context;
  const [fault] = taskFaults(architecture.tasks);
  if (fault) throw invalidField("/architecture/tasks", fault);
  const project = making.createProject(
    {
      name: intake.name,
      description: intake.summary,
      repository: intake.repository ?? null,
      default_pipeline_id: architecture.pipeline_id,
      check: architecture.check ?? null,
      outside,
    },
    caller,
  );
  making.setVision(project.id, visionOf(context));
  const ids = new Map<string, string>();
  const tasks = architecture.tasks.map(({ key, depends_on = [], ...fields }) => {
    const task = making.createTask(
      project.id,
      { ...fields, outside, depends_on: depends_on.map((other) => ids.get(other)!) },
      caller,
    );
    ids.set(key, task.id);
    return task;
  });
  return { project, tasks };
}
