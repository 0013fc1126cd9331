/**
 * Reads configuration files that list tool servers: `mcpServers` of editors and desktop programs, and `server.json` of
 * the MCP registry. It starts nothing; the servers are registered switched off.
 */
import { createHash } from "node:crypto";
import { Value } from "@sinclair/typebox/value";
import { invalidField } from "../../core/errors.ts";
import { isSlug } from "../../core/ids.ts";
import { LIMITS } from "../../core/limits.ts";
import { wrongWords } from "../../core/schema-words.ts";
import { fieldName } from "../../http/problem.ts";
import { McpCreate, RESERVED_IDS } from "./model.ts";

interface ReadServer {
  /** The server's name in the file. */
  name: string;
  server?: McpCreate;
  /** Why the server is left out. */
  reason?: string;
}

type Json = Record<string, unknown>;
const isObject = (value: unknown): value is Json =>
  typeof value === "object" && value !== null && !Array.isArray(value);
const textOf = (value: unknown): string | undefined => (typeof value === "string" && value !== "" ? value : undefined);
const listOf = (value: unknown): Json[] => (Array.isArray(value) ? value.filter(isObject) : []);

/** @throws Problem 422 when the file is in neither of the two formats. */
export function readConfig(config: Json, image: string | undefined): ReadServer[] {
  const servers = config["mcpServers"] ?? config["servers"];
  if (isObject(servers))
    return Object.entries(servers)
      .slice(0, LIMITS.mcpServers)
      .map(([name, one]) => attempt(name, () => parseConfigured(name, one, image)));
  const entry = isObject(config["server"]) ? config["server"] : config;
  const name = textOf(entry["name"]);
  if (name !== undefined && (Array.isArray(entry["packages"]) || Array.isArray(entry["remotes"])))
    return [attempt(name, () => parsePublished(name, entry, image))];
  throw invalidField("/config", "This is neither a file with `mcpServers` nor a `server.json` of the MCP registry");
}

class LeftOut extends Error {}

function attempt(name: string, read: () => McpCreate): ReadServer {
  const shown = name.slice(0, LIMITS.nameCharacters);
  try {
    const server = read();
    const wrong = Value.Errors(McpCreate, server).First();
    if (wrong) throw new LeftOut(`${fieldName("body", wrong.path)} ${wrongWords(wrong)}.`);
    return { name: shown, server };
  } catch (error) {
    if (error instanceof LeftOut) return { name: shown, reason: error.message };
    throw error;
  }
}

/** Makes an id from a name: its last part, in the characters that ids may have. */
function idOf(name: string): string {
  const last = name.toLowerCase().split("/").at(-1) ?? "";
  const slug = last
    .replace(/[^a-z0-9]+/g, "-")
    .replace(/^-+|(?<!-)-+$/g, "")
    .slice(0, 40);
  if (isSlug(slug) && !RESERVED_IDS.has(slug)) return slug;
  return `${slug === "" ? "server" : slug}-${createHash("sha256").update(name).digest("hex").slice(0, 6)}`;
}

const valuesOf = (value: unknown, what: string): Record<string, string> => {
  if (value === undefined) return {};
  if (!isObject(value)) throw new LeftOut(`Its ${what} is not an object.`);
  return Object.fromEntries(
    Object.entries(value).map(([name, one]) => {
      if (typeof one === "object") throw new LeftOut(`${name} in its ${what} is not text.`);
      return [name, String(one)];
    }),
  );
};

function parseConfigured(name: string, one: unknown, image: string | undefined): McpCreate {
  if (!isObject(one)) throw new LeftOut("It is not an object.");
  const base = { id: idOf(name), name, enabled: false };
  const type = textOf(one["type"] ?? one["transport"])?.toLowerCase();
  const url = textOf(one["url"] ?? one["serverUrl"] ?? one["httpUrl"]);
  if (url !== undefined)
    return {
      ...base,
      transport: type === "sse" ? "sse" : "http",
      url,
      headers: valuesOf(one["headers"], "headers"),
    };
  const command = textOf(one["command"]);
  if (command === undefined) throw new LeftOut("It names neither a command nor an address.");
  const args = one["args"] ?? [];
  if (!Array.isArray(args) || !args.every((arg) => typeof arg === "string"))
    throw new LeftOut("Its args are not a list of strings.");
  const given = { command, args, env: valuesOf(one["env"], "env") };
  return {
    ...base,
    transport: "stdio",
    ...(dockerRun(given) ?? { ...given, image: textOf(one["image"]) ?? image ?? null }),
  };
}

