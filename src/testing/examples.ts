/**
 * Applies the worked examples of CONTRIBUTING. Each is a diff of files that identifies its places by the surrounding
 * lines.
 */
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";

interface FileChange {
  path: string;
  places: Place[];
}

/** Lines with their sign: ` ` exists, `+` is added, `-` is removed. */
type Place = string[];

/**
 * @param title the bold text with which the example's paragraph begins. @throws Error if there is no such paragraph
 * with a diff.
 */
export function readExample(text: string, title: string): FileChange[] {
  const [, from = ""] = text.split(`**${title}**`);
  const [, diff] = /^[\s\S]*?```diff\n([\s\S]*?)```/.exec(from) ?? [];
  if (diff === undefined) throw new Error(`No example "${title}".`);
  const files: FileChange[] = [];
  for (const line of diff.trimEnd().split("\n")) {
    const file = files.at(-1);
    if (line.startsWith("+++ ")) files.push({ path: line.slice(4), places: [[]] });
    else if (line === "@@") file!.places.push([]);
    else file!.places.at(-1)!.push(line);
  }
  return files;
}

/** Applies the changes. @throws Error for a place that does not occur exactly once in the sources. */
export function performExample(root: string, files: readonly FileChange[]): void {
  for (const { path, places } of files) {
    const file = join(root, path);
    let text = existsSync(file) ? readFileSync(file, "utf8") : "";
    for (const place of places) text = changePlace(path, text, place);
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, text);
  }
}

function changePlace(path: string, text: string, place: Place): string {
  const linesOf = (sign: "+" | "-") =>
    place.flatMap((line) => (line.startsWith(sign) || line.startsWith(" ") ? [`${line.slice(1)}\n`] : [])).join("");
  const [before, after] = [linesOf("-"), linesOf("+")];
  if (before === "") return text + after;
  const [head, tail, ...others] = `\n${text}`.split(`\n${before}`);
  if (tail === undefined || others.length > 0)
    throw new Error(`${path} has ${tail === undefined ? "no" : "more than one"} place\n${before}`);
  return `${head}\n${after}${tail}`.slice(1);
}
