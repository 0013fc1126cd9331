/** `skep check` on the shipped files, and on files with a mistake in each place. */
import { afterAll, describe, expect, test } from "bun:test";
import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { skep, temporaryFolder } from "../testing/command.ts";

const folder = temporaryFolder();
afterAll(folder.remove);
const file = (path: string, text: string): string => {
  const whole = join(folder.path, path);
  mkdirSync(dirname(whole), { recursive: true });
  writeFileSync(whole, text);
  return whole;
};

describe("skep check", () => {
  test("finds nothing wrong with the shipped files", async () => {
    const { code, stdout } = await skep(["check", resolve(import.meta.dir, "../../agents")]);
    expect([code, stdout]).toEqual([0, expect.stringMatching(/^\d\d files, no problem\n$/)]);
  });

  test("names every problem by file, line and column, of every kind of file, and ends with 1", async () => {
    file("team/scribe/AGENT.md", "---\nname: Scribe\nmax_turns: many\ntoools: [read]\n---\nWrite.\n");
    const steps =
      "  - { id: a, agent: nobody, input: X }\n  - id: b\n    agent: scribe\n    input: '{{ steps.zero.outputs.x }}'\n";
    file("team/_pipelines/ring.yml", `id: ring\nname: Ring\nsteps:\n${steps}`);
    file("team/_pipelines/odd.yml", "id: odd\nname: Odd\nstep: []\n");
    file("team/_skills/ringing.md", "---\ntags: 3\n---\n");
    const { code, stdout, stderr } = await skep(["check", join(folder.path, "team")]);
    expect([code, stderr]).toEqual([1, ""]);
    const lines = stdout.replaceAll(`${folder.path}/team/`, "").trimEnd().split("\n");
    expect(lines.at(-1)).toMatch(/^4 files, \d+ problems$/);
    for (const said of [
      /^_pipelines\/odd\.yml:3:1 {2}"step" is unknown here/,
      /^_pipelines\/ring\.yml:4:\d+ {2}.*nobody/,
      /^_skills\/ringing\.md:2:\d+ {2}Tags are/,
      /^_skills\/ringing\.md:\d+:\d+ {2}A description is missing/,
      /^scribe\/AGENT\.md:3:\d+ {2}/,
      /^scribe\/AGENT\.md:4:1 {2}"toools" is unknown here/,
    ])
      expect(lines.find((line) => said.test(line)) ?? `${said} not in\n${stdout}`).toMatch(said);
  });

  test("names a file that the server would not read, since it is not UTF-8; a byte order mark is no problem", async () => {
    const text = "id: ring\nname: Größe\nsteps:\n  - { id: a, agent: scribe, input: X }\n";
    const latin = file("latin.yml", "");
    writeFileSync(latin, text, "latin1");
    expect(await skep(["check", latin])).toMatchObject({ code: 1, stdout: expect.stringContaining("not UTF-8 text") });
    expect((await skep(["check", file("marked.yml", `\ufeff${text}`)])).code).toBe(0);
  });

  test("names a file of an unknown kind, and a file that does not exist", async () => {
    const other = file("notes.txt", "hello");
    const { code, stdout } = await skep(["check", other, join(folder.path, "gone.yml"), "--json"]);
    expect(code).toBe(1);
    const { valid, files } = JSON.parse(stdout);
    expect(valid).toBe(false);
    expect(files).toMatchObject([
      { file: other, kind: "unknown", problems: [{ line: 1 }] },
      { kind: "unknown", problems: [{ message: "There is no such file." }] },
    ]);
  });
});
