/** Projects as the API shows them. */
import { type Static, Type as t } from "@sinclair/typebox";
import { LIMITS } from "../../core/limits.ts";
import { oneOf, orNull, Time } from "../../core/schema.ts";

const ProjectStatus = oneOf("active", "paused", "archived");
export const ProjectOpenTo = t.Union([t.Literal("everyone"), t.Literal("members"), t.Literal("personal")], {
  description:
    "Who sees the project and everything in it: all accounts, only its members, or only its owner. Administrators see every project.",
});
const FetchBeforeRun = t.Union([t.Literal("try"), t.Literal("require"), t.Literal("never")], {
  description:
    "Whether the clone is brought up to date before a run. `try` continues if that fails and notes it on the run; `require` does not; `never` skips the update.",
});
const WorkspaceState = oneOf("none", "cloning", "ready", "failed");

const Status = t.String({ pattern: "^[a-z][a-z0-9_]{0,39}$" });
export const BoardColumn = t.Object({
  id: t.String({ pattern: "^[a-z][a-z0-9_-]{0,39}$" }),
  name: t.String({ minLength: 1, maxLength: 60 }),
  statuses: t.Array(Status, { minItems: 1, maxItems: 20 }),
  wip_limit: orNull(
    t.Integer({ minimum: 1, maximum: 1_000, description: "Most tasks that the column may hold at once." }),
  ),
});
export type BoardColumn = Static<typeof BoardColumn>;

export const Project = t.Object({
  id: t.String(),
  name: t.String({ description: "Unique name, by which runs refer to the project." }),
  description: t.String(),
  repository: orNull(t.String()),
  default_branch: orNull(t.String()),
  default_pipeline_id: orNull(t.String()),
  check: orNull(t.String({ description: "Command line whose exit code tells whether the code works." })),
  scip_path: orNull(
    t.String({ description: "Path of a SCIP index in the repository, which makes the calls in the code graph exact." }),
  ),
  access: ProjectOpenTo,
  status: ProjectStatus,
  vision: orNull(t.String()),
  outside: orNull(
    t.String({
      description:
        "Why the description and vision may repeat outside text. They stay out of system prompts until somebody confirms them.",
    }),
  ),
  columns: t.Array(BoardColumn, { description: "Columns of the board, from left to right." }),
  counts: t.Record(t.String(), t.Integer(), { description: "Number of tasks by status." }),
  workspace: t.Object({
    state: WorkspaceState,
    error: orNull(t.String()),
    head: orNull(t.String({ description: "Commit from which new runs start." })),
    fetched_at: orNull(Time, { description: "When the clone was last brought up to date." }),
  }),
  fetch_before_run: FetchBeforeRun,
  created_at: Time,
  updated_at: Time,
});
export type Project = Static<typeof Project>;
/** A project as a given person sees it. */
export const ShownProject = t.Object({
  ...Project.properties,
  role: t.Union([t.Literal("viewer"), t.Literal("contributor"), t.Literal("maintainer"), t.Literal("owner")], {
    description: "What you may do in the project.",
  }),
});
export type ShownProject = Static<typeof ShownProject>;
/** A project without the counts of its tasks. */
export type PlainProject = Omit<Project, "counts">;

const Name = t.String({
  minLength: 1,
  maxLength: LIMITS.nameCharacters,
  pattern: "^[^\\s\\x00-\\x1f\\x7f]([^\\x00-\\x1f\\x7f]*[^\\s\\x00-\\x1f\\x7f])?$",
  description: "Name of the project: one line, without blanks at either end.",
});
const Description = t.String({ maxLength: 20_000 });
const Repository = t.String({
  minLength: 1,
  maxLength: 2_000,
  description: "An https or ssh address without credentials, or an absolute path if the operator allows it.",
});
const Branch = t.String({ minLength: 1, maxLength: 200 });
const Check = t.String({
  minLength: 1,
  maxLength: 2_000,
  pattern: "^\\s*[^\\s\\x00][^\\x00]*$",
  description: "Command line that runs in the sandbox, e.g. `npm ci && npm test`.",
});
const ScipPath = t.String({
  maxLength: 400,
  pattern: "^(?!/|\\.\\.?(/|$))(?!.*/(\\.\\.?)?(/|$))[^\\x00-\\x1f\\x7f]+$",
  description: "Path in the repository of a SCIP index, such as `index.scip`; at most 50 MiB.",
});
const PipelineId = t.String({ minLength: 1, maxLength: 64 });

export const ProjectCreate = t.Object({
  name: Name,
  description: t.Optional(orNull(Description)),
  repository: t.Optional(orNull(Repository)),
  default_branch: t.Optional(orNull(Branch)),
  default_pipeline_id: t.Optional(orNull(PipelineId)),
  check: t.Optional(orNull(Check)),
  scip_path: t.Optional(orNull(ScipPath)),
  fetch_before_run: t.Optional(FetchBeforeRun),
  access: t.Optional(ProjectOpenTo),
});
export type ProjectCreate = Static<typeof ProjectCreate>;
/** @property outside why the project's texts may be outside text: an agent made it, or it comes from an archive. */
export type NewProject = ProjectCreate & {
  outside?: string | undefined;
  vision?: string | null | undefined;
  columns?: readonly BoardColumn[] | undefined;
};

export const ProjectUpdate = t.Object({
  name: t.Optional(Name),
  description: t.Optional(orNull(Description)),
  repository: t.Optional(orNull(Repository)),
  default_branch: t.Optional(orNull(Branch)),
  default_pipeline_id: t.Optional(orNull(PipelineId)),
  check: t.Optional(orNull(Check)),
  scip_path: t.Optional(orNull(ScipPath)),
  fetch_before_run: t.Optional(FetchBeforeRun),
  status: t.Optional(ProjectStatus),
  trusted: t.Optional(
    t.Literal(true, { description: "Confirms that you have read the project's description and vision." }),
  ),
  columns: t.Optional(
    orNull(
      t.Array(t.Composite([t.Omit(BoardColumn, ["wip_limit"]), t.Partial(t.Pick(BoardColumn, ["wip_limit"]))]), {
        minItems: 1,
        maxItems: 30,
        description: "Columns of the board; null restores the default board.",
      }),
    ),
  ),
});
export type ProjectUpdate = Static<typeof ProjectUpdate>;

export const ProjectQuery = {
  name: t.Optional(t.String({ maxLength: LIMITS.nameCharacters, description: "Only the project with this name." })),
  status: t.Optional(ProjectStatus),
};
export interface ProjectFilter {
  name?: string | undefined;
  status?: Project["status"] | undefined;
}

export const VisionUpdate = t.Object({
  vision: orNull(t.String({ maxLength: 100_000, description: "Vision in Markdown; null removes it." })),
});
