/** Skep's reading of .gitignore files, compared with git's own, and tested with hostile files. */
import { afterAll, describe, expect, test } from "bun:test";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import fc from "fast-check";
import { expectWork, processorMs } from "../testing/busy-machine.ts";
import { openFolder } from "./folder.ts";
import { parseIgnoreRules } from "./ignore-rules.ts";
import { joinPath, walkBeneath } from "./walk.ts";

const base = mkdtempSync(join(tmpdir(), "skep-ignore-"));
afterAll(() => rmSync(base, { recursive: true, force: true }));

let made = 0;
async function listFiles(files: Readonly<Record<string, string>>): Promise<{ ours: string[]; byGit: string[] }> {
  const root = join(base, String(made++));
  mkdirSync(root);
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(root, path)), { recursive: true });
    writeFileSync(join(root, path), text);
  }
  const git = (...args: string[]) =>
    Bun.spawnSync(["git", "-c", "core.excludesFile=/dev/null", ...args], { cwd: root }).stdout.toString();
  git("init", "-q", "--template=");
  const byGit = git("ls-files", "-z", "--others", "--exclude-standard").split("\0").filter(Boolean).sort();
  using top = openFolder(root);
  const ours: string[] = [];
  for await (const part of walkBeneath(top))
    for (const { name, kind } of part.entries) if (kind !== "folder") ours.push(joinPath(part.path, name));
  rmSync(root, { recursive: true });
  return { ours: ours.sort(), byGit };
}

const FILES = [
  "a",
  "b.log",
  "keep.log",
  "d/a",
  "d/b.log",
  "d/e/a",
  "d/e/b.log",
  "build/a",
  "d/build/x.c",
  ".hidden",
  "sp ace",
];
const tree = Object.fromEntries(FILES.map((path) => [path, ""]));

describe("rules", () => {
  test("mean what they mean to git, in one folder and in those below", async () => {
    const piece = fc.constantFrom(
      "a",
      "b.log",
      "*.log",
      "!keep.log",
      "d",
      "d/",
      "/d",
      "/a",
      "e",
      "**/e",
      "d/**",
      "d/*",
      "!d/a",
      "*",
      "!*/",
      "build",
      "build/",
      "/build/",
      "**/build/*.c",
      "?",
      "[ab]*",
      "[!a]",
      "!a",
      ".*",
      "sp ace",
      "sp\\ ace",
      "# no",
      "d/e/",
      "d/**/b.log",
      "/*",
      "!/d",
      "*.c",
      "{a,b}",
      "",
      "  ",
      "a ",
      "\\!a",
      "**",
      "d/e/**/a",
    );
    const rules = fc.array(piece, { maxLength: 5 }).map((lines) => lines.join("\n"));
    await fc.assert(
      fc.asyncProperty(rules, rules, fc.constantFrom("\n", "\r\n"), async (top, below, end) => {
        const { ours, byGit } = await listFiles({
          ...tree,
          ".gitignore": top.replaceAll("\n", end),
          "d/.gitignore": below,
        });
        expect(ours).toEqual(byGit);
      }),
      { seed: 7, numRuns: 150 },
    );
  }, 300_000);

  test("a byte order mark before them is not a rule", async () => {
    const { ours, byGit } = await listFiles({ ...tree, ".gitignore": "\ufeff*.log\n" });
    expect(ours).toEqual(byGit);
    expect(ours).not.toContain("b.log");
  });

  test("cannot hold up the server, whatever an agent writes in them", () => {
    const hostile = Array.from({ length: 1_000 }, () => `${"*a".repeat(100)}b`).join("\n");
    const rules = parseIgnoreRules(hostile);
    const started = processorMs();
    for (let round = 0; round < 20; round++) rules("a".repeat(250), false);
    expectWork("20 names", processorMs() - started, 100);
  });
});