/**
 * Reads `docker run … IMAGE ARGS`, as desktop programs' files have it. Only the image, its arguments and variables
 * matter.
 */
function dockerRun({ command, args, env }: { command: string; args: string[]; env: Record<string, string> }) {
  if (!/(^|\/)(docker|podman)$/.test(command) || args[0] !== "run") return undefined;
  const own = { ...env };
  const withValue =
    /^(-e|--env|-v|--volume|--mount|--name|--network|--net|-w|--workdir|-u|--user|-p|--publish|--entrypoint|--platform)$/;
  let at = 1;
  for (; at < args.length && args[at]!.startsWith("-"); at++) {
    if (!withValue.test(args[at]!)) continue;
    const value = args[at + 1] ?? "";
    const [, name, given] = /^([^=]+)=([\s\S]*)$/.exec(value) ?? [];
    if (/^(-e|--env)$/.test(args[at]!) && name !== undefined) own[name] = given ?? "";
    at++;
  }
  const image = args[at];
  if (image === undefined) throw new LeftOut("Its `docker run` names no image.");
  return { command: null, args: args.slice(at + 1), env: own, image };
}

/** How to run a package, by the name of its registry. */
const RUNNERS: Readonly<Record<string, (id: string, version: string | undefined) => [string, string[]]>> = {
  npm: (id, version) => ["npx", ["-y", version ? `${id}@${version}` : id]],
  pypi: (id, version) => ["uvx", [version ? `${id}==${version}` : id]],
  nuget: (id, version) => ["dnx", ["--yes", version ? `${id}@${version}` : id]],
};

function parsePublished(name: string, entry: Json, image: string | undefined): McpCreate {
  const base = {
    id: idOf(name),
    name: textOf(entry["title"]) ?? name,
    description: (textOf(entry["description"]) ?? "").slice(0, 4_000),
    enabled: false,
  };
  const remote = listOf(entry["remotes"]).find(({ url }) => typeof url === "string");
  if (remote)
    return {
      ...base,
      transport: remote["type"] === "sse" ? "sse" : "http",
      url: String(remote["url"]),
      headers: readPlaceholders(remote["headers"]),
    };
  for (const pack of listOf(entry["packages"])) {
    const id = textOf(pack["identifier"] ?? pack["name"]);
    const kind = textOf(pack["registryType"] ?? pack["registry_name"])?.toLowerCase() ?? "";
    const version = textOf(pack["version"]);
    if (id === undefined) continue;
    const own = argumentsOf(pack["packageArguments"] ?? pack["package_arguments"]);
    const env = readPlaceholders(pack["environmentVariables"] ?? pack["environment_variables"]);
    if (kind === "oci" || kind === "docker") {
      const tagged = version !== undefined && !/[:@]/.test(id.slice(id.lastIndexOf("/") + 1)) ? `${id}:${version}` : id;
      return { ...base, transport: "stdio", command: null, args: own, env, image: tagged };
    }
    const runner = RUNNERS[kind]?.(id, version);
    if (runner)
      return {
        ...base,
        transport: "stdio",
        command: runner[0],
        args: [...runner[1], ...own],
        env,
        image: image ?? null,
      };
  }
  throw new LeftOut("It has neither an address nor a package of a kind that can be run here (oci, npm, pypi, nuget).");
}

/**
 * Variables and headers with what the file says of them. A secret value becomes a reference to a stored secret, which
 * is still to be stored.
 */
function readPlaceholders(given: unknown): Record<string, string> {
  return Object.fromEntries(
    listOf(given).flatMap((one) => {
      const name = textOf(one["name"]);
      if (name === undefined) return [];
      const value = textOf(one["value"] ?? one["default"]);
      if (value !== undefined && !/[{}]/.test(value)) return [[name, value]];
      const isNeeded = one["isSecret"] === true || one["isRequired"] === true || value !== undefined;
      return isNeeded ? [[name, `\${secret:${name.replace(/[^A-Za-z0-9_]/g, "_").toUpperCase()}}`]] : [];
    }),
  );
}

function argumentsOf(given: unknown): string[] {
  return listOf(given).flatMap((one) => {
    const value = textOf(one["value"] ?? one["default"]);
    const name = textOf(one["name"]);
    if (one["type"] === "named" && name !== undefined) return value === undefined ? [name] : [name, value];
    return value === undefined ? [] : [value];
  });
}
