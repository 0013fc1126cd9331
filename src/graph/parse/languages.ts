/** The registry: the one place that knows which languages there are. One line a language. */
import { c } from "./c.ts";
import { csharp } from "./c-sharp.ts";
import { cpp } from "./cpp.ts";
import { go } from "./go.ts";
import { java } from "./java.ts";
import { javascript } from "./javascript.ts";
import type { LanguageModule } from "./language.ts";
import { php } from "./php.ts";
import { python } from "./python.ts";
import { rust } from "./rust.ts";
import { typescript } from "./typescript.ts";

export const LANGUAGES: readonly LanguageModule[] = [
  typescript,
  javascript,
  go,
  java,
  csharp,
  python,
  rust,
  c,
  cpp,
  php,
];

const byEnding = new Map<string, LanguageModule>();
const byId = new Map(LANGUAGES.map((language) => [language.id, language]));
for (const language of LANGUAGES) for (const ending of language.grammars.keys()) byEnding.set(ending, language);

/** The language of a path by its ending, or undefined. */
export function languageOf(path: string): LanguageModule | undefined {
  return byEnding.get(endingOf(path));
}

export function languageById(id: string): LanguageModule | undefined {
  return byId.get(id as LanguageModule["id"]);
}

/** The last ending of a path with its dot, in lower case; "" without one. */
export function endingOf(path: string): string {
  const dot = path.lastIndexOf(".");
  return dot > path.lastIndexOf("/") ? path.slice(dot).toLowerCase() : "";
}
