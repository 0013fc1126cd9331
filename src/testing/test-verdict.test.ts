/** How `scripts/test` handles tests that fail sometimes, and tests that are skipped. */
import { afterAll, expect, test } from "bun:test";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { DAY_MS } from "../core/clock.ts";
import { temporaryFolder } from "./command.ts";

const SCRIPTS = resolve(import.meta.dir, "../../scripts");
const folder = temporaryFolder();
afterAll(() => folder.remove());

/** Creates a project with one test file that consists of these lines. @returns its folder. */
function project(name: string, ...lines: string[]): string {
  const home = join(folder.path, name);
  mkdirSync(join(home, "src"), { recursive: true });
  writeFileSync(join(home, "bunfig.toml"), "");
  const imports = [
    'import { test } from "bun:test";',
    'import { mkdirSync } from "node:fs";',
    `import { lacks } from ${JSON.stringify(join(import.meta.dir, "parts.ts"))};`,
  ];
  writeFileSync(join(home, "src/made-up.test.ts"), [...imports, ...lines].join("\n"));
  return home;
}

const FILE = "src/made-up.test.ts";
/** Passes in one of the copies that run at once. */
const NOW_AND_THEN = 'test("now and then", () => mkdirSync("taken"));';

async function again(home: string, failed: string[], unsteady: string): Promise<string> {
  writeFileSync(join(home, "failed"), failed.map((promise) => `${FILE}\t${promise}\n`).join(""));
  writeFileSync(join(home, "unsteady.txt"), unsteady);
  const command = [process.execPath, join(SCRIPTS, "test-again.ts"), "failed", "unsteady.txt"];
  const child = Bun.spawn(command, { cwd: home, stdout: "pipe", stderr: "inherit" });
  return new Response(child.stdout).text();
}

const day = (ago: number) => new Date(Date.now() - ago * DAY_MS).toISOString().slice(0, 10);

test("a test that failed and passes in another copy is a failure, unless it is listed with a date and a cause", async () => {
  const unlisted = await again(project("unlisted", NOW_AND_THEN), ["now and then"], "");
  expect(unlisted).toContain("UNSTEADY: 1 of 3 copies passed: now and then");
  expect(unlisted.trimEnd()).toEndWith("excused 0");
  const listed = await again(
    project("listed", NOW_AND_THEN),
    ["now and then"],
    `# known\n${day(13)}\tnow and then\tthe folder is shared\n`,
  );
  expect(listed).toContain(`excused since ${day(13)}: the folder is shared`);
  expect(listed.trimEnd()).toEndWith("excused 1");
});

test("a line of unsteady.txt that is too old, or says no cause, excuses nothing, and is named", async () => {
  const old = await again(project("old", NOW_AND_THEN), ["now and then"], `${day(16)}\tnow and then\tunknown\n`);
  expect(old).toContain("over 14 days ago: mend the test");
  expect(old.trimEnd()).toEndWith("excused 0");
  const mute = await again(project("mute", NOW_AND_THEN), ["now and then"], `${day(1)}\tnow and then\n`);
  expect(mute).toContain("is not `date TAB promise TAB cause");
  expect(mute.trimEnd()).toEndWith("excused 0");
});

test("a test that fails in each copy is a failure though it is listed", async () => {
  const home = project("steady", 'test("never", () => { throw new Error("here"); });');
  const said = await again(home, ["never"], `${day(0)}\tnever\tunknown\n`);
  expect(said).toContain("FAILS EACH TIME: 0 of 3 copies passed: never");
  expect(said.trimEnd()).toEndWith("excused 0");
});

test("a test whose title names its random seed is tried again with that seed, and is listed for every seed", async () => {
  // Without the seed of the failure, each copy uses its own, so no copy contains the failed test's name.
  const seeded = [
    "const seed = process.env.MADE_SEED ?? String(Math.random()).slice(2);",
    "test('holds (MADE_SEED=' + seed + ')', () => mkdirSync('taken'));",
  ];
  const home = project("seeded", ...seeded);
  const said = await again(home, ["holds (MADE_SEED=7)"], `${day(1)}\tholds (MADE_SEED=99)\tthe folder is shared\n`);
  expect(said).toContain("UNSTEADY: 1 of 3 copies passed: holds (MADE_SEED=7)");
  expect(said.trimEnd()).toEndWith("excused 1");
});

test("what failed is written once more for the end of the output, 40 lines of each and all by name", async () => {
  const lines = Array.from({ length: 30 }, (_, n) => `test("promise ${n}", () => { throw new Error("why ${n}"); });`);
  const home = project("messages", 'for (let n = 0; n < 100; n++) console.log("line of the log");', ...lines);
  const ran = Bun.spawnSync([process.execPath, "test", `./${FILE}`], { cwd: home, stderr: "pipe" });
  const command = [process.execPath, join(SCRIPTS, "test-report.ts"), "timings.json", "failed", "messages"];
  const report = Bun.spawn(command, {
    cwd: home,
    stdin: new Blob([`${ran.stdout}${ran.stderr}`]),
    stdout: "ignore",
  });
  expect(await report.exited).toBe(0);
  const messages = readFileSync(join(home, "messages"), "utf8");
  for (let n = 0; n < 30; n++) expect(messages).toMatch(new RegExp(`promise ${n}$`, "m"));
  for (const n of [0, 24]) expect(messages).toContain(`error: why ${n}\n`);
  expect(messages).not.toContain("error: why 25");
  const longest = Math.max(...messages.split("────").map((one) => one.split("\n").length));
  expect(longest).toBeLessThanOrEqual(44);
});

test("each skipped test is shown with its file and the part that was missing", async () => {
  const home = project("skips", 'test.skipIf(lacks("nginx", false))("behind a proxy", () => {});');
  const ran = Bun.spawnSync([process.execPath, "test", `./${FILE}`], { cwd: home, stderr: "pipe" });
  const report = Bun.spawn([process.execPath, join(SCRIPTS, "test-report.ts"), join(home, "timings.json")], {
    cwd: home,
    stdin: new Blob([`${ran.stdout}${ran.stderr}`]),
    stdout: "pipe",
  });
  expect(await new Response(report.stdout).text()).toContain(
    `Skipped:\n  ${FILE}: no nginx here\n    behind a proxy\n`,
  );
});
