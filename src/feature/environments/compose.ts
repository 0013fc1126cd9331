/**
 * Reads the services that a repository's Compose file starts from images. Services that it builds are the project's own
 * code, which agents already have.
 */
import { Value } from "@sinclair/typebox/value";
import { isObject } from "../../core/is-object.ts";
import { EnvironmentServices } from "../environment-services/model.ts";

export const COMPOSE_FILES = ["compose.yaml", "compose.yml", "docker-compose.yml", "docker-compose.yaml"] as const;

/** Members that do not matter for a service beside a run, or that are read by name. */
const IGNORED = new Set([
  "image",
  "environment",
  "command",
  "healthcheck",
  "container_name",
  "depends_on",
  "expose",
  "hostname",
  "labels",
  "networks",
  "ports",
  "profiles",
  "restart",
]);
const MOST = 50;

/**
 * @param value the parsed file; undefined when it cannot be read. @returns the services that can run, and notes on what
 * was left out.
 */
export function readCompose(value: unknown): { services: EnvironmentServices; notes: string[] } {
  const services: EnvironmentServices = {};
  const notes: string[] = [];
  const all = isObject(value) ? value["services"] : undefined;
  if (!isObject(all)) return { services, notes: ["its services cannot be read."] };
  for (const [name, given] of Object.entries(all).slice(0, MOST)) {
    const found = isObject(given) ? serviceIn(given) : "it is not an object";
    if (typeof found === "string") notes.push(`the service ${name} is left out: ${found}.`);
    else if (!Value.Check(EnvironmentServices, { ...services, [name]: found.service }))
      notes.push(
        `the service ${name} is left out: its name or one of its values is not supported, or there are too many.`,
      );
    else {
      Object.assign(services, { [name]: found.service });
      if (found.others.length > 0) notes.push(`of the service ${name} is left out: ${found.others.join(", ")}.`);
    }
  }
  return { services, notes };
}

/** Converts a service of the Compose file; a string says why it cannot be converted. */
function serviceIn(given: Record<string, unknown>): { service: Record<string, unknown>; others: string[] } | string {
  const { image, environment, command, healthcheck } = given;
  if (given["build"] !== undefined) return "it is built from the repository";
  if (typeof image !== "string") return "it names no image";
  const env = variablesIn(environment);
  const args = argumentsIn(command);
  const health = isObject(healthcheck) ? healthIn(healthcheck["test"]) : undefined;
  // In Compose, a dollar sign refers to a variable of the machine on which Compose runs.
  const texts = [image, ...Object.values(env ?? {}), ...(args ?? [])];
  if (texts.some((text) => text.includes("$"))) return "it has variables of the machine";
  const others = Object.keys(given).filter((key) => !IGNORED.has(key));
  if (environment !== undefined && env === undefined) others.push("environment");
  if (command !== undefined && args === undefined) others.push("command");
  if (healthcheck !== undefined && health === undefined) others.push("healthcheck");
  const parts = Object.entries({ image, env, command: args, health }).filter(([, part]) => part !== undefined);
  return { service: Object.fromEntries(parts), others };
}

function variablesIn(given: unknown): Record<string, string> | undefined {
  const pairs = Array.isArray(given)
    ? given.map((line): [string, unknown] => {
        const [name = "", ...rest] = String(line).split("=");
        return [name, rest.join("=")];
      })
    : isObject(given)
      ? Object.entries(given)
      : undefined;
  if (pairs?.some(([, value]) => isObject(value) || Array.isArray(value))) return undefined;
  return pairs && Object.fromEntries(pairs.map(([name, value]) => [name, String(value ?? "")]));
}

/** Splits a text at blanks. Undefined for a text with quotes or backslashes, which would need a shell. */
function argumentsIn(given: unknown): string[] | undefined {
  if (Array.isArray(given)) return given.map(String);
  if (typeof given !== "string" || /["'\\]/.test(given)) return undefined;
  const words = given.split(/\s/).filter(Boolean);
  return words.length > 0 ? words : undefined;
}

/** The health command. Compose writes a dollar sign as two. */
function healthIn(test: unknown): string | undefined {
  if (typeof test === "string") return test.replaceAll("$$", "$");
  if (!Array.isArray(test)) return undefined;
  const [kind, ...rest] = test.map(String);
  if (kind === "CMD-SHELL") return rest.join(" ").replaceAll("$$", "$");
  return kind === "CMD" && rest.every((word) => /^[\w@%+=:,./-]+$/.test(word)) ? rest.join(" ") : undefined;
}
