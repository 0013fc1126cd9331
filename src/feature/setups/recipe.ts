/** What a set-up is made of, and its fingerprints. */
import { hashJson } from "../../core/json-hash.ts";
import type { EnvironmentServices } from "../environment-services/model.ts";
import type { Build } from "./build.ts";

export interface Recipe {
  /** Name of the image that it begins with. */
  image: string;
  setup: string | undefined;
  /** That image is what its Dockerfile begins with. */
  build?: Build | undefined;
  env: Readonly<Record<string, string>>;
  /** What its check runs beside. The set-up never sees them, so they are in none of its fingerprints. */
  services?: EnvironmentServices | undefined;
}

/** Of what the environment says alone. */
export const recipeOf = ({ image, setup, env, build }: Recipe): string =>
  hashJson({ form: 1, image, env, setup: setup ?? null, build: build && { ...build, commit: undefined } });

/** Of what the check runs beside; null where it runs alone. */
export const besideOf = ({ services }: Pick<Recipe, "services">): string | null =>
  services === undefined ? null : hashJson(services);

/** Of everything that the result depends on. Never the same for two projects: their files are in it. */
export const keyOf = (
  projectId: string,
  recipe: Recipe,
  imageId: string,
  locks: readonly { path: string; oid: string }[],
): string => hashJson({ projectId, recipe: recipeOf(recipe), imageId, locks: recipe.setup === undefined ? [] : locks });

/** Where no registry has one of this name. */
export const imageNameOf = (key: string): string => `skep/setup:${key.slice(0, 40)}`;
