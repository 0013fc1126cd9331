/**
 * What a Dockerfile asks for, as steps whose variables are put in already: one stage that begins with an image, runs commands and
 * copies files. What we cannot do exactly is refused with its line, and with what to write instead. Nothing is left out silently
 * that changes which files or variables the image has.
 */
import { posix } from "node:path";
import { Value } from "@sinclair/typebox/value";
import { ImageName } from "../image-name.ts";
import { DOCKERFILE_LIMITS, DockerfileFault, type Instruction, readInstructions } from "./lines.ts";
import { expandWord, type Lookup, listIn, splitWords } from "./words.ts";

interface Step {
  line: number;
  /** For people, as it was written. */
  text: string;
  /** What the image has by then: its own variables and those of `ENV`. */
  env: Readonly<Record<string, string>>;
  workdir: string;
  /** `name`, `uid`, with `:group` where it was named. */
  user: string;
}
export interface RunStep extends Step {
  kind: "run";
  argv: readonly string[];
  /** `ARG`s: for this command alone. */
  args: Readonly<Record<string, string>>;
}
export interface CopyStep extends Step {
  kind: "copy";
  /** Paths in the context, from its top; with `*`, `?` and `[…]`. "" is all of it. */
  sources: readonly string[];
  /** Absolute; with a slash at its end it is a folder. */
  to: string;
  chown: string | undefined;
  mode: number | undefined;
}
export type BuildStep = RunStep | CopyStep;

export interface BuildPlan {
  /** Name of the image that it begins with. */
  image: string;
  steps: BuildStep[];
  env: Readonly<Record<string, string>>;
  workdir: string;
}

/** What the first image says of itself. */
export interface BaseImage {
  env: Readonly<Record<string, string>>;
  workdir: string;
  user: string;
}

export const NO_BASE: BaseImage = { env: {}, workdir: "/", user: "root" };

const MAX_VARIABLES = 200;
const MAX_VARIABLE_CHARACTERS = 128 * 1024;
const SHOWN_CHARACTERS = 200;
const VARIABLE = /^[A-Za-z_][A-Za-z0-9_]{0,99}$/;
const USER = /^[A-Za-z0-9_][A-Za-z0-9_.-]{0,63}(?::[A-Za-z0-9_][A-Za-z0-9_.-]{0,63})?$/;

/** Says nothing about the files of the image or how an agent's commands run in it. */
const PASSED_OVER = new Set([
  "CMD",
  "ENTRYPOINT",
  "EXPOSE",
  "HEALTHCHECK",
  "LABEL",
  "MAINTAINER",
  "STOPSIGNAL",
  "VOLUME",
]);

interface Stage {
  plan: BuildPlan;
  base: BaseImage;
  /** Given from outside: they go before the defaults. */
  given: Readonly<Record<string, string>>;
  /** `ARG`s before `FROM`. */
  before: Map<string, string>;
  args: Map<string, string>;
  env: Map<string, string>;
  shell: readonly string[];
  user: string;
  begun: boolean;
}

/** @param given values of `ARG`s. @throws DockerfileFault. */
export function planBuild(
  text: string,
  given: Readonly<Record<string, string>> = {},
  base: BaseImage = NO_BASE,
): BuildPlan {
  const stage: Stage = {
    plan: { image: "", steps: [], env: base.env, workdir: posix.resolve("/", base.workdir) },
    base,
    given,
    before: new Map(),
    args: new Map(),
    env: new Map(Object.entries(base.env)),
    shell: ["/bin/sh", "-c"],
    user: base.user === "" ? "root" : base.user,
    begun: false,
  };
  for (const instruction of readInstructions(text)) perform(stage, instruction);
  if (!stage.begun) throw new DockerfileFault(1, "It has no FROM: begin with the image that it is made of.");
  return { ...stage.plan, env: Object.fromEntries(stage.env) };
}

function perform(stage: Stage, instruction: Instruction): void {
  const { word, line } = instruction;
  const act = ACTS[word];
  if (!stage.begun && word !== "FROM" && word !== "ARG")
    throw new DockerfileFault(
      line,
      `${shorten(word, 40)} stands before FROM: begin with the image that it is made of.`,
    );
  if (act) return inWords(line, () => act(stage, instruction));
  if (PASSED_OVER.has(word)) return;
  if (word === "ONBUILD")
    throw new DockerfileFault(
      line,
      "ONBUILD is for other Dockerfiles. Write its instruction in the one that needs it.",
    );
  throw new DockerfileFault(line, `${shorten(word, 40)} is not an instruction that is supported here.`);
}

