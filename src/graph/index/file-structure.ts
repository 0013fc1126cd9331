/** Nodes of single files, without resolved edges: those need all files of the repository. */
import { takeTurns } from "../../core/turns.ts";
import type { CodeGraph } from "../code-graph.ts";
import { packFacts } from "../language/facts.ts";
import type { Grammars } from "../language/grammar.ts";
import { endingOf, languageOf } from "../language/languages.ts";
import { factsOf, isMachineMade } from "../language/parse-file.ts";
import type { SourceFile } from "../resolve/repository.ts";
import { Resolution } from "../resolve/resolution.ts";
import { sourceOf } from "./packed-source.ts";
import { parseFiles } from "./parse-files.ts";
import { addStructure, GraphBuilder } from "./structure.ts";

/** The structure of files as they are on disk now. Files that cannot be read or parsed are left out. */
export function structureOnDisk(root: string, paths: readonly string[], grammars: Grammars): Promise<CodeGraph> {
  return structureOf(paths, async (path) => {
    const [parsed] = await parseFiles({ root, files: [{ path, hash: "" }] }, grammars);
    return parsed?.note === "" ? parsed.facts : undefined;
  });
}

/** The structure of files that are given by their text. */
export function structureOfTexts(texts: ReadonlyMap<string, string>, grammars: Grammars): Promise<CodeGraph> {
  return structureOf([...texts.keys()], async (path) => {
    const text = texts.get(path)!;
    const grammar = languageOf(path)?.grammars.get(endingOf(path));
    if (grammar) await grammars.load(grammar);
    try {
      return isMachineMade(text) ? undefined : packFacts(factsOf(path, text, grammars));
    } catch {
      return undefined;
    }
  });
}

async function structureOf(
  paths: readonly string[],
  factsAt: (path: string) => Promise<Uint8Array | undefined>,
): Promise<CodeGraph> {
  const files: SourceFile[] = [];
  const turn = takeTurns();
  for (const path of paths) {
    if (!languageOf(path)) continue;
    await turn();
    const packed = await factsAt(path);
    const source = packed && sourceOf(path, packed);
    if (source) files.push(source);
  }
  const builder = new GraphBuilder();
  addStructure(builder, new Resolution({ files, configs: [], readConfig: () => undefined }).repo);
  return builder.finish();
}
