/** JSON as configuration files write it: comments and trailing commas allowed. Undefined when it is not JSON. */
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

/** An object's members; none for anything else. */
export function asRecord(value: unknown): Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value) ? (value as Record<string, unknown>) : {};
}
