import { afterAll, beforeEach, describe, expect, test } from "bun:test";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { systemClock } from "../core/clock.ts";
import { installShipped, type ShippedFiles } from "./shipped.ts";
import { openStore, type Store } from "./store.ts";
import { createTextFolder, type TextFolder } from "./text-folder.ts";

const home = mkdtempSync(join(tmpdir(), "skep-shipped-"));
const stores: Store[] = [];
afterAll(() => {
  for (const store of stores) store.close();
  rmSync(home, { recursive: true, force: true });
});
let root: string;
let folder: TextFolder;
let store: Store;
beforeEach(() => {
  root = mkdtempSync(join(home, "agents-"));
  folder = createTextFolder(root);
  store = openStore({ path: ":memory:", clock: systemClock });
  stores.push(store);
});
const FIRST = { "lead/AGENT.md": "lead 1", "lead/skills/plan.md": "plan 1", "_skills/git.md": "git 1" };
/** A start of the server that completes. */
async function install(files: ShippedFiles): Promise<string[]> {
  const { written, note } = installShipped(store, folder, files);
  await note();
  return written;
}
const on = (path: string) => readFileSync(join(root, path), "utf8");

describe("shipped files", () => {
  test("the first start puts all of them there, the second none", async () => {
    expect(await install(FIRST)).toEqual(Object.keys(FIRST));
    expect(on("lead/skills/plan.md")).toBe("plan 1");
    expect(await install(FIRST)).toEqual([]);
  });

  test("a later version renews what nobody touched, and adds what is new", async () => {
    await install(FIRST);
    const later = { ...FIRST, "_skills/git.md": "git 2", "_skills/new.md": "new" };
    expect(await install(later)).toEqual(["_skills/git.md", "_skills/new.md"]);
    expect(on("_skills/git.md")).toBe("git 2");
  });

  test("what the user edited or deleted stays so, through any number of versions", async () => {
    await install(FIRST);
    writeFileSync(join(root, "_skills/git.md"), "mine");
    rmSync(join(root, "lead/skills/plan.md"));
    for (const version of [2, 3])
      expect(
        await install({
          ...FIRST,
          "_skills/git.md": `git ${version}`,
          "lead/skills/plan.md": `plan ${version}`,
        }),
      ).toEqual([]);
    expect(on("_skills/git.md")).toBe("mine");
    expect(folder.read("lead/skills/plan.md")).toBeUndefined();
  });

  test("a file that the user had before it was shipped is not touched", async () => {
    folder.write("_skills/git.md", "mine before");
    expect(await install(FIRST)).not.toContain("_skills/git.md");
    expect(await install({ ...FIRST, "_skills/git.md": "git 2" })).toEqual([]);
    expect(on("_skills/git.md")).toBe("mine before");
  });

  test("one that a later version ships stays as it is too, also when it is empty or begins like what is shipped", async () => {
    await install(FIRST);
    writeFileSync(join(root, "_skills/one.md"), "");
    writeFileSync(join(root, "_skills/two.md"), "tw");
    expect(await install({ ...FIRST, "_skills/one.md": "one", "_skills/two.md": "two" })).toEqual([]);
    expect([on("_skills/one.md"), on("_skills/two.md")]).toEqual(["", "tw"]);
  });

  test("a deleted agent does not come back in parts", async () => {
    await install(FIRST);
    rmSync(join(root, "lead"), { recursive: true });
    expect(await install({ ...FIRST, "lead/skills/more.md": "more" })).toEqual([]);
  });

  test("a start that was cut off between the files and the note of them is made good", async () => {
    expect(installShipped(store, folder, FIRST).written).toEqual(Object.keys(FIRST));
    rmSync(join(root, "lead/skills/plan.md"));
    writeFileSync(join(root, "_skills/git.md"), "gi");
    expect(await install(FIRST)).toEqual(["lead/skills/plan.md", "_skills/git.md"]);
    expect(on("_skills/git.md")).toBe("git 1");
    expect(await install({ ...FIRST, "lead/AGENT.md": "lead 2" })).toEqual(["lead/AGENT.md"]);
  });
});
