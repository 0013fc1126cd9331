/** Checks that what the documentation mentions exists: options with their defaults, commands, flags, linked pages. */
import { describe, expect, test } from "bun:test";
import { existsSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import type { Command } from "commander";
import { FEATURES } from "../../app/features.ts";
import { createProgram } from "../../cli/commands.ts";
import { flagOf, OPTIONS } from "../../core/config.ts";
import type { EventDefinition } from "../../core/events.ts";
import { lacks } from "../parts.ts";

const ROOT = resolve(import.meta.dir, "../../..");
const pages = [
  "README.md",
  "CONTRIBUTING.md",
  "CHANGELOG.md",
  ...readdirSync(join(ROOT, "docs"))
    .filter((name) => name.endsWith(".md"))
    .map((name) => `docs/${name}`),
].map((path) => ({ path, text: readFileSync(join(ROOT, path), "utf8") }));

const anchorOf = (heading: string) =>
  heading
    .toLowerCase()
    .replace(/[^\p{L}\p{N} _-]/gu, "")
    .replaceAll(" ", "-");

describe("documentation", () => {
  test("configuration.md lists every option with its default, what it accepts and what it does", () => {
    const { text } = pages.find(({ path }) => path === "docs/configuration.md")!;
    for (const { env, default: value, accepts, about } of Object.values(OPTIONS)) {
      const shown = value === undefined || Array.isArray(value) ? "" : `\`${value}\``;
      expect(text).toContain(`| \`${env}\` | ${shown} | ${accepts} | ${about} |\n`);
    }
    const named = [...text.matchAll(/^\| `([A-Z_]+)` \|/gm)].map(([, env]) => env!);
    expect(named.sort()).toEqual(
      Object.values(OPTIONS)
        .map(({ env }) => env as string)
        .sort(),
    );
  });

  test("events.md lists every kind of event with what it carries (UPDATE_DOCS=1 writes the table)", () => {
    const path = join(ROOT, "docs/events.md");
    const [head, rest] = readFileSync(path, "utf8").split(/(?<=^## Kinds\n\n)/m);
    const [, ...after] = rest!.split(/\n\n/);
    const whole = `${head}${eventTable(FEATURES.events)}\n\n${after.join("\n\n")}`;
    if (process.env["UPDATE_DOCS"]) writeFileSync(path, whole);
    expect(readFileSync(path, "utf8")).toBe(whole);
  });

  const binary = process.env["SKEP_BINARY"];
  test.skipIf(lacks("executable (SKEP_BINARY)", binary !== undefined))(
    "the size of the executable is what install.md and benchmarks.md say, to 5 %",
    () => {
      const size = statSync(resolve(ROOT, binary!)).size / 1_000_000;
      const said = {
        "docs/install.md": /about (\d+) MB for the file/,
        "docs/benchmarks.md": /\| executable, linux-x64 \| (\d+) MB \|/,
      };
      for (const [path, figure] of Object.entries(said)) {
        const [, megabytes] = figure.exec(readFileSync(join(ROOT, path), "utf8")) ?? [];
        expect(Math.abs(Number(megabytes) - size) / size, `${path} says ${megabytes} MB of ${size}`).toBeLessThan(0.05);
      }
    },
  );

  test("every link to a page, and to a place in it, leads somewhere", () => {
    const dead = pages.flatMap(({ path, text }) =>
      [...text.matchAll(/\]\((?!\w+:)([^)#\s]*)(?:#([^)\s]+))?\)/g)].flatMap(([whole, file, anchor]) => {
        const target = file ? join(ROOT, dirname(path), file) : join(ROOT, path);
        if (!existsSync(target)) return [`${path}: ${whole}`];
        if (anchor === undefined || !target.endsWith(".md")) return [];
        const anchors = [...readFileSync(target, "utf8").matchAll(/^#+ (.+)$/gm)].map(([, heading]) =>
          anchorOf(heading!),
        );
        return anchors.includes(anchor) ? [] : [`${path}: ${whole}`];
      }),
    );
    expect(dead).toEqual([]);
  });

  test("every command that a page calls exists and takes the flags it is given", () => {
    const program = createProgram(() => {});
    const config = new Set(Object.values(OPTIONS).map(({ env }) => flagOf(env)));
    const wrong = pages.flatMap(({ path, text }) =>
      callsIn(text).flatMap((call) => faultsOf(program, config, call).map((fault) => `${path}: ${fault}`)),
    );
    expect(wrong).toEqual([]);
    expect(pages.flatMap(({ text }) => callsIn(text)).length).toBeGreaterThan(80);
  });

  test("a command that does not exist, and a flag that it does not take, would be found", () => {
    const program = createProgram(() => {});
    const faults = callsIn("```sh\nskep frobnicate\nSKEP_URL=x skep run hello x --nope | cat\n```").flatMap((call) =>
      faultsOf(program, new Set(), call),
    );
    expect(faults).toEqual(["skep frobnicate: no command frobnicate", "skep run hello x --nope: --nope"]);
  });
});

/** A table with one row per event kind: when it happens, and the members of its data; `?` marks optional ones. */
function eventTable(definitions: readonly EventDefinition[]): string {
  const rows = definitions.map(({ kind, schema, delivery }) => {
    const required = new Set(schema.required ?? []);
    const members = Object.keys(schema.properties).map((name) => `\`${name}\`${required.has(name) ? "" : "?"}`);
    const when = `${schema.description}${delivery === "lossy" ? " Lossy." : ""}`;
    return `| \`${kind}\` | ${when} | ${members.join(", ")} |`;
  });
  return ["| kind | when | `data` |", "|---|---|---|", ...rows].join("\n");
}

/** The words after `skep` in code, one list per call. */
function callsIn(text: string): string[][] {
  const code = [...text.matchAll(/```\w*\n([\s\S]*?)```|`([^`\n]+)`|^ {4}(.+)$/gm)].map(
    ([, block, span, line]) => block ?? span ?? line!,
  );
  return code
    .flatMap((piece) => piece.split("\n"))
    .map((line) => line.replace(/\s#.*$/, ""))
    .flatMap((line) => {
      const found = /^(?:[A-Z_]+=\S*\s+)*(?:docker exec (?:-\w+ )*skep )?(?:dist\/|\.\/)?skep\s+(.+)$/.exec(
        line.trim(),
      );
      return found ? [found[1]!.split(/\s+[|>&;]/)[0]!.split(/\s+/)] : [];
    });
}

function faultsOf(program: Command, config: Set<string>, words: string[]): string[] {
  let at = program;
  const faults: string[] = [];
  const plain = words.map((word) => word.replace(/[[\]…,.)]+$/g, "").replace(/^\[+/, ""));
  for (const [index, word] of plain.entries()) {
    if (word === "--") break; // What follows is another program's.
    if (word.startsWith("--")) {
      const flag = word.split("=")[0]!;
      const known = [...at.options, ...(at.parent?.options ?? [])].some(({ long }) => long === flag);
      if (!known && flag !== "--help" && !(config.has(flag) && at === program))
        faults.push(`skep ${words.join(" ")}: ${flag}`);
    } else if (at.commands.length > 0 && /^[a-z][\w-]*$/.test(word)) {
      const next = at.commands.find((one) => one.name() === word);
      if (next) at = next;
      else if (index === 0 && word !== "help") faults.push(`skep ${words.join(" ")}: no command ${word}`);
    }
  }
  return faults;
}
