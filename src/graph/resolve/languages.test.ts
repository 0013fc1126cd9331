/** Resolution asks language modules; it knows none of them, nor what the running JavaScript engine happens to have. */
import { expect, test } from "bun:test";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { LANGUAGE_IDS } from "../model.ts";

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

test("no rule reads the names of the running engine's own objects", () => {
  const engine = /getOwnPropertyNames\(|Reflect\.ownKeys|\bin (Array|Object|String)\.prototype/;
  const reading = [...codeBelow(".")].filter(([, code]) => engine.test(code)).map(([path]) => path);
  expect(reading).toEqual([]);
});
