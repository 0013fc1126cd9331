/** The registry of languages: the only place that lists them. */
import { c } from "./c-family/c.ts";
import { cpp } from "./c-family/cpp.ts";
import { csharp } from "./c-sharp/c-sharp.ts";
import { javascript } from "./ecmascript/javascript.ts";
import { typescript } from "./ecmascript/typescript.ts";
import { go } from "./go/go.ts";
import { java } from "./java/java.ts";
import type { LanguageModule } from "./language.ts";
import { php } from "./php/php.ts";
import { python } from "./python/python.ts";
import { rust } from "./rust/rust.ts";

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
for (const language of LANGUAGES) for (const ending of language.grammars.keys()) byEnding.set(ending, language);

/** The language of a file, by its path's ending, or undefined. */
export function languageOf(path: string): LanguageModule | undefined {
  return byEnding.get(endingOf(path));
}

/** The last ending of a path with its dot, in lower case; "" if it has none. */
export function endingOf(path: string): string {
  const dot = path.lastIndexOf(".");
  return dot > path.lastIndexOf("/") ? path.slice(dot).toLowerCase() : "";
}
