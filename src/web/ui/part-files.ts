/**
 * Lists the files that each part of the dashboard consists of. The build writes the list into the page
 * (`scripts/dashboard/build.ts`).
 */

export interface PartFiles {
  files: string[];
  /** Indexes in `files` by the name of the part's script; its own file comes first. */
  parts: Record<string, number[]>;
  /** The script of each page, by its path: `/runs/:id`. */
  pages: Record<string, string>;
}

const filesOf = ({ files, parts }: PartFiles, script: string | undefined): string[] =>
  (parts[script ?? ""] ?? []).flatMap((place) => files[place] ?? []);

/** @param load source text of the function that imports the part. @returns an empty list for an unlisted part. */
export const filesIn = (noted: PartFiles, load: string): string[] =>
  filesOf(noted, /import\("\.\/([\w.-]+)"\)/.exec(load)?.[1]);

/** Whether a path matches a page's pattern: `/runs/7` matches `/runs/:id`. */
export function isAt(pattern: string, path: string): boolean {
  const parts = path.split("/");
  const wanted = pattern.split("/");
  return wanted.length === parts.length && wanted.every((part, at) => part.startsWith(":") || part === parts[at]);
}

/** @param path path below the site's base. If two pages match, the first one is shown. */
export function filesOfPage(noted: PartFiles, path: string): string[] {
  const page = Object.entries(noted.pages).find(([pattern]) => isAt(pattern, path));
  return filesOf(noted, page?.[1]);
}
