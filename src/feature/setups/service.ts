/**
 * Set-ups of projects' code: begun when an environment is accepted and when the project's branch moved, done once for what they
 * depend on, and given to sandboxes as an image. Rows say what there is; images that no row names are removed.
 */
import { type Static, Type as t } from "@sinclair/typebox";
import { type Clock, DAY_MS, HOUR_MS, timestamp } from "../../core/clock.ts";
import { conflict, messageOf, notFound, unavailable } from "../../core/errors.ts";
import { defineJob } from "../../core/jobs.ts";
import { LIMITS } from "../../core/limits.ts";
import type { Logger } from "../../core/log.ts";
import { ownJson } from "../../core/own-json.ts";
import type { Caller } from "../../http/caller.ts";
import type { Store } from "../../store/store.ts";
import { projectSetups } from "../../store/tables/setups.ts";
import { type Finding, warn } from "../doctor/model.ts";
import type { AcceptedDockerfile, Environment } from "../environments/model.ts";
import type { Job } from "../jobs/model.ts";
import type { Jobs } from "../jobs/service.ts";
import type { Project } from "../projects/model.ts";
import { setupChanged } from "./events.ts";
import type { ProjectSetup, SetupStart } from "./model.ts";
import { besideOf, type Recipe, recipeOf } from "./recipe.ts";
import { assertReady, type SetUpDeps, type SetupRow, setUpProject } from "./set-up.ts";

interface SetupsDeps extends Omit<SetUpDeps, "setUps" | "builds" | "clock"> {
  store: Store;
  clock: Clock;
  log: Logger;
  jobs: Pick<Jobs, "enqueue" | "live" | "end">;
  /** Undefined where there is none, for the reason in `why`. */
  setUps: SetUpDeps["setUps"] | undefined;
  builds: SetUpDeps["builds"] | undefined;
  why: string;
  projects: { find(id: string): Project | undefined };
  environmentOf(projectId: string): Environment | undefined;
  dockerfileOf(projectId: string): AcceptedDockerfile | null;
  /** The image of sandboxes where an environment names none. */
  defaultImage(): string;
}

export type Setups = ReturnType<typeof createSetups>;

const Payload = t.Object({ project_id: t.String(), again: t.Boolean() });
/** Failed ones, and those of environments that do not hold any more. */
const KEPT_DAYS = 30;
/** Of a project. */
const KEPT_EACH = 20;

