/**
 * Turns a Dockerfile into build steps with their variables filled in. Each stage begins with an image or an earlier
 * stage, and runs commands and copies files. The last stage is the image; stages that it does not use are not built.
 * What cannot be done exactly is refused with its line, and with what to write instead. Nothing is skipped silently
 * that changes the image's files or variables.
 */
import { posix } from "node:path";
import { Value } from "@sinclair/typebox/value";
import { ImageName } from "../image-name.ts";
import { pathInContext, pathInImage } from "./copy-paths.ts";
import { DOCKERFILE_LIMITS, DockerfileFault, type Instruction, readInstructions } from "./lines.ts";
import { expandWord, type Lookup, listIn, splitWords } from "./words.ts";

interface Step {
  line: number;
  /** The instruction as it was written, for people. */
  text: string;
  /** Variables of the image at this step: its own and those of `ENV`. */
  env: Readonly<Record<string, string>>;
  workdir: string;
  /** `name` or `uid`, with `:group` if the file names one. */
  user: string;
}
export interface RunStep extends Step {
  kind: "run";
  argv: readonly string[];
  /** Values of `ARG`, for this command only. */
  args: Readonly<Record<string, string>>;
}
export interface CopyStep extends Step {
  kind: "copy";
  /** Paths in the context, from its top; may contain `*`, `?` and `[…]`. "" is the whole context. */
  sources: readonly string[];
  /** Absolute path; with a trailing slash, it is a folder. */
  to: string;
  /**
   * Image or stage that the sources are copied from, as paths from its top. Undefined: they are files of the context.
   */
  from?: Origin | undefined;
  chown: string | undefined;
  mode: number | undefined;
}
export type BuildStep = RunStep | CopyStep;

/** An earlier stage, by its position in the file; or an image. */
export type Origin = { stage: number } | { image: string };

interface StagePlan {
  from: Origin;
  steps: BuildStep[];
  env: Readonly<Record<string, string>>;
  workdir: string;
  /** Whether it is the last stage, or the last stage uses it. */
  isNeeded: boolean;
}

export interface BuildPlan {
  /** Name of the image that the last stage begins with, directly or through earlier stages. */
  image: string;
  /** Images of all stages that are needed. */
  images: string[];
  stages: StagePlan[];
  /** Steps of all stages that are needed, in the order of the file. */
  steps: BuildStep[];
  /** Variables and working directory that the last stage leaves. */
  env: Readonly<Record<string, string>>;
  workdir: string;
}

/** What an image's own configuration says. */
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

/** Instructions that affect neither the image's files nor how an agent's commands run in it; they are ignored. */
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

interface Reading {
  baseOf(image: string): BaseImage;
  /** Values of `ARG` given from outside; they override the defaults. */
  given: Readonly<Record<string, string>>;
  /** Values of `ARG` before the first `FROM`. */
  before: Map<string, string>;
  stages: Stage[];
  /** Layers of all stages together. */
  layers: number;
}

interface Stage {
  reading: Reading;
  name: string | undefined;
  from: Origin;
  steps: BuildStep[];
  args: Map<string, string>;
  env: Map<string, string>;
  workdir: string;
  shell: readonly string[];
  user: string;
}

/** @param given values of `ARG`s. @throws DockerfileFault. */
export function planBuild(
  text: string,
  given: Readonly<Record<string, string>> = {},
  baseOf: (image: string) => BaseImage = () => NO_BASE,
): BuildPlan {
  const reading: Reading = { baseOf, given, before: new Map(), stages: [], layers: 0 };
  for (const instruction of readInstructions(text)) perform(reading, instruction);
  const last = reading.stages.at(-1);
  if (!last) throw new DockerfileFault(1, "It has no FROM: begin with the image that it is made of.");
  const needed = stagesFor(reading.stages);
  const stages = reading.stages.map(({ from, steps, env, workdir }, at) => {
    return { from, steps, env: Object.fromEntries(env), workdir, isNeeded: needed.has(at) };
  });
  const steps = stages.flatMap((stage) => (stage.isNeeded ? stage.steps : []));
  const images = stages.flatMap((stage) => (stage.isNeeded ? originsOf(stage).flatMap(imageIn) : []));
  const { env, workdir } = stages.at(-1) ?? { env: {}, workdir: "/" };
  return { image: rootOf(reading.stages, last.from), images: [...new Set(images)], stages, steps, env, workdir };
}

