/** Resolution asks language modules. It knows no single language, nor names of the running JavaScript engine. */
import { expect, test } from "bun:test";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { LANGUAGES } from "../language/languages.ts";
import { SHARED_TYPES } from "../language/library.ts";
import { LANGUAGE_IDS, SYMBOL_LABELS } from "../model.ts";

const ROOM = join(import.meta.dir, "..");

/** Code of the files below a folder, by path, without comments. */
function codeBelow(folder: string): Map<string, string> {
  const paths = (readdirSync(join(ROOM, folder), { recursive: true }) as string[]).filter(
    (path) => path.endsWith(".ts") && !path.endsWith(".test.ts") && !path.includes("fixtures"),
  );
  const bare = (text: string) => text.replace(/\/\*[\s\S]*?\*\//g, "").replace(/^\s*\/\/.*$/gm, "");
  return new Map(paths.map((path) => [path, bare(readFileSync(join(ROOM, folder, path), "utf8"))]));
}

test("resolution names no language", () => {
  const names = new RegExp(`["'\`](${LANGUAGE_IDS.join("|")}|ecmascript)["'\`]|language\\.id\\s*[=!]==`);
  const knowing = [...codeBelow("resolve")].filter(([, code]) => names.test(code)).map(([path]) => path);
  expect(knowing).toEqual([]);
});

/** Words of the graph and of resolution itself: labels of nodes, and kinds of names. */
const OWN_WORDS = new Set<string>([...SYMBOL_LABELS, "type", "call"]);

/** Names of a language's library types, of members that the language calls itself, and of its files. */
function libraryWords(): string[] {
  const words = LANGUAGES.flatMap(({ library, rules, configNames }) => {
    const { scalars, boxes, supertypes, roots, containers, closed, opaque } = rules.overloads ?? {};
    const types = [library.types, scalars, boxes, supertypes, roots, containers, closed, opaque];
    return [
      ...types.flatMap((names) => [...(names?.keys() ?? [])]),
      ...[...(supertypes?.values() ?? [])].flat(),
      ...(library.functions?.keys() ?? []),
      ...(library.stringLists ?? []),
      rules.constructorName,
      rules.callMember,
      rules.iteratorMember,
      rules.nextMember,
      rules.indexMember,
      rules.emptyName,
      rules.openValues?.prototype,
      rules.packages?.index,
      rules.packages?.ending,
      ...configNames,
    ];
  });
  return [...new Set(words)].filter((word) => word && !OWN_WORDS.has(word) && !SHARED_TYPES.has(word)) as string[];
}

test("resolution names nothing of a language's library beyond the types that mean the same in every language", () => {
  const words = new Set(libraryWords());
  expect(words.size).toBeGreaterThan(100);
  const named = [...codeBelow("resolve")].flatMap(([path, code]) => {
    const texts = Array.from(code.matchAll(/"([^"\n]*)"|`([^`$]*)`/g), (match) => match[1] ?? match[2]!);
    // Words in regular expressions. Their lines contain no other slash.
    const expressions = Array.from(code.matchAll(/[=(,:]\s*\/([^/\n*]+)\//g), (match) =>
      match[1]!.split(/[^\w.$]+/),
    ).flat();
    return [...texts, ...expressions].filter((text) => words.has(text)).map((text) => `${path}: ${text}`);
  });
  expect(named).toEqual([]);
});

test("no rule reads the names of the running engine's own objects", () => {
  const engine = /getOwnPropertyNames\(|Reflect\.ownKeys|\bin (Array|Object|String)\.prototype/;
  const reading = [...codeBelow(".")].filter(([, code]) => engine.test(code)).map(([path]) => path);
  expect(reading).toEqual([]);
});

test("every language is walked in the same way: by a class, one for each file", () => {
  const modules = [...codeBelow("language")].filter(([, code]) => /: LanguageModule = \{/.test(code));
  expect(modules.length).toBe(LANGUAGES.length);
  const others = modules.filter(
    ([, code]) => !/extract: \(tree, facts\) => new \w+Walk\(tree, facts\)\.file\(\)/.test(code),
  );
  expect(others.map(([path]) => path)).toEqual([]);
});
