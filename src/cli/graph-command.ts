/** What the `skep graph` commands share: where a folder's graph is stored, its processes, and how a command ends. */
import { createHash } from "node:crypto";
import { existsSync, statSync } from "node:fs";
import { homedir } from "node:os";
import { basename, join, resolve } from "node:path";
import { type Command, InvalidArgumentError, Option } from "commander";
import { isProblem, Problem } from "../core/errors.ts";
import type { Unclear } from "../graph/query/symbols.ts";
import { createGraphClient, type GraphClient } from "../graph/serve/client.ts";
import { createGraphSession, type GraphPlace, type GraphSession } from "../graph/serve/session.ts";
import { unpackAddonsTo } from "../process/addons.ts";
import { selfCommand } from "../process/self-command.ts";

export interface Common {
  store?: string;
  json?: boolean;
}

/** Size limit of an answer on the terminal, larger than that for a model. */
export const TERMINAL_BYTES = 64_000;
export function withCommon(command: Command): Command {
  return command
    .addOption(new Option("--store <dir>", "folder of the graph (default: in the user's cache folder)"))
    .option("--json", "print JSON instead of text, as the API answers");
}

export function placeOf(path: string, options: Common): GraphPlace {
  const root = resolve(path);
  if (!existsSync(root) || !statSync(root).isDirectory())
    throw new Problem(404, "bad_usage", `There is no folder ${root}.`);
  return { root, store: options.store ? resolve(options.store) : defaultStore(root) };
}

/** Opens the graph in a separate process, which uses less memory and may crash without ending this one. */
export const clientOf = (options: Common): GraphClient =>
  createGraphClient({ command: selfCommand("graph-worker", addonsOf(options)) });

export function open(path: string, options: Common): GraphSession {
  const place = placeOf(path, options);
  unpackAddonsTo(addonsOf(options));
  return createGraphSession(place);
}

const cacheFolder = (): string => join(process.env["XDG_CACHE_HOME"] || join(homedir(), ".cache"), "skep");
const addonsOf = ({ store }: Common): string => join(store ? resolve(store) : cacheFolder(), "addons");

/** The folder for a repository's graph in the user's cache, named by the repository and a hash of its path. */
function defaultStore(root: string): string {
  const hash = createHash("sha256").update(root).digest("hex").slice(0, 12);
  return join(cacheFolder(), "graph", `${basename(root)}-${hash}`);
}

/** Exits at once, without closing the graph database in order. Call this only when all output is written. */
export function leave(code: number): never {
  const { reallyExit } = process;
  return reallyExit(code);
}

export function print(text: string): Promise<void> {
  return new Promise((done) => process.stdout.write(`${text}\n`, () => done()));
}

/** Wraps a command's work: an expected failure prints one line. */
export function wrapAction<Args extends unknown[]>(
  work: (...args: Args) => Promise<void>,
): (...args: Args) => Promise<void> {
  return async (...args) => {
    try {
      await work(...args);
    } catch (error) {
      if (isProblem(error) && error.code === "not_indexed")
        throw new Problem(409, error.code, `${error.detail} Make one with: skep graph index PATH`);
      throw error;
    }
    leave(0);
  };
}

export function createWholeParser(min: number, max: number): (text: string) => number {
  return (text) => {
    const value = Number(text);
    if (!Number.isInteger(value) || value < min || value > max)
      throw new InvalidArgumentError(`It takes a whole number from ${min} to ${max}.`);
    return value;
  };
}

/**
 * Prints an answer about a symbol. With --json it also prints the candidates if several symbols have the name.
 * @throws Problem 404 if no symbol has the name, 409 if several have it.
 */
export async function printFound<One extends { found: "one" }>(
  found: One | Unclear,
  { json }: Common,
  said: { json: (one: One) => unknown; text: string },
): Promise<void> {
  if (found.found === "none") throw notFound(found.name, found.near);
  if (found.found === "one") return print(json ? JSON.stringify(said.json(found)) : said.text);
  if (!json) throw new Problem(409, "several", said.text.split("\n").join(" "));
  await print(JSON.stringify({ candidates: found.candidates }));
}

function notFound(symbol: string, near: readonly string[]): Problem {
  return new Problem(
    404,
    "not_found",
    `There is no symbol ${symbol}.${near.length > 0 ? ` Near names: ${near.join(", ")}.` : ""}`,
  );
}
