/** A whole index in this process and in memory, nothing stored: for tests and measurements. */

import type { CodeGraph } from "../code-graph.ts";
import { createGrammars } from "../language/grammar.ts";
import { endingOf, LANGUAGES, languageOf } from "../language/languages.ts";
import { factsOf, sourceText } from "../language/parse-file.ts";
import type { SourceFile } from "../resolve/repository.ts";
import { analyse } from "./analyse.ts";
import { openSources } from "./source-files.ts";
import { walkFolder } from "./walk.ts";

/** Indexes a folder: structure and resolved edges, without communities and processes. */
export async function indexInMemory(root: string): Promise<CodeGraph> {
  const configNames = new Set(LANGUAGES.flatMap((language) => language.configNames));
  const walk = await walkFolder({ root, supported: (path) => languageOf(path) !== undefined, configNames });
  const grammars = await createGrammars();
  using sources = openSources(root);
  const files: SourceFile[] = [];
  for (const { path } of walk.files) {
    const language = languageOf(path)!;
    await grammars.load(language.grammars.get(endingOf(path))!);
    using file = sources.open(path);
    const text = sourceText(file.readAll());
    files.push({ path, language, facts: factsOf(path, text, grammars) });
  }
  return analyse({ files, configs: walk.configs, readConfig: sources.text });
}
