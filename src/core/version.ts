/** Describes this build. `build.ts` inserts the constants; when run from source they are missing. */
declare const SKEP_VERSION: string | undefined;
declare const SKEP_COMMIT: string | undefined;
declare const SKEP_BUILT_AT: string | undefined;

export interface BuildInfo {
  version: string;
  commit: string;
  /** RFC 3339, or null when run from source. */
  builtAt: string | null;
  runtime: string;
  platform: string;
  /** True inside the compiled executable. */
  compiled: boolean;
}

export const BUILD: BuildInfo = {
  version: typeof SKEP_VERSION === "string" ? SKEP_VERSION : "0.0.0-source",
  commit: typeof SKEP_COMMIT === "string" ? SKEP_COMMIT : "unknown",
  builtAt: typeof SKEP_BUILT_AT === "string" ? SKEP_BUILT_AT : null,
  runtime: `bun ${process.versions.bun}`,
  platform: `${process.platform}-${process.arch}`,
  compiled: typeof SKEP_VERSION === "string",
};