/** Errors of what reads words, with the line. */
function inWords(line: number, act: () => void): void {
  try {
    act();
  } catch (error) {
    if (error instanceof DockerfileFault || !(error instanceof Error)) throw error;
    throw new DockerfileFault(line, error.message);
  }
}

const shorten = (text: string, characters = SHOWN_CHARACTERS): string =>
  text.length > characters ? `${text.slice(0, characters)}…` : text;

const ACTS: Readonly<Record<string, (stage: Stage, instruction: Instruction) => void>> = {
  FROM: beginStage,
  ARG: declareArgs,
  ENV: setVariables,
  RUN: addRun,
  COPY: addCopy,
  ADD: addCopy,
  WORKDIR: (stage, { text }) => {
    const folder = expandWord(text, lookupOf(stage));
    if (folder === "") throw new Error("WORKDIR names no folder.");
    stage.plan.workdir = posix.resolve(stage.plan.workdir, folder);
  },
  USER: (stage, { text }) => {
    stage.user = userIn(expandWord(text, lookupOf(stage)));
  },
  SHELL: (stage, { text }) => {
    const shell = listIn(text);
    if (shell?.[0] === undefined || shell[0] === "") throw new Error('SHELL takes a list, as ["/bin/bash", "-c"].');
    stage.shell = shell;
  },
};

function beginStage(stage: Stage, { text }: Instruction): void {
  if (stage.begun)
    throw new Error(
      "Only one stage is supported: build what the first ones make with RUN in this one, or name an image that has it.",
    );
  const words = splitWords(text).map((word) => expandWord(word, (name) => stage.before.get(name)));
  const [image = "", as, name] = words;
  if (image.startsWith("--"))
    throw new Error("FROM --platform is not supported: the image is the engine's own platform's.");
  if (image === "scratch") throw new Error("FROM scratch has no shell. Begin with an image that has one.");
  if (!Value.Check(ImageName, image)) throw new Error(`FROM names no image: ${shorten(image, 100)}`);
  if (words.length !== 1 && !(words.length === 3 && as?.toUpperCase() === "AS" && name))
    throw new Error("FROM takes one image.");
  stage.begun = true;
  stage.plan.image = image;
}

/** Those of `ENV` go before those of `ARG`, as everywhere. */
const lookupOf =
  ({ args, env }: Stage): Lookup =>
  (name) =>
    env.get(name) ?? args.get(name);

function declareArgs(stage: Stage, { text }: Instruction): void {
  const { begun, before, args, given } = stage;
  const into = begun ? args : before;
  const words = splitWords(text);
  if (words.length === 0) throw new Error("ARG names nothing.");
  for (const word of words) {
    const at = word.indexOf("=");
    const name = at < 0 ? word : word.slice(0, at);
    assertVariable(name, "ARG");
    const own = at < 0 ? undefined : expandWord(word.slice(at + 1), begun ? lookupOf(stage) : (key) => before.get(key));
    // Without a value of its own it is the one from before FROM.
    const value = given[name] ?? own ?? before.get(name);
    if (value !== undefined) into.set(name, value);
    assertRoom(into);
  }
}

function setVariables(stage: Stage, { text }: Instruction): void {
  const words = splitWords(text);
  const [first = ""] = words;
  const lookup = lookupOf(stage);
  const set = new Map<string, string>();
  if (first.includes("="))
    for (const word of words) {
      const at = word.indexOf("=");
      if (at < 0) throw new Error("ENV takes NAME=value; put a value with blanks in quotes.");
      set.set(word.slice(0, at), expandWord(word.slice(at + 1), lookup));
      assertRoom(set);
    }
  else set.set(first, expandWord(text.slice(first.length).trim(), lookup));
  for (const [name, value] of set) {
    assertVariable(name, "ENV");
    stage.env.set(name, value);
  }
  assertRoom(stage.env);
}

function assertVariable(name: string, word: string): void {
  if (!VARIABLE.test(name)) throw new Error(`${word} names no variable: ${shorten(name, 100)}`);
}

function assertRoom(variables: ReadonlyMap<string, string>): void {
  let characters = 0;
  for (const [name, value] of variables) characters += name.length + value.length;
  if (variables.size > MAX_VARIABLES || characters > MAX_VARIABLE_CHARACTERS)
    throw new Error(`There are more than ${MAX_VARIABLES} variables, or they are too long.`);
}

