/** Nodes of single files without their edges: edges need all files. */
import { takeTurns } from "../../core/turns.ts";
import type { CodeGraph } from "../code-graph.ts";
import { type FileFacts, unpackFacts } from "../language/facts.ts";
import type { Grammars } from "../language/grammar.ts";
import { endingOf, languageOf } from "../language/languages.ts";
import { factsOf, isMachineMade } from "../language/parse-file.ts";
import type { LanguageId } from "../model.ts";
import type { SourceFile } from "../resolve/repository.ts";
import { Resolution } from "../resolve/resolution.ts";
import { parseFiles } from "./parse-files.ts";
import { addStructure, GraphBuilder } from "./structure.ts";

/** Of files as they are on disk now. What cannot be read or parsed is left out. */
export function structureOnDisk(root: string, paths: readonly string[], grammars: Grammars): Promise<CodeGraph> {
  return structureOf(paths, async (path, language) => {
    const [parsed] = await parseFiles({ root, files: [{ path, hash: "" }] }, grammars);
    return parsed?.note === "" ? unpackFacts(parsed.facts, language) : undefined;
  });
}

/** Of files given by their text. */
export function structureOfTexts(texts: ReadonlyMap<string, string>, grammars: Grammars): Promise<CodeGraph> {
  return structureOf([...texts.keys()], async (path) => {
    const text = texts.get(path)!;
    const grammar = languageOf(path)?.grammars.get(endingOf(path));
    if (grammar) await grammars.load(grammar);
    try {
      return isMachineMade(text) ? undefined : factsOf(path, text, grammars);
    } catch {
      return undefined;
    }
  });
}

async function structureOf(
  paths: readonly string[],
  factsAt: (path: string, language: LanguageId) => Promise<FileFacts | undefined>,
): Promise<CodeGraph> {
  const files: SourceFile[] = [];
  const turn = takeTurns();
  for (const path of paths) {
    const language = languageOf(path);
    if (!language) continue;
    await turn();
    const facts = await factsAt(path, language.id);
    if (facts) files.push({ path, language, facts });
  }
  const builder = new GraphBuilder();
  addStructure(builder, new Resolution({ files, configs: [], readConfig: () => undefined }).repo);
  return builder.finish();
}