export function createSetups(deps: SetupsDeps) {
  const { store, clock, log, jobs, projects, environmentOf } = deps;
  const rows = store.rows(projectSetups);
  function recipeFor(projectId: string): Recipe | undefined {
    const environment = environmentOf(projectId);
    if (environment === undefined) return undefined;
    const { image = deps.defaultImage(), setup, env = {}, build, services } = environment;
    const dockerfile = build && deps.dockerfileOf(projectId);
    if (!build || !dockerfile) return { image, setup, env, services };
    const { text, digest, commit } = dockerfile;
    return { image: dockerfile.image, setup, env, services, build: { ...build, text, digest, commit } };
  }
  const newest = (projectId: string, recipe: Recipe, state?: SetupRow["state"]): SetupRow | undefined =>
    rows.list([{ project_id: projectId, recipe: recipeOf(recipe), state }], { order: "made_at DESC", limit: 1 })[0];

  /** Projects for which another one was asked while theirs ran. A crash forgets it: the job begins again then. */
  const asked = new Map<string, boolean>();

  async function runOnce(
    project_id: string,
    again: boolean,
    job: Parameters<typeof setUpProject>[2],
  ): Promise<SetupRow> {
    const [project, recipe] = [projects.find(project_id), recipeFor(project_id)];
    if (!project || !recipe || !deps.setUps || !deps.builds)
      throw conflict("There is nothing to set up any more.", "no_environment");
    store.write(({ emit }) => emit(setupChanged, { project_id, data: { state: "started" } }));
    const hosts = environmentOf(project_id)?.network?.allow ?? [];
    const known = (key: string) => rows.find({ project_id, key });
    const keep = (row: SetupRow) =>
      store.write(({ emit }) => {
        if (!projects.find(project_id)) return;
        rows.put(row, ["project_id", "key"]);
        const all = rows.list([{ project_id }], { order: "made_at DESC", limit: 2 * KEPT_EACH });
        for (const { key } of all.slice(KEPT_EACH)) rows.remove({ project_id, key });
        emit(setupChanged, { project_id, data: { state: row.state } });
      });
    const wanted = { project, recipe, again, hosts, known, keep };
    const row = await setUpProject({ ...deps, setUps: deps.setUps, builds: deps.builds }, wanted, job);
    keep(row);
    return row;
  }
  async function run({ project_id, again }: Static<typeof Payload>, job: Parameters<typeof setUpProject>[2]) {
    let [row, next]: [SetupRow | undefined, boolean | undefined] = [undefined, again || asked.get(project_id) === true];
    while (next !== undefined) {
      asked.delete(project_id);
      try {
        row = await runOnce(project_id, next, job);
      } catch (error) {
        // What was asked for since then may be possible.
        if (job.signal.aborted || !asked.has(project_id)) throw error;
      }
      next = asked.get(project_id);
    }
    if (!row) throw new Error("a set-up without a result");
    assertReady(row);
    return { image: row.image, commit: row.commit_id, check_exit_code: row.check_exit_code };
  }
  const definition = defineJob("set_up_project", Payload, run, {
    exclusive: ({ project_id }) => project_id,
    outward: true,
    ended: ({ payload: { project_id }, state }) =>
      void (
        state === "succeeded" ||
        store.write(({ emit }) => emit(setupChanged, { project_id, data: { state: "failed" } }))
      ),
  });
  /** @throws Problem 404, 409 `no_environment`, 503 `setup_unsupported`. */
  function start(projectId: string, { again = false }: SetupStart, userId: string | undefined): Job {
    const project = projects.find(projectId);
    if (!project) throw notFound("project");
    if (!deps.setUps) throw unavailable("setup_unsupported", deps.why);
    if (!isNeeded(project))
      throw conflict(
        "The project's environment names no `build`, `setup` or `check`. Accept one, or set one, with `skep projects environment`.",
        "no_environment",
      );
    if (jobs.live(definition, projectId)) asked.set(projectId, again || asked.get(projectId) === true);
    const options = { key: projectId, subject: project.name, projectId, userId };
    return jobs.enqueue(definition, { project_id: projectId, again }, options);
  }
  function isNeeded({ id, check }: Project): boolean {
    const environment = environmentOf(id);
    return environment !== undefined && (hasLayer(environment) || check !== null);
  }
  function stateOf(project: Project): Pick<ProjectSetup, "state" | "detail" | "job"> & Found {
    const recipe = recipeFor(project.id);
    const row = recipe && newest(project.id, recipe);
    const found = { row, recipe };
    const job = jobs.live(definition, project.id) ?? null;
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
  /** Images that no row names, oldest rows beyond the bounds, rows whose image is gone. */
  async function prune(): Promise<void> {
    const { setUps } = deps;
    if (!setUps) return;
    const layers = await setUps.layers();
    const there = new Map(layers.map((layer) => [layer.name, layer]));
    const old = timestamp(clock.now() - KEPT_DAYS * DAY_MS);
    const [unused, all] = [
      timestamp(clock.now() - LIMITS.setUpLayerDays * DAY_MS),
      rows.list([], { order: "used_at DESC" }),
    ];
    let bytes = 0;
    const gone = all.filter((row) => {
      const recipe = recipeFor(row.project_id);
      const holds = recipe !== undefined && newest(row.project_id, recipe)?.key === row.key;
      if (row.image === null) return !holds && row.used_at < old;
      if (!there.has(row.image)) return true;
      bytes += row.image_bytes;
      return bytes > LIMITS.setUpLayersBytes || (!holds && row.used_at < unused);
    });
    for (const { project_id, key } of gone) rows.remove({ project_id, key });
    await removeUnnamed();
  }
  const isNamed = (project_id: string, name: string): boolean =>
    rows.list([{ project_id }], { limit: 2 * KEPT_EACH }).some((row) => row.image === name || stepsOf(row).has(name));
  async function removeUnnamed(): Promise<void> {
    const { setUps } = deps;
    if (!setUps) return;
    for (const { name, projectId } of await setUps.layers()) {
      // One that was just made gets its row in a moment.
      if (jobs.live(definition, projectId) || isNamed(projectId, name)) continue;
      // One that a sandbox still runs from is removed later.
      await setUps.remove(name).catch((err) => log.debug({ err, name }, "the image of a set-up was not removed"));
    }
  }
  return {
    definition,
    start,
    /** Begins it where it is needed; never throws. */
    begin(projectId: string): void {
      const project = projects.find(projectId);
      if (!project || !deps.setUps || project.workspace.state !== "ready" || !isNeeded(project)) return;
      start(projectId, {}, undefined);
    },
    /** @throws Problem 404. */
    get(projectId: string): ProjectSetup {
      const project = projects.find(projectId);
      if (!project) throw notFound("project");
      const { row, recipe, ...now } = stateOf(project);
      return { project_id: projectId, ...now, last: row ? lastOf(row) : null, check: checkOf(row, recipe) };
    },
    /**
     * The image that sandboxes of the project's work start from; undefined where there is none.
     * @throws Problem 503 `setup_under_way` while the first one is made: the work waits for it.
     */
    layerFor(projectId: string): string | undefined {
      if (!deps.setUps) return undefined;
      const recipe = recipeFor(projectId);
      if (!recipe || !hasLayer(recipe)) return undefined;
      const row = newest(projectId, recipe, "ready");
      if (row) {
        const now = clock.now();
        if (Date.parse(row.used_at) < now - HOUR_MS)
          store.write(() => rows.update({ used_at: timestamp(now) }, { project_id: projectId, key: row.key }));
        return row.image ?? undefined;
      }
      const job = jobs.live(definition, projectId);
      if (job)
        throw unavailable(
          "setup_under_way",
          `The set-up of the project is under way (${job.detail ?? "it waits for its turn"}); work in it begins when it ends, or is cancelled.`,
        );
      return undefined;
    },
    /** How the project's check went before any agent changed something; undefined where it was not run. */
    baselineOf(projectId: string): ProjectSetup["check"] {
      const recipe = recipeFor(projectId);
      const row = recipe && newest(projectId, recipe, "ready");
      return checkOf(row, recipe);
    },
    /** Removes what set-ups of the project left. Ends the one that is under way. @throws Problem 404. */
    async remove(projectId: string, _caller: Caller): Promise<void> {
      if (!projects.find(projectId)) throw notFound("project");
      await jobs.end(definition, projectId);
      store.write(({ emit }) => {
        rows.remove({ project_id: projectId });
        emit(setupChanged, { project_id: projectId, data: { state: "removed" } });
      });
      await removeUnnamed();
    },
    prune,
    /** What an earlier process left in the container engine. */
    async sweep(): Promise<void> {
      try {
        await deps.setUps?.sweep((id) => jobs.live(definition, id)?.state === "running");
        await prune();
      } catch (error) {
        log.debug({ err: error }, `set-ups were not swept: ${messageOf(error)}`);
      }
    },
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

/** What the environment that holds says, and what there is of it. */
interface Found {
  row: SetupRow | undefined;
  recipe: Recipe | undefined;
}

/** Whether sandboxes start from an image that is made here. */
const hasLayer = ({ setup, build }: Pick<Environment, "setup" | "build">): boolean =>
  setup !== undefined || build !== undefined;

const stepsOf = ({ steps }: SetupRow): Set<string> => new Set(ownJson<string[]>(steps));

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

/** Null where it was not run, or not beside the services that hold now. */
function checkOf(row: SetupRow | undefined, recipe: Recipe | undefined): ProjectSetup["check"] {
  if (!row || !recipe || row.check_beside !== besideOf(recipe)) return null;
  const { check_command: command, check_commit: commit, checked_at, check_exit_code: exit_code } = row;
  if (command === null || commit === null || checked_at === null) return null;
  return { command, passed: exit_code === 0, exit_code, log: row.check_log ?? "", commit, checked_at };
}
