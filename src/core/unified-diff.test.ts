/** Two texts as a unified diff. */
import { expect, test } from "bun:test";
import { spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { unifiedDiff } from "./unified-diff.ts";

const lines = (from: number, to: number): string =>
  Array.from({ length: to - from + 1 }, (_, n) => `line ${from + n}\n`).join("");

test("shows what changed with three lines around it, and the line numbers", () => {
  const before = lines(1, 20);
  const after = before.replace("line 10\n", "ten\nand a half\n");
  expect(unifiedDiff({ path: "a.txt", before, after }).split("\n")).toEqual([
    "--- a.txt",
    "+++ a.txt",
    "@@ -7,7 +7,8 @@",
    " line 7",
    " line 8",
    " line 9",
    "-line 10",
    "+ten",
    "+and a half",
    " line 11",
    " line 12",
    " line 13",
  ]);
});

test("a new file comes from /dev/null, and the same text changes nothing", () => {
  const text = unifiedDiff({ path: "new", before: undefined, after: "a\nb\n" });
  expect(text).toBe("--- /dev/null\n+++ new\n@@ -0,0 +1,2 @@\n+a\n+b");
  expect(unifiedDiff({ path: "same", before: "a\n", after: "a\n" })).toBe("");
});

test("a path from outside adds no lines", () => {
  const path = "a\n+++ b\r\u2028c";
  expect(unifiedDiff({ path, before: "x", after: "y" }).split("\n")[1]).toBe("+++ a?+++ b??c");
});

test("texts that differ everywhere are compared in bounded work", () => {
  const [before, after] = [lines(1, 5_000), lines(10_001, 15_000)];
  expect(unifiedDiff({ path: "big", before, after }).split("\n")).toHaveLength(3 + 10_000);
});

test("git applies it, whatever changed", () => {
  const folder = mkdtempSync(join(tmpdir(), "skep-diff-"));
  // A fixed seed, so that every run is the same.
  let seed = 7;
  const random = (most: number): number => {
    seed = (seed * 1_103_515_245 + 12_345) % 2_147_483_648;
    return seed % most;
  };
  try {
    for (let round = 0; round < 25; round++) {
      const before = Array.from({ length: random(60) + 1 }, () => `line ${random(8)}`);
      const after = before.flatMap(
        (line) => [[line], [], [line, `new ${random(9)}`], ["x"], [line], [line]][random(6)] ?? [],
      );
      const [from, to] = [before, [...after, "end"]].map((list) => `${list.join("\n")}\n`);
      const patch = unifiedDiff({ path: "f", before: from, after: to ?? "" });
      writeFileSync(join(folder, "f"), from ?? "");
      const applied = spawnSync("git", ["apply", "-p0", "--unidiff-zero", "-"], { cwd: folder, input: `${patch}\n` });
      expect([round, applied.stderr.toString(), readFileSync(join(folder, "f"), "utf8")]).toEqual([
        round,
        "",
        to ?? "",
      ]);
    }
  } finally {
    rmSync(folder, { recursive: true });
  }
});
