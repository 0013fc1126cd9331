/** Reads what a command is given besides its arguments: files, standard input, and secret values. */

import { readFileSync, statSync } from "node:fs";
import { basename } from "node:path";
import { badUsage, unreadable } from "../core/errors.ts";
import { readJson } from "../core/json-reader.ts";
import { askHidden } from "./terminal/ask.ts";

/** Reads a file as text, or standard input for `-`. @throws Problem 422 `unreadable`. */
export async function readText(file: string): Promise<string> {
  if (file === "-") {
    if (process.stdin.isTTY) throw unreadable("Nothing comes on standard input: pipe the text in.");
    return textOf(await Bun.stdin.bytes(), "What comes on standard input");
  }
  const found = statSync(file, { throwIfNoEntry: false });
  if (!found) throw unreadable(`There is no file ${file}.`);
  if (found.isDirectory()) throw unreadable(`${file} is a folder, not a file.`);
  return textOf(readFileSync(file), file);
}

/** Decodes bytes as UTF-8. Invalid bytes are refused, since replacement characters would lose the original content. */
function textOf(bytes: Uint8Array, what: string): string {
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch {
    throw unreadable(`${what} is not text in UTF-8.`);
  }
}

/** Reads a file that is to be sent. @throws Problem 422 `unreadable`. */
export async function readFile(path: string): Promise<File> {
  assertFile(path);
  return new File([await Bun.file(path).arrayBuffer()], basename(path));
}

/** Reads a file that is to be sent; `-` reads standard input. @throws Problem 422 `unreadable`. */
export async function readFileOrInput(path: string): Promise<File> {
  if (path !== "-") return readFile(path);
  if (process.stdin.isTTY) throw unreadable("Nothing comes on standard input: pipe the file in.");
  return new File([await Bun.stdin.arrayBuffer()], "input");
}

/**
 * `-` means standard input or output in every command. A command that needs a file, for its name or to read it twice,
 * refuses `-`. @throws Problem 422 `bad_usage`.
 */
export function assertPath(path: string): void {
  if (path === "-")
    throw badUsage("This command needs a file: - stands for standard input or output. A file called - is ./-");
}

/** Checks that a path is a file or a pipe. @throws Problem 422 `bad_usage`, `unreadable`. */
export function assertFile(path: string): void {
  assertPath(path);
  const found = statSync(path, { throwIfNoEntry: false });
  if (found?.isDirectory()) throw unreadable(`${path} is a folder, not a file.`);
  if (!found?.isFile() && !found?.isFIFO()) throw unreadable(`There is no file ${path}.`);
}

/**
 * Reads a secret, which is never an argument because other users can read those. It comes from a variable, a file, or a
 * question without echo. Without a terminal, it is the whole of standard input.
 */
export async function readSecret(what: string, from: { env?: string; file?: string }): Promise<string> {
  const value = await secretFrom(what, from);
  if (value === "") throw badUsage(`The ${what} is empty.`);
  return value;
}

async function secretFrom(what: string, { env, file }: { env?: string; file?: string }): Promise<string> {
  if (env !== undefined) {
    const value = process.env[env]?.trim();
    if (!value) throw badUsage(`The variable ${env} is empty.`);
    return value;
  }
  if (file !== undefined) return (await readText(file)).replace(/\r?\n$/, "");
  if (process.stdin.isTTY) return (await askHidden(what)).trim();
  return (await Bun.stdin.text()).trim();
}

/**
 * Parses `name=value` pairs. A value is parsed as JSON if it is valid JSON, else it is text. @throws Problem 422
 * `bad_usage`.
 */
export function readPairs(pairs: readonly string[]): Record<string, unknown> {
  const values: Record<string, unknown> = {};
  for (const pair of pairs) {
    const at = pair.indexOf("=");
    if (at < 1) throw badUsage(`${pair}: give NAME=VALUE.`);
    values[pair.slice(0, at)] = parsedValue(pair.slice(at + 1));
  }
  return values;
}

function parsedValue(text: string): unknown {
  if (!/^(null|true|false|-?\d|\[|\{|")/.test(text)) return text;
  try {
    return readJson(text);
  } catch {
    return text;
  }
}
