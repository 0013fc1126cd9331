/** A file of the repository, from its packed facts. */
import { openFacts } from "../language/facts.ts";
import { languageOf } from "../language/languages.ts";
import type { SourceFile } from "../resolve/repository.ts";

/**
 * Opens the packed facts of a file.
 * @param pool interned strings of other files, so that equal strings are kept in memory once
 * @returns undefined if the facts are damaged or of another version
 */
export function sourceOf(path: string, packed: Uint8Array, pool?: Map<string, string>): SourceFile | undefined {
  const language = languageOf(path);
  const facts = language && openFacts(packed, language.id, pool);
  return facts && { path, language, facts };
}
