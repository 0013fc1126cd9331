/**
 * Finds out from a repository's files in which language its code is written: an image with its tools, and how its tests
 * run.
 */
import type { Environment } from "./model.ts";
import { present, type Stack, type TextOf, tablesOf } from "./stack.ts";
import { detectJavascript, JAVASCRIPT_FILES } from "./stack-javascript.ts";
import { detectPython, PYTHON_FILES } from "./stack-python.ts";

/** In order of preference: the first matching stack whose tests can be run is proposed. */
const STACKS: readonly [language: string, stack: (textOf: TextOf) => Stack | undefined][] = [
  ["JavaScript", detectJavascript],
  ["Rust", detectRust],
  ["Go", detectGo],
  ["Java", detectJava],
  ["Python", detectPython],
];

/** All files that the stacks read. */
export const STACK_FILES: readonly string[] = [
  ...JAVASCRIPT_FILES,
  "Cargo.toml",
  "Cargo.lock",
  "rust-toolchain",
  "rust-toolchain.toml",
  "go.mod",
  "go.sum",
  "vendor/modules.txt",
  "pom.xml",
  "gradlew",
  "build.gradle",
  "build.gradle.kts",
  ...PYTHON_FILES,
];

/** @returns undefined when no language is found. Further languages are named in a note. */
export function findStack(textOf: TextOf): Stack | undefined {
  const found = STACKS.flatMap(([language, stack]) => {
    const one = stack(textOf);
    return one ? [{ language, ...one }] : [];
  });
  const chosen = found.find(({ definition }) => definition.check !== undefined) ?? found[0];
  if (!chosen) return undefined;
  const { language, files, definition, notes = [] } = chosen;
  const others = found.filter((one) => one !== chosen).map(({ files, language }) => `${files[0]} (${language})`);
  const left =
    others.length === 0
      ? []
      : [`Proposed for ${language}. Not for ${others.join(", ")}: name an image with both, and its set-up.`];
  return { files, definition, notes: [...notes, ...left] };
}

/** Crates are stored where the image has its own, because a sandbox's home is empty. */
const CARGO_HOME = "/usr/local/cargo";

function detectRust(textOf: TextOf): Stack | undefined {
  const text = textOf("Cargo.toml");
  if (text === undefined) return undefined;
  const files = ["Cargo.toml", ...present(textOf, ["Cargo.lock", "rust-toolchain", "rust-toolchain.toml"])];
  const tables = tablesOf(text);
  const isWorkspace = tables.some(({ name }) => name === "workspace" || name.startsWith("workspace."));
  const needsCrates = isWorkspace || tables.some(({ name }) => /(?:^|[.-])dependencies(?:\.|$)/.test(name));
  const definition: Environment = { image: "rust:1", env: { CARGO_HOME } };
  if (needsCrates) {
    definition.setup = textOf("Cargo.lock") === undefined ? "cargo fetch" : "cargo fetch --locked";
    definition.network = { allow: ["crates"] };
  }
  definition.check = ["cargo test", ...(isWorkspace ? ["--workspace"] : []), "--offline"].join(" ");
  const toolchain = files.find((path) => path.startsWith("rust-toolchain"));
  const notes =
    toolchain === undefined
      ? []
      : [`${toolchain} names a toolchain: if the image lacks it, name an image that has it.`];
  return { files, definition, notes };
}

function detectGo(textOf: TextOf): Stack | undefined {
  const text = textOf("go.mod");
  if (text === undefined) return undefined;
  const version = (/^toolchain go(\d{1,3}\.\d{1,3})/m.exec(text) ?? /^go (\d{1,3}\.\d{1,3})/m.exec(text))?.[1] ?? "1";
  const files = ["go.mod", ...present(textOf, ["go.sum", "vendor/modules.txt"])];
  const definition: Environment = { image: `golang:${version}` };
  if (/^require\b/m.test(text) && !files.includes("vendor/modules.txt")) {
    definition.setup = "go mod download";
    definition.network = { allow: ["go"] };
  }
  definition.check = "go test ./...";
  return { files, definition };
}

function detectJava(textOf: TextOf): Stack | undefined {
  if (textOf("pom.xml") !== undefined)
    return { files: ["pom.xml"], definition: { image: "maven:3", check: "mvn -o -q -B test" } };
  const build = ["build.gradle", "build.gradle.kts"].find((path) => textOf(path) !== undefined);
  if (build === undefined || textOf("gradlew") === undefined) return undefined;
  return { files: [build, "gradlew"], definition: { image: "gradle:jdk21", check: "./gradlew --offline test" } };
}
