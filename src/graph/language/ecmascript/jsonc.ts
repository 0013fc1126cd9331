/** Parses JSON with comments and trailing commas, as configuration files use it. Undefined for anything else. */
export function parseJsonc(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    // Comments first; then commas before a closing bracket. Strings are matched so that they are left alone.
    const bare = text.replace(
      /("(?:\\.|[^"\\])*")|\/\/[^\n]*|\/\*[\s\S]*?\*\//g,
      (_, string: string | undefined) => string ?? "",
    );
    const strict = bare.replace(
      /("(?:\\.|[^"\\])*")|,(\s*[}\]])/g,
      (_, string?: string, close?: string) => string ?? close ?? "",
    );
    try {
      return JSON.parse(strict.replace(/^\uFEFF/, ""));
    } catch {
      return undefined;
    }
  }
}
