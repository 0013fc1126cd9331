/**
 * Set-ups of projects' code. A set-up begins when an environment is accepted or the project's branch moves, is done
 * once for the same inputs, and gives sandboxes an image. Rows record the images; images that no row names are removed.
 */
import { HOUR_MS, toTimestamp } from "../../core/clock.ts";
import { expectFound, notFound, unavailable } from "../../core/errors.ts";
import type { Caller } from "../../http/caller.ts";
import { type Finding, warn } from "../doctor/model.ts";
import type { Project } from "../projects/model.ts";
import { setupChanged } from "./events.ts";
import { createSetupJob, type SetupJobDeps } from "./job.ts";
import { createSetupLayers, type SetupLayersDeps } from "./layers.ts";
import type { ProjectSetup } from "./model.ts";
import { besideOf, type Recipe, recipeOf } from "./recipe.ts";
import { createSetupRows, hasLayer, type SetupRowsDeps } from "./rows.ts";
import type { SetupRow } from "./set-up.ts";

type SetupsDeps = Omit<SetupRowsDeps & SetupJobDeps & SetupLayersDeps, "setups" | "jobOf">;

export type Setups = ReturnType<typeof createSetups>;

export function createSetups(deps: SetupsDeps) {
  const { store, clock, jobs, projects } = deps;
  const setups = createSetupRows(deps);
  const { rows, recipeFor, findNewest, isNeeded } = setups;
  const { definition, start } = createSetupJob({ ...deps, setups });
  const jobOf = (projectId: string) => jobs.live(definition, projectId);
  const layers = createSetupLayers({ ...deps, setups, jobOf });
  function stateOf(project: Project): Pick<ProjectSetup, "state" | "detail" | "job"> & Found {
    const recipe = recipeFor(project.id);
    const row = recipe && findNewest(project.id, recipe);
    const found = { row, recipe };
    const job = jobOf(project.id) ?? null;
    if (!recipe || !isNeeded(project))
      return {
        state: "none",
        detail: "The environment that holds names no Dockerfile, set-up or check.",
        job,
        ...found,
      };
    if (!deps.setUps) return { state: "unsupported", detail: deps.why, job: null, ...found };
    if (job) return { state: "running", detail: job.detail ?? "It waits for its turn.", job, ...found };
    if (!row)
      return { state: "needed", detail: "It was not done yet, or was cancelled or not possible.", job, ...found };
    if (row.state === "ready")
      return { state: "ready", detail: "Sandboxes of the project's work start from it.", job, ...found };
    return { state: "failed", detail: "Sandboxes start without what it should have installed.", job, ...found };
  }
  return {
    definition,
    start,
    /** Starts a set-up if the project needs one; never throws. */
    begin(projectId: string): void {
      const project = projects.find(projectId);
      if (!project || !deps.setUps || project.workspace.state !== "ready" || !isNeeded(project)) return;
      start(projectId, {}, undefined);
    },
    /** @throws Problem 404. */
    get(projectId: string): ProjectSetup {
      const project = expectFound(projects.find(projectId), "project");
      const { row, recipe, ...now } = stateOf(project);
      return { project_id: projectId, ...now, last: row ? lastOf(row) : null, check: checkOf(row, recipe) };
    },
    /**
     * The image from which sandboxes of the project's work start; undefined when there is none.
     * @throws Problem 503 `setup_under_way` while the first image is made: the work waits for it.
     */
    layerFor(projectId: string): string | undefined {
      if (!deps.setUps) return undefined;
      const recipe = recipeFor(projectId);
      if (!recipe || !hasLayer(recipe)) return undefined;
      const row = findNewest(projectId, recipe, "ready");
      if (row) {
        const now = clock.now();
        if (Date.parse(row.used_at) < now - HOUR_MS)
          store.write(() => rows.update({ used_at: toTimestamp(now) }, { project_id: projectId, key: row.key }));
        return row.image ?? undefined;
      }
      const job = jobOf(projectId);
      if (job)
        throw unavailable(
          "setup_under_way",
          `The set-up of the project is under way (${job.detail ?? "it waits for its turn"}); work in it begins when it ends, or is cancelled.`,
        );
      return undefined;
    },
    /** Result of the project's check before any agent changed something; undefined when it was not run. */
    baselineOf(projectId: string): ProjectSetup["check"] {
      const recipe = recipeFor(projectId);
      const row = recipe && findNewest(projectId, recipe, "ready");
      return checkOf(row, recipe);
    },
    /** Removes the results of the project's set-ups, and ends a running one. @throws Problem 404. */
    async remove(projectId: string, _caller: Caller): Promise<void> {
      if (!projects.find(projectId)) throw notFound("project");
      await jobs.end(definition, projectId);
      store.write(({ emit }) => {
        rows.remove({ project_id: projectId });
        emit(setupChanged, { project_id: projectId, data: { state: "removed" } });
      });
      await layers.removeUnnamed();
    },
    prune: layers.prune,
    sweep: layers.sweep,
    findings(): Finding[] {
      const found = new Map<string, { row: SetupRow; recipe: Recipe }>();
      for (const row of rows.list([], { order: "made_at" })) {
        const recipe = recipeFor(row.project_id);
        if (recipe && recipeOf(recipe) === row.recipe) found.set(row.project_id, { row, recipe });
      }
      return [...found].flatMap(([id, { row, recipe }]) => {
        const name = projects.find(id)?.name ?? id;
        const failed = checkOf(row, recipe)?.passed === false;
        if (row.state === "failed")
          return [warn("set-up", `${name}: its set-up fails; agents work without it`, `skep projects setup ${name}`)];
        return failed
          ? [
              warn(
                "check",
                `${name}: its check fails before any agent has changed something`,
                `skep projects setup ${name}`,
              ),
            ]
          : [];
      });
    },
  };
}

/** The recipe of the present environment, and the row of its result. */
interface Found {
  row: SetupRow | undefined;
  recipe: Recipe | undefined;
}

const lastOf = ({ state, image, image_bytes, commit_id, exit_code, log, seconds, made_at, used_at }: SetupRow) => ({
  state,
  image,
  image_bytes,
  commit: commit_id,
  exit_code,
  log,
  seconds,
  made_at,
  used_at,
});

/** Result of the check; null when it was not run, or ran beside other services than the present ones. */
function checkOf(row: SetupRow | undefined, recipe: Recipe | undefined): ProjectSetup["check"] {
  if (!row || !recipe || row.check_beside !== besideOf(recipe)) return null;
  const { check_command: command, check_commit: commit, checked_at, check_exit_code: exit_code } = row;
  if (command === null || commit === null || checked_at === null) return null;
  return { command, passed: exit_code === 0, exit_code, log: row.check_log ?? "", commit, checked_at };
}
