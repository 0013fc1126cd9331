import { afterAll, beforeEach, describe, expect, test } from "bun:test";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { systemClock } from "../core/clock.ts";
import { installShipped } from "./shipped.ts";
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
const on = (path: string) => readFileSync(join(root, path), "utf8");

describe("shipped files", () => {
  test("the first start puts all of them there, the second none", () => {
    expect(installShipped(store, folder, FIRST)).toEqual(Object.keys(FIRST));
    expect(on("lead/skills/plan.md")).toBe("plan 1");
    expect(installShipped(store, folder, FIRST)).toEqual([]);
  });

  test("a later version renews what nobody touched, and adds what is new", () => {
    installShipped(store, folder, FIRST);
    const later = { ...FIRST, "_skills/git.md": "git 2", "_skills/new.md": "new" };
    expect(installShipped(store, folder, later)).toEqual(["_skills/git.md", "_skills/new.md"]);
    expect(on("_skills/git.md")).toBe("git 2");
  });

  test("what the user edited or deleted stays so, through any number of versions", () => {
    installShipped(store, folder, FIRST);
    writeFileSync(join(root, "_skills/git.md"), "mine");
    rmSync(join(root, "lead/skills/plan.md"));
    for (const version of [2, 3])
      expect(
        installShipped(store, folder, {
          ...FIRST,
          "_skills/git.md": `git ${version}`,
          "lead/skills/plan.md": `plan ${version}`,
        }),
      ).toEqual([]);
    expect(on("_skills/git.md")).toBe("mine");
    expect(folder.read("lead/skills/plan.md")).toBeUndefined();
  });

  test("a file that the user had before it was shipped is not touched", () => {
    folder.write("_skills/git.md", "mine before");
    expect(installShipped(store, folder, FIRST)).not.toContain("_skills/git.md");
    expect(installShipped(store, folder, { ...FIRST, "_skills/git.md": "git 2" })).toEqual([]);
    expect(on("_skills/git.md")).toBe("mine before");
  });

  test("a deleted agent does not come back in parts", () => {
    installShipped(store, folder, FIRST);
    rmSync(join(root, "lead"), { recursive: true });
    expect(installShipped(store, folder, { ...FIRST, "lead/skills/more.md": "more" })).toEqual([]);
  });

  test("a start that was cut off between the files and the note of them is made good", () => {
    folder.write("lead/AGENT.md", "lead 1");
    expect(installShipped(store, folder, FIRST)).toEqual(["lead/skills/plan.md", "_skills/git.md"]);
    expect(installShipped(store, folder, { ...FIRST, "lead/AGENT.md": "lead 2" })).toEqual(["lead/AGENT.md"]);
  });
});
