/** Checks files of pipelines, agents and skills in place, without a server. */
import { existsSync, readdirSync, readFileSync, statSync } from "node:fs";
import { basename, dirname, extname, join, resolve } from "node:path";
import { isSlug } from "../core/ids.ts";
import { parseAgentFile } from "../engine/agent-file.ts";
import { readFrontMatter, updateFrontMatter } from "../engine/front-matter.ts";
import { parsePipeline } from "../engine/pipeline/parse.ts";
import type { SourceProblem } from "../engine/yaml-text.ts";
import { skillProblems } from "../feature/skills/store.ts";
import { decodeText, NOT_TEXT, TEXT_FILE_BYTES } from "../store/text-folder.ts";

interface CheckedFile {
  file: string;
  kind: "pipeline" | "agent" | "skill" | "unknown";
  /** Problems in the order of the text; empty when the file is valid. */
  problems: SourceProblem[];
}

const FORMAT = { read: readFrontMatter, update: updateFrontMatter };
const toSourceProblem = (message: string): SourceProblem => ({ line: 1, column: 1, pointer: "", message });

/** Checks files, and the files below folders. A path without a file gives a problem of its own. */
export function checkFiles(paths: readonly string[]): CheckedFile[] {
  return paths.flatMap((path) => {
    const found = statSync(path, { throwIfNoEntry: false });
    if (!found)
      return [{ file: path, kind: "unknown" as const, problems: [toSourceProblem("There is no such file.")] }];
    return found.isDirectory() ? filesBelow(path).map(checkFile) : [checkFile(path)];
  });
}

/** Files that look like Skep's: YAML and Markdown in the places that the server reads. */
function filesBelow(folder: string): string[] {
  return readdirSync(folder, { recursive: true, encoding: "utf8" })
    .filter((path) => !/(^|\/)(\.|node_modules\/)/.test(path))
    .map((path) => join(folder, path))
    .filter((path) => kindOf(path) !== "unknown" && statSync(path, { throwIfNoEntry: false })?.isFile())
    .sort();
}

function kindOf(path: string): CheckedFile["kind"] {
  const folder = basename(dirname(resolve(path)));
  if (/^\.ya?ml$/.test(extname(path))) return "pipeline";
  if (basename(path) === "AGENT.md") return "agent";
  if (basename(path) === "SKILL.md" || (/^(_skills|skills)$/.test(folder) && path.endsWith(".md"))) return "skill";
  return "unknown";
}

function checkFile(file: string): CheckedFile {
  const kind = kindOf(file);
  if (statSync(file).size > TEXT_FILE_BYTES)
    return { file, kind, problems: [toSourceProblem(`The file is larger than ${TEXT_FILE_BYTES / 1_024} KiB.`)] };
  const text = decodeText(readFileSync(file));
  return { file, kind, problems: text === undefined ? [toSourceProblem(NOT_TEXT)] : problemsOf(kind, file, text) };
}

function problemsOf(kind: CheckedFile["kind"], file: string, text: string): SourceProblem[] {
  const path = resolve(file);
  const stem = basename(path, extname(path));
  const home = basename(dirname(path));
  switch (kind) {
    case "pipeline":
      return parsePipeline(text, home === "_pipelines" ? { fileId: stem, ...knownBeside(path) } : {}).problems;
    case "agent": {
      const misnamed = isSlug(home)
        ? []
        : [toSourceProblem(`The folder "${home}" is not an id: small letters, digits and hyphens.`)];
      return [...misnamed, ...parseAgentFile(home, text).problems];
    }
    case "skill":
      return skillProblems(text, basename(path) === "SKILL.md" ? home : stem, FORMAT);
    default:
      return [
        toSourceProblem("This is not a pipeline (.yml), an agent (AGENT.md) or a skill (SKILL.md, or .md in skills/)."),
      ];
  }
}

/** The agents next to a folder of pipelines; steps may only name these. */
function knownBeside(path: string): { agents: Set<string> } {
  const root = dirname(dirname(path));
  return { agents: new Set(readdirSync(root).filter((name) => existsSync(join(root, name, "AGENT.md")))) };
}
