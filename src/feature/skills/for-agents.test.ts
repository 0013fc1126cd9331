/** Skills as agents get them. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { systemClock } from "../../core/clock.ts";
import { readFrontMatter, updateFrontMatter } from "../../engine/front-matter.ts";
import { openStore, type Store } from "../../store/store.ts";
import { createTextFolder } from "../../store/text-folder.ts";
import { createSkills, type Skills } from "./service.ts";

let root: string;
let store: Store;
let skills: Skills;
const put = (path: string, text: string): void => {
  mkdirSync(dirname(join(root, path)), { recursive: true });
  writeFileSync(join(root, path), text);
};
beforeAll(() => {
  root = mkdtempSync(join(tmpdir(), "skep-skills-"));
  store = openStore({ path: ":memory:", clock: systemClock });
  const format = { read: readFrontMatter, update: updateFrontMatter };
  skills = createSkills({ store, folder: createTextFolder(root), format, agentIds: () => ["ann", "bob"] });
  put("_skills/style.md", "---\ndescription: d\ntags: [style]\n---\nFor all.\n");
  put("_skills/pack/SKILL.md", "---\ndescription: d\n---\nSee list.md.\n");
  put("_skills/pack/list.md", "one\ntwo\n");
});
afterAll(() => {
  store.close();
  rmSync(root, { recursive: true, force: true });
});

test("an agent's own skill that is switched off hides everybody's from that agent alone", () => {
  put("ann/skills/style.md", "---\ndescription: d\nenabled: false\n---\nNot for Ann.\n");
  expect(skills.namesOf("ann")).toEqual(["pack"]);
  expect(() => skills.forAgents.loadSkill("ann", "style")).toThrow();
  expect(skills.forAgents.loadSkill("bob", "style").content).toBe("For all.");
});

test("a skill put in whole names its further files, and each can be read", () => {
  const pack = skills.forAgents.available("ann").find(({ name }) => name === "pack");
  expect(pack?.content).toBe("See list.md.\n\nFiles that come with it, read with load_skill: list.md");
  expect(skills.forAgents.readSkillFile("ann", "pack", "list.md")).toBe("one\ntwo\n");
  expect(() => skills.forAgents.readSkillFile("ann", "pack", "../style.md")).toThrow();
});

test("a skill without a description is a problem, and no agent is offered it", () => {
  put("_skills/bare.md", "---\ntags: [bare]\n---\nInstructions.\n");
  expect(skills.get("bare").problems).toMatchObject([{ pointer: "/description", line: expect.any(Number) }]);
  expect(skills.namesOf("bob")).not.toContain("bare");
  expect(skills.readableBy("bob")).not.toContain("bare");
  expect(skills.forAgents.available("bob").map(({ name }) => name)).not.toContain("bare");
  expect(() => skills.forAgents.loadSkill("bob", "bare")).toThrow();
});
