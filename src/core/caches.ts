/**
 * Folders of a sandbox's home that are kept from one piece of work to the next: what package managers have downloaded.
 */
import { Type as t } from "@sinclair/typebox";

/**
 * A closed list. No folder in it lies inside another. Shells and tools do not run files in these folders or read them
 * as configuration, unless they look for a cache there. An environment variable can point any other tool to a folder of
 * `~/.cache`.
 */
const PLACES = [
  String.raw`\.cache/[A-Za-z0-9_-][A-Za-z0-9._-]{0,63}`,
  String.raw`\.npm`,
  String.raw`\.yarn/berry/cache`,
  String.raw`\.bun/install/cache`,
  String.raw`\.local/share/pnpm/store`,
  String.raw`\.cargo/registry`,
  String.raw`\.cargo/git`,
  "go/pkg/mod",
  String.raw`\.m2/repository`,
  String.raw`\.gradle/caches`,
  String.raw`\.nuget/packages`,
];

export const Caches = t.Array(
  t.String({
    pattern: `^~/(?:${PLACES.join("|")})$`,
    description:
      "A cache folder in the home: `~/.cache/NAME` (pip, go-build, …), `~/.npm`, `~/.yarn/berry/cache`, `~/.bun/install/cache`, `~/.local/share/pnpm/store`, `~/.cargo/registry`, `~/.cargo/git`, `~/go/pkg/mod`, `~/.m2/repository`, `~/.gradle/caches`, `~/.nuget/packages`. For another tool, set a variable in `env` that makes it use a folder of `~/.cache`. Folders of the working copy are not accepted; what `setup` leaves there is kept anyway.",
  }),
  {
    minItems: 1,
    maxItems: 8,
    uniqueItems: true,
    description:
      "Cache folders that are kept from one piece of work to the next, separately for each person and project. What one person's agents leave there never reaches another's.",
  },
);

/** Owner of the caches of setups. It is no person, so only the project's setups share them. */
export const SET_UP_CACHES = "set-up";

/** Paths relative to the home, as a sandbox gets them. */
export const belowHome = (caches: readonly string[]): string[] => caches.map((path) => path.slice(2));

/** Says why caches are not kept here, and what to do instead; undefined when they are kept. */
export function whyNoCaches(
  { sandbox, dockerHosts }: { sandbox: string; dockerHosts: readonly string[] },
  hasEngine: boolean,
): string | undefined {
  if (sandbox === "kubernetes")
    return "Nothing is kept between Pods: take `caches` out, and put what the code needs into the image";
  if (dockerHosts.length > 0 && sandbox !== "process")
    return "With DOCKER_HOSTS nothing is kept, since work moves between hosts: take `caches` out, and put what the code needs into the image";
  return hasEngine && sandbox !== "process"
    ? undefined
    : "Agents do not work in containers here, so there is nothing to keep: take `caches` out";
}
