/** Parses JSON with comments and trailing commas, as configuration files use it. Undefined for anything else. */
import { readJson } from "../../../core/json-reader.ts";

export function parseJsonc(text: string): unknown {
  for (const read of [() => text, () => withoutComments(text)]) {
    try {
      return readJson(read());
    } catch {
      // The text may have comments. If it cannot be read without them either, it is not JSON.
    }
  }
  return undefined;
}

/** Strings and comments. An unclosed comment extends to the end of the text. */
const TOKEN = /"(?:\\[\s\S]|[^"\\])*"?|\/\/[^\n]*|\/\*(?:[^*]|\*(?!\/))*(?:\*\/)?/g;

function withoutComments(text: string): string {
  const bare = text.replace(TOKEN, (token) => (token.startsWith('"') ? token : ""));
  const pieces: string[] = [];
  let from = 0;
  for (const { 0: token, index } of bare.matchAll(/"(?:\\[\s\S]|[^"\\])*"?|,/g)) {
    if (token !== ",") continue;
    const next = /\S/g;
    next.lastIndex = index + 1;
    const after = next.exec(bare)?.[0];
    if (after !== "}" && after !== "]") continue;
    pieces.push(bare.slice(from, index));
    from = index + 1;
  }
  return [...pieces, bare.slice(from)].join("").replace(/^\uFEFF/, "");
}
