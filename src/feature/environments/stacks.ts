/** What the files of a repository say about the language its code is in: an image with its tools, and how its tests are run. */
import { isObject, textIn } from "../../core/is-object.ts";
import { readJson } from "../../core/json-reader.ts";
import type { Environment } from "./model.ts";

/** Texts of the files at the top of a repository. */
export type TextOf = (path: string) => string | undefined;

export interface Stack {
  files: string[];
  definition: Environment;
}

/** In order: the first that fits is proposed. */
export const STACKS: readonly ((textOf: TextOf) => Stack | undefined)[] = [javascript, rust, go, java, python];

/** Files that the stacks ask for. */
export const STACK_FILES = [
  "package.json",
  ".nvmrc",
  ".node-version",
  "package-lock.json",
  "npm-shrinkwrap.json",
  "pnpm-lock.yaml",
  "yarn.lock",
  "bun.lock",
  "Cargo.toml",
  "Cargo.lock",
  "rust-toolchain",
  "rust-toolchain.toml",
  "go.mod",
  "go.sum",
  "pom.xml",
  "gradlew",
  "build.gradle",
  "build.gradle.kts",
  "pyproject.toml",
  "setup.py",
  "setup.cfg",
  "tox.ini",
  "requirements.txt",
  "requirements-dev.txt",
  "requirements-test.txt",
  ".python-version",
] as const;

const REQUIREMENTS = ["requirements.txt", "requirements-dev.txt", "requirements-test.txt"];

/** npm writes it where nobody has written one. */
const NO_TEST = "no test specified";

function javascript(textOf: TextOf): Stack | undefined {
  const text = textOf("package.json");
  if (text === undefined) return undefined;
  const manifest = objectOf(text);
  const wanted = textOf(".nvmrc") ?? textOf(".node-version") ?? textIn(manifest["engines"], "node") ?? "";
  const test = textIn(manifest["scripts"], "test") ?? NO_TEST;
  const files = ["package.json", ".nvmrc", ".node-version"].filter((path) => textOf(path) !== undefined);
  const definition: Environment = { image: `node:${numberIn(wanted) ?? "22"}` };
  const lock = ["package-lock.json", "npm-shrinkwrap.json"].find((path) => textOf(path) !== undefined);
  if (lock !== undefined) {
    files.push(lock);
    Object.assign(definition, { setup: "npm ci", network: { allow: ["npm"] } });
  }
  if (!test.includes(NO_TEST)) definition.check = "npm test";
  return { files, definition };
}

function rust(textOf: TextOf): Stack | undefined {
  if (textOf("Cargo.toml") === undefined) return undefined;
  const env = { CARGO_HOME: "/home/agent/.cargo" };
  return { files: ["Cargo.toml"], definition: { image: "rust:1", env, check: "cargo test" } };
}

function go(textOf: TextOf): Stack | undefined {
  const text = textOf("go.mod");
  if (text === undefined) return undefined;
  const version = /^go (\d{1,3}\.\d{1,3})/m.exec(text)?.[1] ?? "1";
  return { files: ["go.mod"], definition: { image: `golang:${version}`, check: "go test ./..." } };
}

function java(textOf: TextOf): Stack | undefined {
  if (textOf("pom.xml") !== undefined)
    return { files: ["pom.xml"], definition: { image: "maven:3", check: "mvn -o -q -B test" } };
  const build = ["build.gradle", "build.gradle.kts"].find((path) => textOf(path) !== undefined);
  if (build === undefined || textOf("gradlew") === undefined) return undefined;
  return { files: [build, "gradlew"], definition: { image: "gradle:jdk21", check: "./gradlew --offline test" } };
}

function python(textOf: TextOf): Stack | undefined {
  const files = ["pyproject.toml", "setup.py", "requirements.txt"].filter((path) => textOf(path) !== undefined);
  if (files.length === 0) return undefined;
  const version = /^3\.\d{1,2}/.exec(textOf(".python-version") ?? "")?.[0] ?? "3";
  const definition: Environment = { image: `python:${version}`, check: "python3 -m pytest" };
  const lists = REQUIREMENTS.filter((path) => textOf(path) !== undefined);
  if (lists.length > 0) {
    files.push(...lists.filter((path) => !files.includes(path)));
    definition.setup = `pip install --root-user-action=ignore ${lists.map((path) => `-r ${path}`).join(" ")}`;
    definition.network = { allow: ["pypi"] };
  }
  return { files, definition };
}

function objectOf(text: string): Record<string, unknown> {
  try {
    const value = readJson(text);
    return isObject(value) ? value : {};
  } catch {
    return {};
  }
}

/** The first number of a version or a range of versions. */
const numberIn = (text: string): string | undefined => /\d{1,3}/.exec(text.slice(0, 200))?.[0];
