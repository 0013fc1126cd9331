/** Which files a part of the dashboard is made of, as the build noted in the page (`scripts/dashboard/build.ts`). */

export interface PartFiles {
  files: string[];
  /** By the name of its script: places in `files`, its own first. */
  parts: Record<string, number[]>;
  /** The script of each page, by its address: `/runs/:id`. */
  pages: Record<string, string>;
}

const filesOf = ({ files, parts }: PartFiles, script: string | undefined): string[] =>
  (parts[script ?? ""] ?? []).flatMap((place) => files[place] ?? []);

/** @param load a function that imports the part, as text. @returns nothing for a part that was not noted. */
export const filesIn = (noted: PartFiles, load: string): string[] =>
  filesOf(noted, /import\("\.\/([\w.-]+)"\)/.exec(load)?.[1]);

/** Whether an address is a page's: `/runs/7` is at `/runs/:id`. */
export function isAt(pattern: string, path: string): boolean {
  const parts = path.split("/");
  const wanted = pattern.split("/");
  return wanted.length === parts.length && wanted.every((part, at) => part.startsWith(":") || part === parts[at]);
}

/** @param path below the site's own. Of two pages the first one is shown there. */
export function filesOfPage(noted: PartFiles, path: string): string[] {
  const page = Object.entries(noted.pages).find(([pattern]) => isAt(pattern, path));
  return filesOf(noted, page?.[1]);
}
