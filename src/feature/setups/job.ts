/**
 * The job that sets a project up. Each project has at most one at a time; a request during the job makes it run once
 * more.
 */
import { type Static, Type as t } from "@sinclair/typebox";
import { conflict, expectFound, unavailable } from "../../core/errors.ts";
import { defineJob } from "../../core/jobs.ts";
import type { Environment } from "../environments/model.ts";
import type { Core } from "../feature.ts";
import type { Job } from "../jobs/model.ts";
import type { Jobs } from "../jobs/service.ts";
import type { Project } from "../projects/model.ts";
import { setupChanged } from "./events.ts";
import type { SetupStart } from "./model.ts";
import { KEPT_EACH, type SetupRows } from "./rows.ts";
import { assertReady, type SetUpDeps, type SetupRow, setUpProject } from "./set-up.ts";

export interface SetupJobDeps extends Omit<SetUpDeps, "setUps" | "builds" | "clock">, Pick<Core, "store" | "clock"> {
  jobs: Pick<Jobs, "enqueue" | "live" | "end">;
  /** Undefined when set-ups are impossible here, for the reason in `why`. */
  setUps: SetUpDeps["setUps"] | undefined;
  builds: SetUpDeps["builds"] | undefined;
  why: string;
  projects: { find(id: string): Project | undefined };
  environmentOf(projectId: string): Environment | undefined;
  setups: SetupRows;
}

const Payload = t.Object({ project_id: t.String(), again: t.Boolean() });

export function createSetupJob(deps: SetupJobDeps) {
  const { store, jobs, projects, environmentOf } = deps;
  const { rows, recipeFor, isNeeded } = deps.setups;
  /**
   * Projects for which another set-up was requested while theirs ran. After a crash the job begins again, so this may
   * be lost.
   */
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
    const findRow = (key: string) => rows.find({ project_id, key });
    const keep = (row: SetupRow) =>
      store.write(({ emit }) => {
        if (!projects.find(project_id)) return;
        rows.put(row, ["project_id", "key"]);
        const all = rows.list([{ project_id }], { order: "made_at DESC", limit: 2 * KEPT_EACH });
        for (const { key } of all.slice(KEPT_EACH)) rows.remove({ project_id, key });
        emit(setupChanged, { project_id, data: { state: row.state } });
      });
    const wanted = { project, recipe, again, hosts, findRow, keep };
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
        // Another request has come since then, and it may succeed.
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
    onEnd: ({ payload: { project_id }, state }) =>
      void (
        state === "succeeded" ||
        store.write(({ emit }) => emit(setupChanged, { project_id, data: { state: "failed" } }))
      ),
  });
  /** @throws Problem 404, 409 `no_environment`, 503 `setup_unsupported`. */
  function start(projectId: string, { again = false }: SetupStart, userId: string | undefined): Job {
    const project = expectFound(projects.find(projectId), "project");
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
  return { definition, start };
}
