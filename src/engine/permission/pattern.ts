/**
 * Matches the patterns of rules in linear time: people write the rules, but models write the texts they are matched
 * with.
 */

/**
 * `*` stands for any text, also none; every other character for itself. The pieces between stars are searched once,
 * from the left.
 */
export function matchesText(pattern: string, text: string): boolean {
  const pieces = pattern.split("*");
  const first = pieces.shift()!;
  const last = pieces.pop();
  if (last === undefined) return text === first;
  if (!text.startsWith(first)) return false;
  let at = first.length;
  for (const piece of pieces) {
    const found = text.indexOf(piece, at);
    if (found < 0) return false;
    at = found + piece.length;
  }
  return text.length - last.length >= at && text.endsWith(last);
}

/** Whether the pattern might match a text of which only the beginning is certain. */
export function mightMatch(pattern: string, begin: string): boolean {
  const star = pattern.indexOf("*");
  const fixed = star < 0 ? pattern : pattern.slice(0, star);
  return fixed.startsWith(begin) || (star >= 0 && begin.startsWith(fixed));
}

/**
 * Matches as in .gitignore: `*` within a name, `**` over folders. A pattern without a slash is matched with the file's
 * name.
 */
export function matchesPath(pattern: string, path: string): boolean {
  const plain = pattern.replace(/^\.?\//, "");
  const text = pattern.includes("/") ? path : path.slice(path.lastIndexOf("/") + 1);
  // Braces are ordinary characters, and so is a "!" at the beginning.
  const glob = new Bun.Glob(plain.replace(/[{}]/g, "\\$&").replace(/^!/, "\\!"));
  return glob.match(text);
}

const WORKSPACE = /^\/workspace(?:\/|$)/;

/**
 * Normalizes a path for matching: relative to the workspace, without `.` and `..`. A path that leads out of the
 * workspace stays absolute or begins with `..`.
 */
export function plainPath(path: string): string {
  const inside = path.replace(WORKSPACE, "");
  const parts: string[] = [];
  for (const part of inside.split("/")) {
    if (part === "" || part === ".") continue;
    if (part === ".." && parts.length > 0 && parts.at(-1) !== "..") parts.pop();
    else parts.push(part);
  }
  return `${inside.startsWith("/") ? "/" : ""}${parts.join("/")}`;
}