function userIn(text: string): string {
  if (!USER.test(text)) throw new Error(`This is no user: ${shorten(text, 100)}`);
  return text;
}

/** What every step has. @throws Error when there are too many. */
function stepOf({ plan, env, user }: Stage, { line, word, text }: Instruction): Step {
  if (plan.steps.length >= DOCKERFILE_LIMITS.layers)
    throw new Error(`There are more than ${DOCKERFILE_LIMITS.layers} RUN, COPY and ADD. Join commands with &&.`);
  return { line, text: shorten(`${word} ${text}`), env: Object.fromEntries(env), workdir: plan.workdir, user };
}

const HEREDOC = /(?:^|\s)<<-?\s?["']?[A-Za-z_]/;

function addRun(stage: Stage, instruction: Instruction): void {
  const { text } = instruction;
  const [flag] = /^--[a-z]+/.exec(text) ?? [];
  if (flag === "--mount")
    throw new Error(
      "RUN --mount is not supported. Take it out: steps that have not changed are not done again. Secrets have no place in a build.",
    );
  if (flag !== undefined) throw new Error(`RUN ${flag} is not supported. Take it out.`);
  if (HEREDOC.test(text))
    throw new Error("Texts with << are not supported. Join commands with &&, or COPY a script and run it.");
  if (text === "") throw new Error("RUN names no command.");
  const list = listIn(text);
  if (list?.length === 0) throw new Error("RUN names no command.");
  const argv = list ?? [...stage.shell, text];
  const args = Object.fromEntries([...stage.args].filter(([name]) => !stage.env.has(name)));
  stage.plan.steps.push({ ...stepOf(stage, instruction), kind: "run", argv, args });
}

function addCopy(stage: Stage, instruction: Instruction): void {
  const { word } = instruction;
  const lookup = lookupOf(stage);
  let [rest, chown, mode]: [string, string | undefined, number | undefined] = [instruction.text, undefined, undefined];
  for (let found = FLAG.exec(rest); found; found = FLAG.exec(rest)) {
    const [whole, name = "", value = ""] = found;
    const given = expandWord(value, lookup);
    if (name === "chown") chown = userIn(given);
    else if (name === "chmod" && /^[0-7]{3,4}$/.test(given)) mode = Number.parseInt(given, 8) & 0o777;
    else throw new Error(`${word} --${name} ${FLAG_REASONS[name] ?? "is not supported. Take it out."}`);
    rest = rest.slice(whole.length);
  }
  if (HEREDOC.test(rest)) throw new Error("Texts with << are not supported. Put the text into a file, and COPY it.");
  const words = (listIn(rest) ?? splitWords(rest)).map((one) => expandWord(one, lookup));
  const [to, sources] = [words.at(-1) ?? "", words.slice(0, -1)];
  if (to === "" || sources.length === 0) throw new Error(`${word} takes what it copies, and where to.`);
  const isFolder = to.endsWith("/") || to === "." || to.endsWith("/.") || sources.length > 1;
  const path = posix.resolve(stage.plan.workdir, to);
  stage.plan.steps.push({
    ...stepOf(stage, instruction),
    kind: "copy",
    sources: sources.map((source) => sourceIn(source, word)),
    to: isFolder && path !== "/" ? `${path}/` : path,
    chown,
    mode,
  });
}

const FLAG = /^--([a-z-]+)(?:=(\S+))?(?:\s+|$)/;
const FLAG_REASONS: Readonly<Record<string, string>> = {
  from: "is not supported: one stage is built. Make the file with RUN, or name an image that has it in FROM.",
  chmod: "takes a number, as 755.",
};

/** In the context, whatever way leads there. */
function sourceIn(source: string, word: string): string {
  if (/^[A-Za-z][A-Za-z0-9+.-]*:\/\/|^git@/.test(source))
    throw new Error(
      "ADD of an address is not supported. Download it with RUN, from a host that the environment's `network` allows.",
    );
  if (word === "ADD" && /\.(?:tar|tgz|tbz2?|txz|gz|bz2|xz|zst)$/i.test(source))
    throw new Error("ADD does not unpack archives here. COPY it, and unpack it with RUN.");
  if (source.split("/").includes(".."))
    throw new Error(`${word} leads out of the build's files: ${shorten(source, 100)}`);
  const path = posix.normalize(`/${source}`).replace(/\/$/, "");
  return path === "/" ? "" : path.slice(1);
}
