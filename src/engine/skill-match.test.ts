import { describe, expect, test } from "bun:test";
import { matchSkills, skillManifest } from "./skill-match.ts";

const skill = (name: string, ...tags: string[]) => ({ name, description: `${name}\n  skill`, tags });
const names = (input: string, ...skills: ReturnType<typeof skill>[]) =>
  matchSkills(skills, input).map(({ name }) => name);

describe("skill matching", () => {
  test("tags match whole words only, in any case, across several words and beside punctuation", () => {
    const skills = [
      skill("tests", "test"),
      skill("review", "code review"),
      skill("cpp", "c++"),
      skill("node", "node.js"),
      skill("de", "Größe"),
    ];
    expect(names("Write a TEST.", ...skills)).toEqual(["tests"]);
    expect(names("The contest is the greatest", ...skills)).toEqual([]);
    expect(names("do a code-review, then (c++) and Node.js; GRÖSSE? größe!", ...skills)).toEqual([
      "cpp",
      "de",
      "node",
      "review",
    ]);
  });
  test("the most tags come first, ties by name, five at most", () => {
    const skills = ["f", "e", "d", "c", "b", "a"].map((name) => skill(name, "alpha"));
    expect(names("alpha beta", ...skills, skill("z", "alpha", "beta"))).toEqual(["z", "a", "b", "c", "d"]);
  });
  test("the same tag twice counts once, an empty tag never", () => {
    expect(names("alpha", skill("twice", "alpha", "Alpha"), skill("a", "alpha"), skill("none", "", " "))).toEqual([
      "a",
      "twice",
    ]);
  });
  test("the manifest has one line per skill", () => {
    expect(skillManifest([skill("a"), skill("b")])).toBe("- a: a skill\n- b: b skill");
  });
});
