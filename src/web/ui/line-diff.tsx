/** Two texts line by line: removed and added lines, with a few lines around them. */

type Line = { kind: "same" | "gone" | "new"; text: string };

const CONTEXT = 3;
/** Above this many lines the middle is compared as a block: the table of the algorithm grows with the square. */
const LINES_MAX = 2_000;

/** Longest common subsequence over lines, without their common beginning and end. */
function diffLines(before: string, after: string): Line[] {
  const [a, b] = [before.split("\n"), after.split("\n")];
  let start = 0;
  while (start < a.length && start < b.length && a[start] === b[start]) start++;
  let end = 0;
  while (end < a.length - start && end < b.length - start && a[a.length - 1 - end] === b[b.length - 1 - end]) end++;
  const same = (lines: string[]): Line[] => lines.map((text) => ({ kind: "same", text }));
  const [left, right] = [a.slice(start, a.length - end), b.slice(start, b.length - end)];
  return [...same(a.slice(0, start)), ...middle(left, right), ...same(a.slice(a.length - end))];
}

function middle(a: string[], b: string[]): Line[] {
  const gone = (text: string): Line => ({ kind: "gone", text });
  const fresh = (text: string): Line => ({ kind: "new", text });
  if (a.length > LINES_MAX || b.length > LINES_MAX) return [...a.map(gone), ...b.map(fresh)];
  const width = b.length + 1;
  const table = new Uint16Array((a.length + 1) * width);
  for (let i = a.length - 1; i >= 0; i--)
    for (let j = b.length - 1; j >= 0; j--)
      table[i * width + j] =
        a[i] === b[j]
          ? table[(i + 1) * width + j + 1]! + 1
          : Math.max(table[(i + 1) * width + j]!, table[i * width + j + 1]!);
  const lines: Line[] = [];
  let [i, j] = [0, 0];
  while (i < a.length && j < b.length) {
    if (a[i] === b[j]) {
      lines.push({ kind: "same", text: a[i]! });
      i++;
      j++;
    } else if (table[(i + 1) * width + j]! >= table[i * width + j + 1]!) lines.push(gone(a[i++]!));
    else lines.push(fresh(b[j++]!));
  }
  return [...lines, ...a.slice(i).map(gone), ...b.slice(j).map(fresh)];
}

const LOOK = {
  same: "",
  gone: "bg-bad-soft",
  new: "bg-ok-soft",
};
const MARK = { same: " ", gone: "−", new: "+" };

export function LineDiff({ before, after }: { before: string; after: string }) {
  const lines = diffLines(before, after);
  const near = (at: number) =>
    lines.slice(Math.max(0, at - CONTEXT), at + CONTEXT + 1).some(({ kind }) => kind !== "same");
  const shown = lines.map((line, at) => ({ ...line, at })).filter(({ at }) => near(at));
  if (shown.length === 0) return <p className="text-dim">Nothing changes.</p>;
  return (
    <pre tabIndex={0} className="max-h-[60dvh] overflow-auto rounded-md border border-line font-mono text-xs leading-5">
      {shown.map(({ kind, text, at }, index) => (
        <div key={at} className={`px-2 whitespace-pre-wrap ${LOOK[kind]}`}>
          {index > 0 && shown[index - 1]!.at !== at - 1 && <div className="border-t border-line" />}
          <span className="mr-2 text-faint select-none">{MARK[kind]}</span>
          {text || " "}
        </div>
      ))}
    </pre>
  );
}
