/** What a set-up is made from, and fingerprints of it. */
import { hashJson } from "../../core/json-hash.ts";
import type { EnvironmentServices } from "../environment-services/model.ts";
import type { Build } from "./build.ts";

export interface Recipe {
  /** Name of the image from which the set-up starts. */
  image: string;
  setup: string | undefined;
  /** The build, if the environment has a Dockerfile; `image` is then what the Dockerfile begins with. */
  build?: Build | undefined;
  env: Readonly<Record<string, string>>;
  /** Services that run beside the check. The set-up never sees them, so no fingerprint of a set-up includes them. */
  services?: EnvironmentServices | undefined;
}

/** Fingerprint of what the environment says. */
export const recipeOf = ({ image, setup, env, build }: Recipe): string =>
  hashJson({ form: 1, image, env, setup: setup ?? null, build: build && { ...build, commit: undefined } });

/** Fingerprint of the services beside the check; null when it runs alone. */
export const besideOf = ({ services }: Pick<Recipe, "services">): string | null =>
  services === undefined ? null : hashJson(services);

/**
 * Fingerprint of everything that the result depends on. It differs between projects, because the result holds their
 * files.
 */
export const keyOf = (
  projectId: string,
  recipe: Recipe,
  imageId: string,
  locks: readonly { path: string; oid: string }[],
): string => hashJson({ projectId, recipe: recipeOf(recipe), imageId, locks: recipe.setup === undefined ? [] : locks });

/** Name of the set-up's image. No registry has an image of this name. */
export const imageNameOf = (key: string): string => `skep/setup:${key.slice(0, 40)}`;
