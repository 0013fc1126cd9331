/** Rows of set-ups, found by the project's present environment. */
import { projectSetups } from "../../store/tables/setups.ts";
import type { AcceptedDockerfile, Environment } from "../environments/model.ts";
import type { Core } from "../feature.ts";
import type { Project } from "../projects/model.ts";
import { type Recipe, recipeOf } from "./recipe.ts";
import type { SetupRow } from "./set-up.ts";

export interface SetupRowsDeps extends Pick<Core, "store"> {
  environmentOf(projectId: string): Environment | undefined;
  dockerfileOf(projectId: string): AcceptedDockerfile | null;
  /** The image of sandboxes when an environment names none. */
  defaultImage(): string;
}

export type SetupRows = ReturnType<typeof createSetupRows>;

/** Most rows that are kept per project. */
export const KEPT_EACH = 20;

/** Whether sandboxes start from an image that is made by a set-up. */
export const hasLayer = ({ setup, build }: Pick<Environment, "setup" | "build">): boolean =>
  setup !== undefined || build !== undefined;

export function createSetupRows({ store, environmentOf, dockerfileOf, defaultImage }: SetupRowsDeps) {
  const rows = store.rows(projectSetups);
  function recipeFor(projectId: string): Recipe | undefined {
    const environment = environmentOf(projectId);
    if (environment === undefined) return undefined;
    const { image = defaultImage(), setup, env = {}, build, services } = environment;
    const dockerfile = build && dockerfileOf(projectId);
    if (!build || !dockerfile) return { image, setup, env, services };
    const { text, digest, commit } = dockerfile;
    return { image: dockerfile.image, setup, env, services, build: { ...build, text, digest, commit } };
  }
  const findNewest = (projectId: string, recipe: Recipe, state?: SetupRow["state"]): SetupRow | undefined =>
    rows.list([{ project_id: projectId, recipe: recipeOf(recipe), state }], { order: "made_at DESC", limit: 1 })[0];
  function isNeeded({ id, check }: Project): boolean {
    const environment = environmentOf(id);
    return environment !== undefined && (hasLayer(environment) || check !== null);
  }
  return { rows, recipeFor, findNewest, isNeeded };
}
