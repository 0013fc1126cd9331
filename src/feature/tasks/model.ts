/** Tasks as the API shows them, and the requests about them. */
import { type Static, Type as t } from "@sinclair/typebox";
import { LIMITS } from "../../core/limits.ts";
import { oneOf, orNull, Time } from "../../core/schema.ts";
import { recordOf } from "../../core/typed-keys.ts";

export const Priority = oneOf("p0", "p1", "p2", "p3");
const WORK_TYPES = ["feature", "bugfix", "test", "refactor", "docs", "infrastructure", "design", "custom"] as const;
export const WorkType = oneOf(...WORK_TYPES);
export type WorkType = Static<typeof WorkType>;

const Title = t.String({ minLength: 1, maxLength: 500 });
const Description = t.String({ maxLength: 50_000 });
const Status = t.String({ pattern: "^[a-z][a-z0-9_]{0,39}$" });
const TaskId = t.String({ maxLength: 40 });
const AgentId = t.String({ minLength: 1, maxLength: 64 });
const Tag = t.String({ minLength: 1, maxLength: 50, pattern: "^\\S+$" });
const Tags = t.Array(Tag, { maxItems: 50 });
const Dependencies = t.Array(TaskId, { maxItems: 100 });
const Hours = t.Number({ minimum: 0, maximum: 10_000 });
const Metadata = t.Record(t.String({ maxLength: 100 }), t.Unknown(), {
  description: "Additional data as JSON, at most 16 kB.",
});

export const Task = t.Object({
  id: t.String(),
  project_id: t.String(),
  title: t.String(),
  description: t.String(),
  status: t.String(),
  priority: Priority,
  work_type: orNull(WorkType),
  assigned_agent: orNull(t.String()),
  lease_until: orNull(t.String({ format: "date-time", description: "When the claim ends unless it is renewed." })),
  parent_id: orNull(t.String()),
  depends_on: t.Array(t.String()),
  discovered_from: orNull(t.String({ description: "Task during whose work this task was found." })),
  outside: orNull(
    t.String({
      description:
        "Why the title and description may be outside text. Agents read them as a quotation until somebody confirms them.",
    }),
  ),
  tags: t.Array(t.String()),
  estimate_hours: orNull(t.Number()),
  position: t.Integer({ description: "Position of the task among those with the same status." }),
  branch: orNull(t.String()),
  run_id: orNull(t.String()),
  completed_stages: t.Array(t.String()),
  metadata: t.Record(t.String(), t.Unknown()),
  created_by: orNull(t.String()),
  created_at: Time,
  updated_at: Time,
  finished_at: orNull(Time),
});
export type Task = Static<typeof Task>;

const changeable = {
  description: t.Optional(orNull(Description)),
  priority: t.Optional(Priority),
  work_type: t.Optional(orNull(WorkType)),
  assigned_agent: t.Optional(orNull(AgentId)),
  parent_id: t.Optional(orNull(TaskId)),
  depends_on: t.Optional(Dependencies),
  tags: t.Optional(Tags),
  estimate_hours: t.Optional(orNull(Hours)),
  metadata: t.Optional(Metadata),
};

export const TaskCreate = t.Object({
  title: Title,
  status: t.Optional(Status),
  discovered_from: t.Optional(orNull(TaskId)),
  ...changeable,
});
export type TaskCreate = Static<typeof TaskCreate>;
/** @property outside why the task's text may be outside text, when an agent or the code host gave it. */
export type NewTask = TaskCreate & { outside?: string | undefined };

export const TaskUpdate = t.Object({
  title: t.Optional(Title),
  ...changeable,
  trusted: t.Optional(
    t.Literal(true, { description: "Confirms that you have read the task's title and description." }),
  ),
});
export type TaskUpdate = Static<typeof TaskUpdate>;

