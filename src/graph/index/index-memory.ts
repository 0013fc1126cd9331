/** Indexes a folder in this process and in memory. Nothing is stored: for tests and measurements. */

import type { CodeGraph } from "../code-graph.ts";
import { packFacts } from "../language/facts.ts";
import { createGrammars } from "../language/grammar.ts";
import { endingOf, LANGUAGES, languageOf } from "../language/languages.ts";
import { factsOf, sourceText } from "../language/parse-file.ts";
import type { SourceFile } from "../resolve/repository.ts";
import { analyse } from "./analyse.ts";
import { sourceOf } from "./packed-source.ts";
import { openSources } from "./source-files.ts";
import { walkFolder } from "./walk.ts";

/** Indexes a folder: structure and resolved edges, without communities and flows. */
export async function indexInMemory(root: string): Promise<CodeGraph> {
  const configNames = new Set(LANGUAGES.flatMap((language) => language.configNames));
  const walk = await walkFolder({ root, isSupported: (path) => languageOf(path) !== undefined, configNames });
  const grammars = await createGrammars();
  using sources = openSources(root);
  const files: SourceFile[] = [];
  for (const { path } of walk.files) {
    const language = languageOf(path)!;
    await grammars.load(language.grammars.get(endingOf(path))!);
    using file = sources.open(path);
    const text = sourceText(file.readAll());
    const source = sourceOf(path, packFacts(factsOf(path, text, grammars)));
    if (source) files.push(source);
  }
  return analyse({ files, configs: walk.configs, readConfig: sources.text });
}