const originsOf = ({ from, steps }: Pick<Stage, "from" | "steps">): Origin[] => [
  from,
  ...steps.flatMap((step) => (step.kind === "copy" && step.from ? [step.from] : [])),
];

const imageIn = (origin: Origin): string[] => ("image" in origin ? [origin.image] : []);

/** The image at the root of a stage. It terminates because stages only begin with earlier stages. */
const rootOf = (stages: readonly Stage[], from: Origin): string =>
  "image" in from ? from.image : rootOf(stages, stages[from.stage]?.from ?? { image: "" });

/** The last stage and all stages that it uses, directly or not. */
function stagesFor(stages: readonly Stage[]): Set<number> {
  const needed = new Set([stages.length - 1]);
  for (let at = stages.length - 1; at >= 0; at--) {
    const stage = stages[at];
    if (!stage || !needed.has(at)) continue;
    for (const origin of originsOf(stage)) if ("stage" in origin) needed.add(origin.stage);
  }
  return needed;
}

function perform(reading: Reading, instruction: Instruction): void {
  const { word, line } = instruction;
  if (word === "FROM") return inWords(line, () => beginStage(reading, instruction));
  const stage = reading.stages.at(-1);
  if (word === "ARG") return inWords(line, () => declareArgs(reading, stage, instruction));
  if (!stage)
    throw new DockerfileFault(
      line,
      `${shorten(word, 40)} stands before FROM: begin with the image that it is made of.`,
    );
  const act = ACTS[word];
  if (act) return inWords(line, () => act(stage, instruction));
  if (PASSED_OVER.has(word)) return;
  if (word === "ONBUILD")
    throw new DockerfileFault(
      line,
      "ONBUILD is for other Dockerfiles. Write its instruction in the one that needs it.",
    );
  throw new DockerfileFault(line, `${shorten(word, 40)} is not an instruction that is supported here.`);
}

