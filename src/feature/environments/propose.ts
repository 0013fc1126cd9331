/**
 * Proposes an environment from a repository's files, which anybody may have written. A definition in
 * `.skep/environment.yml` comes first; else parts come from `devcontainer.json`, from a Compose file, and from the
 * files of the code's language. The proposal has no effect until a person accepts it.
 */
import { posix } from "node:path";
import { Value } from "@sinclair/typebox/value";
import { attempt } from "../../core/attempt.ts";
import { isObject } from "../../core/is-object.ts";
import { hashJson } from "../../core/json-hash.ts";
import { visibleText } from "../../core/outside-text.ts";
import { COMPOSE_FILES, readCompose } from "./compose.ts";
import { readJsonWithComments } from "./json-comments.ts";
import { type AcceptedDockerfile, Environment, reservedIn } from "./model.ts";
import type { TextOf } from "./stack.ts";
import { findStack, STACK_FILES } from "./stacks.ts";

const OWN = ".skep/environment.yml";
const DEVCONTAINERS = [".devcontainer/devcontainer.json", ".devcontainer.json"];
/** The Dockerfile of a folder without a `devcontainer.json`. */
const DOCKERFILE = ".devcontainer/Dockerfile";
/** All files of a repository that are read. */
export const ENVIRONMENT_FILES: readonly string[] = [
  OWN,
  ...DEVCONTAINERS,
  DOCKERFILE,
  ...COMPOSE_FILES,
  ...STACK_FILES,
];

const MAX_NOTES = 20;
const NOTE_CHARACTERS = 300;

interface Proposal {
  definition: Environment;
  /** The definition to use when its Dockerfile cannot be built. */
  otherwise: Environment;
  files: string[];
  notes: string[];
}

interface Part {
  files: string[];
  definition: Environment;
  notes: string[];
}

/** Parses a text in YAML, and finds what is wrong with it as an environment, with the lines. */
export type ReadOwn = (text: string) => { value: unknown; faults: readonly { line: number; message: string }[] };

/** @returns undefined when no file in the repository says how its code is run. */
export function proposeEnvironment(textOf: TextOf, readOwn: ReadOwn): Proposal | undefined {
  const parts = [
    ownPart(textOf, readOwn),
    devcontainerPart(textOf),
    composePart(textOf, readOwn),
    stackPart(textOf),
  ].filter((part) => part !== undefined);
  const [first] = parts;
  // A definition in Skep's own form is complete: the other files are not used.
  const used = first?.files[0] === OWN ? [first] : parts;
  const files = used.flatMap((part) => part.files);
  if (files.length === 0) return undefined;
  const all: Environment = Object.assign({}, ...used.map((part) => part.definition).reverse());
  const { build, ...otherwise } = all;
  const { image: _, ...rest } = otherwise;
  const definition = build === undefined ? otherwise : { ...rest, build };
  const notes = used.flatMap((part) => part.notes).map((note) => visibleText(note).slice(0, NOTE_CHARACTERS));
  const keepIfValid = (one: Environment) => (Value.Check(Environment, one) ? one : {});
  return {
    definition: keepIfValid(definition),
    otherwise: keepIfValid(otherwise),
    files,
    notes: notes.slice(0, MAX_NOTES),
  };
}

/** Hash of a definition, whatever the order of its members, and of what its Dockerfile builds. */
export const hashOf = (definition: Environment, dockerfile?: AcceptedDockerfile): string =>
  dockerfile === undefined
    ? hashJson(definition)
    : hashJson({ definition, text: dockerfile.text, digest: dockerfile.digest });

function ownPart(textOf: TextOf, readOwn: ReadOwn): Part | undefined {
  const text = textOf(OWN);
  if (text === undefined) return undefined;
  const { value, faults } = readOwn(text);
  const notes = faults.map(({ line, message }) => `${OWN}, line ${line}: ${message}`);
  if (notes.length > 0 || !Value.Check(Environment, value)) return { files: [OWN], definition: {}, notes };
  if (value.image !== undefined && value.build !== undefined)
    return { files: [OWN], definition: {}, notes: [`${OWN}: ${EITHER}`] };
  const reserved = reservedIn(value.env).map((name) => `${OWN}: ${name} is the sandbox's own variable.`);
  return { files: [OWN], definition: reserved.length > 0 ? {} : value, notes: reserved };
}