export const TaskQuery = {
  status: t.Optional(Status),
  priority: t.Optional(Priority),
  agent_id: t.Optional(AgentId),
  tag: t.Optional(Tag),
  parent_id: t.Optional(TaskId),
  q: t.Optional(t.String({ minLength: 1, maxLength: 200, description: "Words that must occur in the title." })),
};
export interface TaskFilter {
  status?: string | undefined;
  priority?: Task["priority"] | undefined;
  agent_id?: string | undefined;
  tag?: string | undefined;
  parent_id?: string | undefined;
  q?: string | undefined;
  /** Only tasks that are unclaimed and whose dependencies are done. */
  ready?: boolean | undefined;
}

export const TaskClaim = t.Object({
  agent_id: AgentId,
  release: t.Optional(t.Boolean({ description: "Whether to give the task back." })),
});
export type TaskClaim = Static<typeof TaskClaim>;
export const Claimed = t.Object({ task: Task, branch: orNull(t.String()) });

export const TaskTransition = t.Object({
  status: Status,
  note: t.Optional(t.String({ maxLength: 2_000 })),
  force: t.Optional(
    t.Boolean({ description: "Whether to ignore dependencies, limits of columns and required stages." }),
  ),
});
export type TaskTransition = Static<typeof TaskTransition>;
export const Transitioned = t.Composite([Task, t.Object({ next_statuses: t.Array(t.String()) })]);
export type Transitioned = Static<typeof Transitioned>;

export const TaskMove = t.Object({
  status: t.Optional(Status),
  before: t.Optional(TaskId),
  after: t.Optional(TaskId),
});
export type TaskMove = Static<typeof TaskMove>;

export const TaskBulk = t.Object({
  ids: t.Array(TaskId, { minItems: 1, maxItems: LIMITS.listMax }),
  change: t.Object({
    status: t.Optional(Status),
    priority: t.Optional(Priority),
    assigned_agent: t.Optional(orNull(AgentId)),
    add_tags: t.Optional(Tags),
    remove_tags: t.Optional(Tags),
  }),
});
export type TaskBulk = Static<typeof TaskBulk>;
export const TaskBulkAnswer = t.Object({
  items: t.Array(
    t.Object({
      id: t.String(),
      task: orNull(Task),
      error: orNull(t.Object({ code: t.String(), message: t.String() })),
    }),
  ),
});
export type TaskBulkAnswer = Static<typeof TaskBulkAnswer>;

export const TaskHistoryEntry = t.Object({
  id: t.Integer(),
  at: Time,
  actor: t.String({
    description: "Who made the change: a user's id, an execution, or `rule` if it followed from another change.",
  }),
  change: t.String(),
  from_status: orNull(t.String()),
  to_status: orNull(t.String()),
  note: orNull(t.String()),
});
export type TaskHistoryEntry = Static<typeof TaskHistoryEntry>;

/** A task of an import. Other tasks refer to it by its `key`. */
export const ImportedTask = t.Composite([
  t.Object({ key: t.Optional(t.String({ minLength: 1, maxLength: 100 })) }),
  t.Omit(TaskCreate, ["discovered_from"]),
]);
export const TaskImport = t.Object({ tasks: t.Array(ImportedTask, { minItems: 1, maxItems: 5_000 }) });
export type TaskImport = Static<typeof TaskImport>;

export const Stage = t.Object(
  {
    stage: t.String({
      pattern: "^[a-z][a-z0-9-]{0,39}$",
      description: "Name of the stage, which is also the id of its step in the run.",
    }),
    disposition: oneOf("required", "optional", "skip"),
    agent_id: t.Optional(t.String({ minLength: 1, maxLength: 64 })),
    pipeline_id: t.Optional(t.String({ minLength: 1, maxLength: 64 })),
  },
  { additionalProperties: false },
);
export type Stage = Static<typeof Stage>;

const stages = t.Optional(t.Array(Stage, { maxItems: 20 }));
const byType = recordOf(WORK_TYPES, () => stages);
export const Rules = t.Object(byType, {
  additionalProperties: false,
  description: "Stages by work type, in their order.",
});
export type Rules = Static<typeof Rules>;
