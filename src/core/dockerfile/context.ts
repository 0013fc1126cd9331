/** Chooses the files that a build's steps copy, from a list of names only, without reading any file. */
import { hashJson } from "../json-hash.ts";
import { takeTurns } from "../turns.ts";
import { DockerfileFault } from "./lines.ts";
import type { BuildStep, CopyStep } from "./plan.ts";

export const CONTEXT_LIMITS = { files: 50_000, copied: 20_000, sources: 200, bytes: 1024 ** 3 } as const;

export interface ContextFile {
  /** Path relative to the top of the context. */
  path: string;
  kind: "file" | "program" | "link";
  /** Git object id of the content. */
  oid: string;
}

export interface Copied extends ContextFile {
  /** Path below the target, when the target is a folder. */
  below: string;
}

export interface Selection {
  files: Copied[];
  /** True for a single file that was named itself: unless the target is a folder, the file becomes the target. */
  isOne: boolean;
}

const MAX_RULES = 200;
const MAX_RULE_CHARACTERS = 512;

/** Reads a `.dockerignore`. Unlike in a `.gitignore`, a name without a slash only matches at the top. */
export function readDockerignore(text: string): (path: string) => boolean {
  const rules = text.split(/\r?\n/, MAX_RULES).flatMap((line) => ruleIn(line.trim()) ?? []);
  /** For each folder, the index of the last rule that matches it or a folder above it; -1 for none. */
  const folders = new Map([["", -1]]);
  const lastFor = (path: string): number => {
    const end = path.lastIndexOf("/");
    const folder = end < 0 ? "" : path.slice(0, end);
    let last = folders.get(folder);
    if (last === undefined) {
      last = lastFor(folder);
      folders.set(folder, last);
    }
    return Math.max(
      last,
      rules.findLastIndex(({ matches }) => matches(path)),
    );
  };
  return (path) => rules[lastFor(path)]?.keeps === false;
}

function ruleIn(line: string): { keeps: boolean; matches(path: string): boolean } | undefined {
  if (line === "" || line.startsWith("#") || line.length > MAX_RULE_CHARACTERS) return undefined;
  const keeps = line.startsWith("!");
  const pattern = line.slice(keeps ? 1 : 0).replace(/^(?:\.?\/)+/, "");
  const path = pattern.endsWith("/") ? pattern.slice(0, -1) : pattern;
  return path === "" ? undefined : { keeps, matches: matcherOf(path) };
}

/** Matches paths with a pattern of `*`, `?` and `[…]`. */
export function matcherOf(pattern: string): (path: string) => boolean {
  if (!/[*?[\\]/.test(pattern)) return (path) => path === pattern;
  // Braces, and a "!" at the beginning, are ordinary characters here.
  const glob = new Bun.Glob(pattern.replace(/(?<!\\)[{}]/g, "\\$&").replace(/^!/, "\\!"));
  return (path) => glob.match(path);
}

/** Chooses the files that each copying step takes. @throws DockerfileFault. */
export async function selectFiles(
  files: readonly ContextFile[],
  steps: readonly BuildStep[],
  isIgnored: (path: string) => boolean,
): Promise<Map<CopyStep, Selection>> {
  const copies = steps.flatMap((step) => (step.kind === "copy" && step.from === undefined ? [step] : []));
  const found = new Map<CopyStep, Selection>();
  const [first] = copies;
  if (!first) return found;
  if (files.length > CONTEXT_LIMITS.files)
    throw new DockerfileFault(
      first.line,
      `The build's files are more than ${CONTEXT_LIMITS.files}. Name a smaller folder as the \`context\`.`,
    );
  const pause = takeTurns();
  const kept: ContextFile[] = [];
  for (const file of files) {
    await pause();
    if (!isIgnored(file.path)) kept.push(file);
  }
  let [sources, copied] = [0, 0];
  for (const step of copies) {
    const selection: Selection = { files: [], isOne: false };
    for (const source of step.sources) {
      if (++sources > CONTEXT_LIMITS.sources)
        throw new DockerfileFault(step.line, `More than ${CONTEXT_LIMITS.sources} names are copied. Copy folders.`);
      await pause();
      const taken = filesOf(kept, source, step.line);
      copied += taken.length;
      if (copied > CONTEXT_LIMITS.copied)
        throw new DockerfileFault(
          step.line,
          `More than ${CONTEXT_LIMITS.copied} files are copied. Leave out what the image does not need, in .dockerignore.`,
        );
      selection.files.push(...taken);
      selection.isOne = step.sources.length === 1 && taken.length === 1 && isMeantItself(taken[0]?.path, source);
    }
    found.set(step, selection);
  }
  return found;
}

/** Whether the path is what the source names, and not a file below it. */
const isMeantItself = (path: string | undefined, source: string): boolean =>
  path !== undefined && source !== "" && path.split("/").length === source.split("/").length;

/** The files that one source stands for. */
function filesOf(files: readonly ContextFile[], source: string, line: number): Copied[] {
  const found = /[*?[\\]/.test(source) ? findByPattern(files, source) : findByPath(files, source);
  const link = found.find(
    ({ kind, path, below }) => kind === "link" && below === path.slice(path.lastIndexOf("/") + 1),
  );
  if (link?.path === source)
    throw new DockerfileFault(line, `${source.slice(0, 100)} is a link. Name the file that it leads to.`);
  if (found.length === 0)
    throw new DockerfileFault(
      line,
      `${source.slice(0, 100) || "The context"} is not among the build's files, or .dockerignore leaves it out.`,
    );
  return found;
}

function findByPath(files: readonly ContextFile[], source: string): Copied[] {
  const folder = source === "" ? "" : `${source}/`;
  return files.flatMap((file) => {
    if (file.path === source) return [{ ...file, below: source.slice(source.lastIndexOf("/") + 1) }];
    return file.path.startsWith(folder) ? [{ ...file, below: file.path.slice(folder.length) }] : [];
  });
}

function findByPattern(files: readonly ContextFile[], source: string): Copied[] {
  const matches = matcherOf(source);
  const depth = source.split("/").length;
  /** Whether a folder or file at this depth matches the source. */
  const known = new Map<string, boolean>();
  return files.flatMap((file) => {
    const names = file.path.split("/");
    if (names.length < depth) return [];
    const top = names.slice(0, depth).join("/");
    const isMeant = known.get(top) ?? matches(top);
    known.set(top, isMeant);
    if (!isMeant) return [];
    // For a folder that matches, its files are copied, as when the folder is named directly.
    return [{ ...file, below: names.length === depth ? (names.at(-1) ?? "") : names.slice(depth).join("/") }];
  });
}

/** Digest of the copied files; their order does not matter. */
export function digestOf(selections: Iterable<Selection>): { digest: string; count: number } {
  const lines = new Set<string>();
  for (const { files } of selections)
    for (const { path, kind, oid } of files) lines.add(JSON.stringify([path, kind, oid]));
  return { digest: hashJson([...lines].sort()), count: lines.size };
}
