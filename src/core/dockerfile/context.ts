/** Which files the steps of a build copy: chosen from a list of names alone, without looking at a file. */
import { hashJson } from "../json-hash.ts";
import { takeTurns } from "../turns.ts";
import { DockerfileFault } from "./lines.ts";
import type { BuildStep, CopyStep } from "./plan.ts";

export const CONTEXT_LIMITS = { files: 50_000, copied: 20_000, sources: 200, bytes: 1024 ** 3 } as const;

export interface ContextFile {
  /** From the top of the context. */
  path: string;
  kind: "file" | "program" | "link";
  /** Of its content. */
  oid: string;
}

export interface Copied extends ContextFile {
  /** Where it comes to below a target that is a folder. */
  below: string;
}

export interface Selection {
  files: Copied[];
  /** One file that was named itself: where the target is no folder, it is the target. */
  isOne: boolean;
}

const MAX_RULES = 200;
const MAX_RULE_CHARACTERS = 512;

/** Reads a `.dockerignore`. Unlike in a `.gitignore`, a name without a slash is one at the top. */
export function readDockerignore(text: string): (path: string) => boolean {
  const rules = text.split(/\r?\n/, MAX_RULES).flatMap((line) => ruleIn(line.trim()) ?? []);
  /** Of folders: the last rule that says something of them. */
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

/** Of a path with `*`, `?` and `[…]`. */
export function matcherOf(pattern: string): (path: string) => boolean {
  if (!/[*?[\\]/.test(pattern)) return (path) => path === pattern;
  // Braces and a "!" at the beginning are ordinary characters here.
  const glob = new Bun.Glob(pattern.replace(/(?<!\\)[{}]/g, "\\$&").replace(/^!/, "\\!"));
  return (path) => glob.match(path);
}

/** What each copying step takes. @throws DockerfileFault. */
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

/** It is what a name stands for, and not a file below it. */
const isMeantItself = (path: string | undefined, source: string): boolean =>
  path !== undefined && source !== "" && path.split("/").length === source.split("/").length;

/** What one name stands for. */
function filesOf(files: readonly ContextFile[], source: string, line: number): Copied[] {
  const found = /[*?[\\]/.test(source) ? matching(files, source) : named(files, source);
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

function named(files: readonly ContextFile[], source: string): Copied[] {
  const folder = source === "" ? "" : `${source}/`;
  return files.flatMap((file) => {
    if (file.path === source) return [{ ...file, below: source.slice(source.lastIndexOf("/") + 1) }];
    return file.path.startsWith(folder) ? [{ ...file, below: file.path.slice(folder.length) }] : [];
  });
}

function matching(files: readonly ContextFile[], source: string): Copied[] {
  const matches = matcherOf(source);
  const depth = source.split("/").length;
  /** Whether this folder or file is meant. */
  const known = new Map<string, boolean>();
  return files.flatMap((file) => {
    const names = file.path.split("/");
    if (names.length < depth) return [];
    const top = names.slice(0, depth).join("/");
    const isMeant = known.get(top) ?? matches(top);
    known.set(top, isMeant);
    if (!isMeant) return [];
    // Of a folder its files, as where it is named itself.
    return [{ ...file, below: names.length === depth ? (names.at(-1) ?? "") : names.slice(depth).join("/") }];
  });
}

/** Of the files that are copied, whatever the order. */
export function digestOf(selections: Iterable<Selection>): { digest: string; count: number } {
  const lines = new Set<string>();
  for (const { files } of selections)
    for (const { path, kind, oid } of files) lines.add(JSON.stringify([path, kind, oid]));
  return { digest: hashJson([...lines].sort()), count: lines.size };
}
