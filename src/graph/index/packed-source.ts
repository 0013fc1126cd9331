/** A file of the repository, from its packed facts. */
import { openFacts } from "../language/facts.ts";
import { languageOf } from "../language/languages.ts";
import type { SourceFile } from "../resolve/repository.ts";

/**
 * @param pool strings of other files: of those that are equal, one is kept in memory
 * @returns undefined when its facts are damaged or of another version
 */
export function sourceOf(path: string, packed: Uint8Array, pool?: Map<string, string>): SourceFile | undefined {
  const language = languageOf(path);
  const facts = language && openFacts(packed, language.id, pool);
  return facts && { path, language, facts };
}
