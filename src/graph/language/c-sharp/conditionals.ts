/**
 * The grammar cannot read preprocessor conditions that cut through a statement or a list of base types: everything to
 * the end of the file is lost. For the second reading, the longest branch of each condition is kept.
 */

const DIRECTIVE = /^[ \t\uFEFF]*#[ \t]*(if|elif|else|endif)\b/;

interface Branch {
  first: number;
  /** The line after the branch's last line. */
  end: number;
}

/**
 * Blanks directives and all branches but one. The text keeps its length. @returns undefined if there are no conditions
 */
export function oneBranch(text: string): string | undefined {
  const lines = text.split("\n");
  const open: Branch[][] = [];
  let found = false;
  for (const [i, line] of lines.entries()) {
    const word = DIRECTIVE.exec(line)?.[1];
    if (word === undefined) continue;
    found = true;
    lines[i] = " ".repeat(line.length);
    const branches = word === "if" ? [] : open.pop();
    if (!branches) continue;
    const last = branches.at(-1);
    if (last) last.end = i;
    if (word === "endif") keepLongest(lines, branches);
    else {
      branches.push({ first: i + 1, end: lines.length });
      open.push(branches);
    }
  }
  return found ? lines.join("\n") : undefined;
}

function keepLongest(lines: string[], branches: readonly Branch[]): void {
  const countLines = (branch: Branch) => branch.end - branch.first;
  const kept = branches.reduce((best, branch) => (countLines(branch) > countLines(best) ? branch : best));
  for (const branch of branches)
    if (branch !== kept) for (let i = branch.first; i < branch.end; i++) lines[i] = " ".repeat(lines[i]!.length);
}
