/** Which files a part of the dashboard is made of, as the build noted in the page (`scripts/dashboard/build.ts`). */

export interface PartFiles {
  files: string[];
  /** By the name of its script: places in `files`, its own first. */
  parts: Record<string, number[]>;
}

/** @param load a function that imports the part, as text. @returns nothing for a part that was not noted. */
export function filesIn({ files, parts }: PartFiles, load: string): string[] {
  const script = /import\("\.\/([\w.-]+)"\)/.exec(load)?.[1];
  const places = script === undefined ? undefined : parts[script];
  return (places ?? []).flatMap((place) => files[place] ?? []);
}
