/** A tool's output, unchanged, with colored lines for unified diffs in it. */
import type { ReactNode } from "react";

type Kind = "same" | "gone" | "new" | "head";

interface Line {
  kind: Kind;
  text: string;
}

/** How many lines are colored; the rest is plain. */
const COLORED_LINES = 3_000;

const LOOK: Record<Kind, string> = {
  same: "",
  gone: "bg-bad-soft",
  new: "bg-ok-soft",
  head: "font-semibold",
};

const hasPrefix = (lines: readonly string[], at: number, sign: string): boolean => lines[at]?.startsWith(sign) ?? false;
const beginsDiff = (lines: readonly string[], at: number): boolean =>
  hasPrefix(lines, at, "--- ") && hasPrefix(lines, at + 1, "+++ ") && hasPrefix(lines, at + 2, "@@ ");

/** Only lines below a diff's header count as changes, so that a list with dashes is not colored. */
function diffLines(text: string): { lines: Line[]; rest: string } | undefined {
  const all = text.split("\n");
  let [isIn, found] = [false, false];
  const lines = all.slice(0, COLORED_LINES).map((line, at): Line => {
    const isHead = beginsDiff(all, at) || beginsDiff(all, at - 1);
    if (isHead) [isIn, found] = [true, true];
    else if (!/^(?:[-+ \\]|@@ |$)/.test(line)) isIn = false;
    return { kind: isHead ? "head" : isIn ? kindOf(line) : "same", text: line };
  });
  return found ? { lines, rest: all.slice(COLORED_LINES).join("\n") } : undefined;
}

function kindOf(line: string): Kind {
  if (line.startsWith("@@ ")) return "head";
  if (line.startsWith("+")) return "new";
  return line.startsWith("-") ? "gone" : "same";
}

export function OutputText({ text }: { text: string }): ReactNode {
  const diff = diffLines(text);
  // A fragment, because the JSX runtime makes invisible characters in it visible.
  if (!diff) return <>{text}</>;
  return (
    <>
      {diff.lines.map((line, at) => (
        <span key={at} className={`block ${LOOK[line.kind]}`}>
          {line.text || " "}
        </span>
      ))}
      {diff.rest}
    </>
  );
}
