/** The difference of two texts as the pages show it, without a browser. */
/// <reference types="bun-types/test" />
import { expect, test } from "bun:test";
import { loadParts, textOfPart } from "../../testing/dashboard/parts-as-text.ts";

const { LineDiff } = await loadParts(() => import("./line-diff.tsx"));
const { Conflict } = await loadParts(() => import("./conflict.tsx"));

const createLines = (count: number, name: string) => Array.from({ length: count }, (_, at) => `${name} ${at}`);
const text = (first: string, second: string) =>
  [...createLines(40, "top"), first, ...createLines(30, "middle"), second, ...createLines(20, "end")].join("\n");
const linesOf = (markup: string): string[] =>
  markup
    .replace(/<\/?(span|pre)[^>]*>/g, "")
    .split(/<div[^>]*>|<\/div>/)
    .filter(Boolean);

test("of two long texts what differs is shown, also at two places far apart, with three lines around it", () => {
  const shown = linesOf(textOfPart(<LineDiff before={text("a", "b")} after={text("c", "d")} />));
  expect(shown.join("\n")).toBe(`… 37 lines alike …
 top 37
 top 38
 top 39
−a
+c
 middle 0
 middle 1
 middle 2
… 24 lines alike …
 middle 27
 middle 28
 middle 29
−b
+d
 end 0
 end 1
 end 2
… 17 lines alike …`);
});

test("short texts are shown whole, an added end as one line more, and equal texts as no change", () => {
  const diff = (before: string, after: string) => linesOf(textOfPart(<LineDiff before={before} after={after} />));
  expect(diff("a\nb", "a\nc")).toEqual([" a", "−b", "+c"]);
  expect(diff("a\na", "a\na\na")).toEqual([" a", " a", "+a"]);
  expect(textOfPart(<LineDiff before="same" after="same" />)).toContain("Nothing changes.");
});

test("who was second sees which lines are theirs and which are the others', and that both versions are still there", () => {
  const nothing = () => {};
  const shown = textOfPart(<Conflict mine={"a\nmine"} theirs={"a\ntheirs"} overwrite={nothing} take={nothing} />);
  expect(shown).toContain("− theirs, in force now; + yours");
  expect(linesOf(shown.slice(shown.indexOf("<pre"), shown.indexOf("</pre>")))).toEqual([" a", "−theirs", "+mine"]);
});
