/**
 * Imports many tasks in a background job. Their ids are made with the request, so that a job that begins again
 * continues where it was.
 */
import { type Static, Type as t } from "@sinclair/typebox";
import { invalidField, isProblem } from "../../core/errors.ts";
import { newId } from "../../core/ids.ts";
import { defineJob } from "../../core/jobs.ts";
import { takeTurns } from "../../core/turns.ts";
import { type Caller, LOCAL_ADMIN } from "../../http/caller.ts";
import type { ProjectAccess } from "../../store/project-access.ts";
import type { Store } from "../../store/store.ts";
import { ImportedTask, type TaskImport } from "./model.ts";
import type { Tasks } from "./service.ts";
import type { TaskStore } from "./store.ts";

const Payload = t.Object({
  project_id: t.String(),
  tasks: t.Array(t.Composite([ImportedTask, t.Object({ id: t.String() })])),
  /** Why the tasks' texts may be outside text. */
  outside: t.Optional(t.String()),
});
type ImportPayload = Static<typeof Payload>;

/** Tasks per transaction. More would hold up other writers, fewer would wait for the disk more often. */
const TOGETHER = 10;

interface ImportDeps {
  store: Pick<Store, "write">;
  tasks: Pick<Tasks, "create">;
  rows: Pick<TaskStore, "find">;
  access: Pick<ProjectAccess, "within">;
}

/**
 * Gives each task an id, replaces keys by ids, and puts tasks after those that they refer to.
 * @throws Problem 422 for a key that occurs twice or not at all, and for cycles.
 */
export function importOf(projectId: string, { tasks }: TaskImport): ImportPayload {
  const ids = new Map<string, string>();
  for (const [index, { key }] of tasks.entries()) {
    if (key === undefined) continue;
    if (ids.has(key)) throw invalidField(`/tasks/${index}/key`, "Another task of the import has this key");
    ids.set(key, newId("task"));
  }
  const withIds = tasks.map((task, index) => {
    const own = (name: string, pointer: string): string => {
      const id = ids.get(name);
      if (id === undefined && !name.startsWith("task_"))
        throw invalidField(`/tasks/${index}/${pointer}`, "No task of the import has this key");
      return id ?? name;
    };
    return {
      ...task,
      id: (task.key !== undefined && ids.get(task.key)) || newId("task"),
      ...(task.depends_on ? { depends_on: task.depends_on.map((key, at) => own(key, `depends_on/${at}`)) } : {}),
      ...(task.parent_id ? { parent_id: own(task.parent_id, "parent_id") } : {}),
    };
  });
  return { project_id: projectId, tasks: inOrder(withIds) };
}

/** Sorts tasks so that dependencies and parents come before their tasks. */
function inOrder(tasks: ImportPayload["tasks"]): ImportPayload["tasks"] {
  const byId = new Map(tasks.map((task, index) => [task.id, { task, index }]));
  const state = new Map<string, "open" | "placed">();
  const order: ImportPayload["tasks"] = [];
  // This uses a stack of its own, because a chain of 5,000 tasks would overflow the call stack.
  for (const { id } of tasks) {
    const stack = [{ id, left: false }];
    for (let top = stack.pop(); top; top = stack.pop()) {
      const found = byId.get(top.id);
      if (!found || state.get(top.id) === "placed") continue;
      if (top.left) {
        state.set(top.id, "placed");
        order.push(found.task);
        continue;
      }
      if (state.get(top.id) === "open")
        throw invalidField(`/tasks/${found.index}/depends_on`, "The task would wait for itself");
      state.set(top.id, "open");
      stack.push({ id: top.id, left: true });
      const before = [...(found.task.depends_on ?? []), ...(found.task.parent_id ? [found.task.parent_id] : [])];
      for (const other of before) {
        if (state.get(other) === "open")
          throw invalidField(`/tasks/${found.index}/depends_on`, "The task would wait for itself");
        stack.push({ id: other, left: false });
      }
    }
  }
  return order;
}

export function defineImport({ store, tasks, rows, access }: ImportDeps) {
  return defineJob("import_tasks", Payload, async ({ project_id, tasks: wanted, outside }, job) => {
    const caller: Caller =
      job.userId === null
        ? LOCAL_ADMIN
        : { kind: "user", admin: false, userId: job.userId, projects: access.within(project_id) };
    const refused: { title: string; message: string }[] = [];
    let made = 0;
    const make = ({ id, key: _, ...input }: ImportPayload["tasks"][number]): void => {
      try {
        if (!rows.find(id)) tasks.create(project_id, { ...input, outside }, caller, id);
        made++;
      } catch (error) {
        if (!isProblem(error)) throw error;
        refused.push({ title: input.title.slice(0, 100), message: error.detail });
      }
    };
    const turn = takeTurns();
    for (let at = 0; at < wanted.length; at += TOGETHER) {
      job.signal.throwIfAborted();
      store.write(() => wanted.slice(at, at + TOGETHER).forEach(make));
      const done = Math.min(at + TOGETHER, wanted.length);
      job.report({ percent: (100 * done) / wanted.length, detail: `${done} of ${wanted.length}` });
      await turn();
    }
    return { created: made, refused: refused.slice(0, 50), refused_count: refused.length };
  });
}
