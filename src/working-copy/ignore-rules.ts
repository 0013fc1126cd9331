/**
 * The rules of .gitignore files. Agents write these files, so matching takes linear time: a pattern full of stars must
 * not block the server, as a regular expression made from the glob would.
 */

/**
 * What one .gitignore says about a path below its folder: true leaves it out, false keeps it, undefined says nothing.
 */
export type IgnoreRules = (path: string, isFolder: boolean) => boolean | undefined;

/** Larger files have no effect. Neither have rules after the first MAX_RULES, or longer than MAX_RULE_CHARACTERS. */
export const MAX_IGNORE_BYTES = 64 * 1024;
const MAX_RULES = 1_000;
const MAX_RULE_CHARACTERS = 512;

interface Rule {
  matches(text: string): boolean;
  keep: boolean;
  foldersOnly: boolean;
  /** Whether the rule is matched against the last component alone. */
  byName: boolean;
}

/** Parses the text of a .gitignore. Lines that are not a usable pattern are ignored. */
export function parseIgnoreRules(text: string): IgnoreRules {
  const rules = text.split(/\r?\n/, MAX_RULES).flatMap((line) => parseRule(line) ?? []);
  rules.reverse();
  return (path, isFolder) => {
    const name = path.slice(path.lastIndexOf("/") + 1);
    const rule = rules.find((each) => (isFolder || !each.foldersOnly) && each.matches(each.byName ? name : path));
    return rule && !rule.keep;
  };
}

function parseRule(line: string): Rule | undefined {
  let pattern = line.replace(/(?<=^|[^\\ ]|\\ ) +$/, "");
  if (pattern === "" || pattern.startsWith("#") || pattern.length > MAX_RULE_CHARACTERS) return undefined;
  const keep = pattern.startsWith("!");
  if (keep) pattern = pattern.slice(1);
  const foldersOnly = pattern.endsWith("/");
  if (foldersOnly) pattern = pattern.slice(0, -1);
  const byName = !pattern.includes("/");
  if (pattern.startsWith("/")) pattern = pattern.slice(1);
  if (pattern === "") return undefined;
  return { matches: matcherOf(pattern, byName), keep, foldersOnly, byName };
}

/** Most rules are a name or a suffix; comparing these is faster than matching a glob. */
function matcherOf(pattern: string, byName: boolean): Rule["matches"] {
  if (!/[*?[\\]/.test(pattern)) return (text) => text === pattern;
  const ending = byName && /^\*[^*?[\\]+$/.test(pattern) ? pattern.slice(1) : undefined;
  if (ending !== undefined) return (name) => name.endsWith(ending);
  // In a .gitignore, braces are ordinary characters; so is a "!" that follows the first one.
  const glob = new Bun.Glob(pattern.replace(/(?<!\\)[{}]/g, "\\$&").replace(/^!/, "\\!"));
  return (text) => glob.match(text);
}
