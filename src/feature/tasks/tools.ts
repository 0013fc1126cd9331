/** Tools by which agents work on a project's tasks: those of the execution's own project, in its user's name. */
import { Type as t } from "@sinclair/typebox";
import { conflict } from "../../core/errors.ts";
import type { ExecutionInfo, Tool, ToolResult, ToolSource } from "../../engine/tool.ts";
import type { Caller } from "../../http/caller.ts";
import type { PlainProject } from "../projects/model.ts";
import type { Task } from "./model.ts";
import { Priority, WorkType } from "./model.ts";
import type { Tasks } from "./service.ts";

export interface TaskToolsDeps {
  tasks: Tasks;
  projectOf(id: string): PlainProject;
}

const TIMEOUT_MS = 10_000;
const TaskId = t.String({ maxLength: 40, description: "Id of the task." });

const said = (value: unknown): ToolResult => ({ ok: true, output: JSON.stringify(value, null, 1) });

/** An execution speaks for itself, not for an administrator. */
const callerOf = ({ id, sessionId, agentId, runId, projectId, userId }: ExecutionInfo): Caller => ({
  ...{ kind: "execution", admin: false, userId },
  execution: { id, sessionId, agentId, runId, projectId },
});

const projectIdOf = ({ projectId }: ExecutionInfo): string => {
  if (projectId === undefined) throw conflict("This work belongs to no project, so it has no tasks.", "no_project");
  return projectId;
};

const short = ({ id, title, status, priority, assigned_agent, depends_on, tags }: Task) => ({
  ...{ id, title, status, priority },
  ...(assigned_agent === null ? {} : { assigned_agent }),
  ...(depends_on.length === 0 ? {} : { depends_on }),
  ...(tags.length === 0 ? {} : { tags }),
});

const tool = <Input>(one: Omit<Tool<Input>, "group" | "timeoutMs">): Tool<Input> => ({
  ...one,
  group: "projects",
  timeoutMs: TIMEOUT_MS,
});

export function taskTools({ tasks, projectOf }: TaskToolsDeps): ToolSource {
  const tools = [
    tool<{ status?: string; ready?: boolean; mine?: boolean; limit?: number }>({
      name: "list_tasks",
      description:
        "Lists tasks of this project: id, title, status, priority. `ready`: only those that can be started now, most urgent first. `mine`: only those assigned to you.",
      parameters: t.Object({
        status: t.Optional(t.String({ pattern: "^[a-z][a-z0-9_]{0,39}$" })),
        ready: t.Optional(t.Boolean()),
        mine: t.Optional(t.Boolean()),
        limit: t.Optional(t.Integer({ minimum: 1, maximum: 100, description: "Default 20." })),
      }),
      async run({ status, ready, mine, limit = 20 }, { execution }) {
        const filter = { status, ready, agent_id: mine ? execution.agentId : undefined };
        const { items, next_cursor } = tasks.list(projectIdOf(execution), filter, { limit, after: null });
        if (items.length === 0) return { ok: true, output: "There are no such tasks." };
        return said({ tasks: items.map(short), more: next_cursor !== null });
      },
    }),
    tool<{
      title: string;
      description?: string;
      priority?: Task["priority"];
      work_type?: WorkType;
      depends_on?: string[];
      tags?: string[];
    }>({
      name: "create_task",
      description:
        "Writes down work that you found and do not do now, as a task of this project's backlog. Say what is wrong and where, so that somebody else can do it.",
      parameters: t.Object({
        title: t.String({ minLength: 1, maxLength: 500 }),
        description: t.Optional(t.String({ maxLength: 20_000 })),
        priority: t.Optional(Priority),
        work_type: t.Optional(WorkType),
        depends_on: t.Optional(t.Array(TaskId, { maxItems: 50 })),
        tags: t.Optional(t.Array(t.String({ minLength: 1, maxLength: 50, pattern: "^\\S+$" }), { maxItems: 20 })),
      }),
      async run(input, { execution }) {
        const found = { ...input, discovered_from: execution.taskId };
        return said(short(tasks.create(projectIdOf(execution), found, callerOf(execution))));
      },
    }),
    tool<{ task_id: string; release?: boolean }>({
      name: "claim_task",
      description:
        "Takes a task for yourself before you work on it, so that nobody else does, and shows it whole. The claim ends after 30 minutes: claim again to lengthen it. `release` gives it back.",
      parameters: t.Object({ task_id: TaskId, release: t.Optional(t.Boolean()) }),
      async run({ task_id, release }, { execution }) {
        const input = { agent_id: execution.agentId, ...(release === undefined ? {} : { release }) };
        return said(tasks.claim(projectIdOf(execution), task_id, input, callerOf(execution)));
      },
    }),
    tool<{ task_id: string; status: string; note?: string }>({
      name: "transition_task",
      description:
        "Moves a task to another status of the board, e.g. in_progress, review, done, failed. `note` says why. The answer lists where it may go next.",
      parameters: t.Object({
        task_id: TaskId,
        status: t.String({ pattern: "^[a-z][a-z0-9_]{0,39}$" }),
        note: t.Optional(t.String({ maxLength: 2_000 })),
      }),
      async run({ task_id, status, note }, { execution }) {
        const input = { status, ...(note === undefined ? {} : { note }) };
        const moved = tasks.transition(projectIdOf(execution), task_id, input, callerOf(execution));
        return said({ ...short(moved), next_statuses: moved.next_statuses });
      },
    }),
    tool<Record<string, never>>({
      name: "get_vision",
      description: "Shows this project's vision and description.",
      parameters: t.Object({}),
      async run(_input, { execution }) {
        const { name, description, vision } = projectOf(projectIdOf(execution));
        return said({ name, description, vision: vision ?? "No vision was written yet." });
      },
    }),
  ];
  const names = tools.map(({ name }) => name);
  return { name: "tasks", names: () => names, for: ({ projectId }) => (projectId === undefined ? [] : tools) };
}
