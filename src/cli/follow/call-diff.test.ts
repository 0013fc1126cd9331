/** Changes of files in what a terminal shows of a run. */
import { expect, test } from "bun:test";
import { callDiff } from "./call-diff.ts";

const HEAD = "--- a\n+++ a\n@@ -1,1 +1,1 @@";

test("a diff that a call gave is shown, and what stands around it is not", () => {
  expect(callDiff(`Edit applied.\n${HEAD}\n-old\n+new\nChanged: b`)).toBe(
    ["--- a", "+++ a", "@@ -1,1 +1,1 @@", "-old", "+new"].map((line) => `    ${line}`).join("\n"),
  );
});

test("what is no diff is not shown", () => {
  for (const text of ["", "- a\n+ b", "--- a\n+++ b\nno hunk"]) expect(callDiff(text)).toBeUndefined();
});

test("a long diff is cut, with how much there is, and nothing in it moves the cursor", () => {
  const shown = callDiff(`${HEAD}\n+\x1b[2Jfresh\n${"+more\n".repeat(100)}`) ?? "";
  expect(shown.split("\n")).toHaveLength(41);
  expect(shown).toContain("    +fresh\n");
  expect(shown).toEndWith("… 64 more lines");
});