/** Adds the line to errors of the functions that parse words. */
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
  ENV: setVariables,
  RUN: addRun,
  COPY: addCopy,
  ADD: addCopy,
  WORKDIR: (stage, { text }) => {
    const folder = expandWord(text, lookupOf(stage));
    if (folder === "") throw new Error("WORKDIR names no folder.");
    stage.workdir = posix.resolve(stage.workdir, folder);
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

function beginStage(reading: Reading, { text }: Instruction): void {
  const { stages, before } = reading;
  if (stages.length >= DOCKERFILE_LIMITS.stages)
    throw new Error(`There are more than ${DOCKERFILE_LIMITS.stages} stages. Join some.`);
  const words = splitWords(text).map((word) => expandWord(word, (name) => before.get(name)));
  const [image = "", as, name] = words;
  if (image.startsWith("--"))
    throw new Error("FROM --platform is not supported: the image is the engine's own platform's.");
  const isNamed = words.length === 3 && as?.toUpperCase() === "AS" && name !== undefined;
  if (words.length !== 1 && !isNamed) throw new Error("FROM takes one image.");
  if (isNamed && !STAGE_NAME.test(name)) throw new Error(`This is no name of a stage: ${shorten(name, 100)}`);
  const at = stageNamed(stages, image);
  const parent = stages[at];
  const named = isNamed ? { name: name.toLowerCase() } : { name: undefined };
  if (parent) {
    const [args, env] = [new Map(parent.args), new Map(parent.env)];
    stages.push({ ...parent, ...named, from: { stage: at }, steps: [], args, env });
    return;
  }
  if (image === "scratch") throw new Error("FROM scratch has no shell. Begin with an image that has one.");
  if (!Value.Check(ImageName, image)) throw new Error(`FROM names no image: ${shorten(image, 100)}`);
  const base = reading.baseOf(image);
  stages.push({
    reading,
    ...named,
    from: { image },
    steps: [],
    args: new Map(),
    env: new Map(Object.entries(base.env)),
    workdir: posix.resolve("/", base.workdir),
    shell: ["/bin/sh", "-c"],
    user: base.user === "" ? "root" : base.user,
  });
}

const STAGE_NAME = /^[A-Za-z][A-Za-z0-9._-]{0,99}$/;

/** Index of the stage with this name, the later one if there are two. @returns -1 when there is none. */
const stageNamed = (stages: readonly Stage[], name: string): number =>
  stages.findLastIndex((stage) => stage.name === name.toLowerCase());

/** Variables of `ENV` override those of `ARG`, as in every builder. */
const lookupOf =
  ({ args, env }: Stage): Lookup =>
  (name) =>
    env.get(name) ?? args.get(name);

function declareArgs({ before, given }: Reading, stage: Stage | undefined, { text }: Instruction): void {
  const into = stage?.args ?? before;
  const lookup = stage ? lookupOf(stage) : (key: string) => before.get(key);
  const words = splitWords(text);
  if (words.length === 0) throw new Error("ARG names nothing.");
  for (const word of words) {
    const at = word.indexOf("=");
    const name = at < 0 ? word : word.slice(0, at);
    assertVariable(name, "ARG");
    const own = at < 0 ? undefined : expandWord(word.slice(at + 1), lookup);
    // Without a default of its own, it takes the value from before FROM.
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

/** The members that every step has. @throws Error when there are too many steps. */
function stepOf({ reading, env, user, workdir }: Stage, { line, word, text }: Instruction): Step {
  if (++reading.layers > DOCKERFILE_LIMITS.layers)
    throw new Error(`There are more than ${DOCKERFILE_LIMITS.layers} RUN, COPY and ADD. Join commands with &&.`);
  return { line, text: shorten(`${word} ${text}`), env: Object.fromEntries(env), workdir, user };
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
  stage.steps.push({ ...stepOf(stage, instruction), kind: "run", argv, args });
}

function addCopy(stage: Stage, instruction: Instruction): void {
  const { word } = instruction;
  const lookup = lookupOf(stage);
  let [rest, chown, mode]: [string, string | undefined, number | undefined] = [instruction.text, undefined, undefined];
  let from: Origin | undefined;
  for (let found = FLAG.exec(rest); found; found = FLAG.exec(rest)) {
    const [whole, name = "", value = ""] = found;
    const given = expandWord(value, lookup);
    if (name === "chown") chown = userIn(given);
    else if (name === "from" && word === "COPY") from = originIn(stage, value);
    else if (name === "chmod" && /^[0-7]{3,4}$/.test(given)) mode = Number.parseInt(given, 8) & 0o777;
    else throw new Error(`${word} --${name} ${FLAG_REASONS[name] ?? "is not supported. Take it out."}`);
    rest = rest.slice(whole.length);
  }
  if (HEREDOC.test(rest)) throw new Error("Texts with << are not supported. Put the text into a file, and COPY it.");
  const words = (listIn(rest) ?? splitWords(rest)).map((one) => expandWord(one, lookup));
  const [to, sources] = [words.at(-1) ?? "", words.slice(0, -1)];
  if (to === "" || sources.length === 0) throw new Error(`${word} takes what it copies, and where to.`);
  const isFolder = to.endsWith("/") || to === "." || to.endsWith("/.") || sources.length > 1;
  const path = posix.resolve(stage.workdir, to);
  stage.steps.push({
    ...stepOf(stage, instruction),
    kind: "copy",
    sources: sources.map((source) => (from ? pathInImage(source) : pathInContext(source, word))),
    from,
    to: isFolder && path !== "/" ? `${path}/` : path,
    chown,
    mode,
  });
}

const FLAG = /^--([a-z-]+)(?:=(\S+))?(?:\s+|$)/;
const FLAG_REASONS: Readonly<Record<string, string>> = {
  chmod: "takes a number, as 755.",
};

/** Resolves the source of `COPY --from`: an earlier stage by its name or number, or an image. */
function originIn({ reading: { stages } }: Stage, text: string): Origin {
  const earlier = stages.slice(0, -1);
  const at = /^\d{1,3}$/.test(text) ? Number(text) : stageNamed(earlier, text);
  if (earlier[at]) return { stage: at };
  if (/^\d{1,3}$/.test(text) || stageNamed(stages, text) >= 0 || text === "scratch" || !Value.Check(ImageName, text))
    throw new Error(`COPY --from names no earlier stage and no image: ${shorten(text, 100)}`);
  return { image: text };
}
