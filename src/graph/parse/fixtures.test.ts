/** Every fixture's graph is what its expected.txt says. */
import { describe, expect, test } from "bun:test";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { analyse } from "../analyse.ts";
import { walkFolder } from "../walk.ts";
import { differences } from "./fixture-format.ts";
import { createGrammars } from "./grammar.ts";
import { endingOf, LANGUAGES, languageOf } from "./languages.ts";
import { factsOf, sourceText } from "./parse-file.ts";

const ROOT = join(import.meta.dir, "fixtures");
const only = Bun.env["GRAPH_FIXTURE"];

function cases(): string[] {
  if (!existsSync(ROOT)) return [];
  const folders = (path: string) => readdirSync(path, { withFileTypes: true }).filter((entry) => entry.isDirectory());
  return folders(ROOT)
    .flatMap((language) => folders(join(ROOT, language.name)).map((entry) => `${language.name}/${entry.name}`))
    .filter((name) => !only || name === only)
    .sort();
}

async function graphOf(root: string) {
  const configNames = new Set(LANGUAGES.flatMap((language) => language.configNames));
  const walk = await walkFolder({ root, supported: (path) => languageOf(path) !== undefined, configNames });
  const grammars = await createGrammars();
  const files = [];
  for (const { path } of walk.files) {
    const language = languageOf(path)!;
    await grammars.load(language.grammars.get(endingOf(path))!);
    const text = sourceText(readFileSync(join(root, path)));
    files.push({ path, language, facts: factsOf(path, text, grammars) });
  }
  const readConfig = (path: string) => readFileSync(join(root, path), "utf8");
  return analyse({ files, configs: walk.configs, readConfig });
}

describe("the graph of a fixture has the expected nodes and edges, and none of the forbidden", () => {
  for (const name of cases()) {
    test(name, async () => {
      const graph = await graphOf(join(ROOT, name));
      const nodes = Array.from({ length: graph.nodeCount }, (_, row) => graph.node(row));
      const edges = Array.from({ length: graph.edgeCount }, (_, row) => graph.edge(row));
      const expected = readFileSync(join(ROOT, name, "expected.txt"), "utf8");
      expect(differences(expected, nodes, edges)).toEqual([]);
    });
  }
});
