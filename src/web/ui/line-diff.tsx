/** Compares two texts line by line: removed and added lines with some context, and how many lines were left out. */
import { Fragment } from "react";
import { matchesOf } from "./code/matches.ts";

type Line = { kind: "same" | "gone" | "new"; text: string };

const CONTEXT = 3;

function diffLines(before: string, after: string): Line[] {
  const [a, b] = [before.split("\n"), after.split("\n")];
  const lines: Line[] = [];
  let [i, j] = [0, 0];
  for (const [inA, inB] of [...matchesOf(a, b), [a.length, b.length] as const]) {
    while (i < inA) lines.push({ kind: "gone", text: a[i++]! });
    while (j < inB) lines.push({ kind: "new", text: b[j++]! });
    if (i < a.length) lines.push({ kind: "same", text: a[i]! });
    i++;
    j++;
  }
  return lines;
}

const LOOK = {
  same: "",
  gone: "bg-bad-soft",
  new: "bg-ok-soft",
};
const MARK = { same: " ", gone: "−", new: "+" };

const LeftOut = ({ lines }: { lines: number }) =>
  lines > 0 && (
    <div className="px-2 text-faint select-none">
      … {lines} {lines === 1 ? "line" : "lines"} alike …
    </div>
  );

export function LineDiff({ before, after }: { before: string; after: string }) {
  const lines = diffLines(before, after);
  const isNear = (at: number) =>
    lines.slice(Math.max(0, at - CONTEXT), at + CONTEXT + 1).some(({ kind }) => kind !== "same");
  const shown = lines.map((line, at) => ({ ...line, at })).filter(({ at }) => isNear(at));
  if (shown.length === 0) return <p className="text-dim">Nothing changes.</p>;
  const last = shown.at(-1)?.at ?? 0;
  return (
    <pre
      tabIndex={0}
      className="max-h-[60dvh] overflow-auto rounded-md border border-line bg-panel font-mono text-xs leading-5"
    >
      {shown.map(({ kind, text, at }, index) => (
        <Fragment key={at}>
          <LeftOut lines={at - 1 - (shown[index - 1]?.at ?? -1)} />
          <div className={`px-2 whitespace-pre-wrap ${LOOK[kind]}`}>
            <span className="mr-2 text-faint select-none">{MARK[kind]}</span>
            {text || " "}
          </div>
        </Fragment>
      ))}
      <LeftOut lines={lines.length - 1 - last} />
    </pre>
  );
}