/** Why a definition with both an image and a build is refused. */
export const EITHER = "Name an `image`, or a `build` that makes one, and not both.";

/** Members of `devcontainer.json` that do not matter for how the code is run. */
const IGNORED = new Set([
  "name",
  "customizations",
  "$schema",
  "remoteUser",
  "containerUser",
  "forwardPorts",
  "settings",
  "extensions",
]);

function devcontainerPart(textOf: TextOf): Part | undefined {
  const path = DEVCONTAINERS.find((file) => textOf(file) !== undefined);
  if (path === undefined) return dockerfilePart(textOf);
  const createFailedPart = (why: string): Part => ({ files: [path], definition: {}, notes: [`${path}: ${why}`] });
  const read = attempt(() => readJsonWithComments(textOf(path) ?? ""));
  if (read === undefined) return createFailedPart("it is not JSON.");
  if (!isObject(read)) return createFailedPart("it is not an object.");
  const notes: string[] = [];
  const definition: Environment = {};
  for (const [key, value] of Object.entries(read)) {
    if (IGNORED.has(key)) continue;
    const part = PARTS[key]?.(value, posix.dirname(path));
    if (part === undefined) notes.push(`${path}: ${key} is not supported${REASONS[key] ?? "."}`);
    else if (!Value.Check(Environment, part)) notes.push(`${path}: ${key} has a value that is not supported.`);
    else if (reservedIn(part.env).length > 0)
      notes.push(`${path}: containerEnv names a variable of the sandbox's own.`);
    else Object.assign(definition, part);
  }
  return { files: [path], definition, notes };
}

function dockerfilePart(textOf: TextOf): Part | undefined {
  if (textOf(DOCKERFILE) === undefined) return undefined;
  const build = { dockerfile: DOCKERFILE, context: posix.dirname(DOCKERFILE) };
  return { files: [DOCKERFILE], definition: { build }, notes: [] };
}

/**
 * Paths in `devcontainer.json` are relative to its folder; an environment's paths are relative to the top of the
 * repository.
 */
function buildIn(value: unknown, folder: string): Record<string, unknown> {
  if (!isObject(value)) return { build: value };
  const { dockerfile, context = ".", cacheFrom: _, ...others } = value;
  const joinFolder = (path: unknown) => (typeof path === "string" ? posix.join(folder, path) : path);
  return { build: { ...others, dockerfile: joinFolder(dockerfile), context: joinFolder(context) } };
}

/** Converts members of `devcontainer.json` to members of an environment. */
const PARTS: Readonly<Record<string, (value: unknown, folder: string) => Record<string, unknown> & { env?: unknown }>> =
  {
    image: (image) => ({ image }),
    build: buildIn,
    dockerFile: (dockerfile, folder) => buildIn({ dockerfile }, folder),
    containerEnv: (env) => ({ env }),
    postCreateCommand: (setup) => ({ setup }),
  };

const REASONS: Readonly<Record<string, string>> = {
  features: ": features are programs of others that run as root. Put what is needed into the image.",
  dockerComposeFile: ": services are read from a Compose file at the top of the repository.",
  service: ": name an image, and what runs beside it as `services` in .skep/environment.yml.",
  runServices: ": name what runs beside the image as `services` in .skep/environment.yml.",
  mounts: ": a sandbox sees the workspace alone.",
  runArgs: ": how a sandbox is started is the server's.",
  privileged: ": a sandbox has no privileges.",
  capAdd: ": a sandbox has no privileges.",
  initializeCommand: ": it would run on the server's machine.",
};

function composePart(textOf: TextOf, readOwn: ReadOwn): Part | undefined {
  const path = COMPOSE_FILES.find((file) => textOf(file) !== undefined);
  if (path === undefined) return undefined;
  const { services, notes } = readCompose(readOwn(textOf(path) ?? "").value);
  const definition = Object.keys(services).length > 0 ? { services } : {};
  return { files: [path], definition, notes: notes.map((note) => `${path}: ${note}`) };
}

function stackPart(textOf: TextOf): Part | undefined {
  const { files, definition, notes = [] } = findStack(textOf) ?? {};
  return files && definition && { files, definition, notes };
}
