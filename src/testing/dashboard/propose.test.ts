import { describe, expect, test } from "bun:test";
import { proposePipeline, proposeProject } from "../../web/page/runs/propose.ts";

const NONE = { project: "", runProject: "", pipeline: "" };
const VALID = ["bugfix", "feature", "hello", "research"];
const SHOP = { id: "prj_1", name: "shop", repository: "https://git.example.org/shop.git" };
const NOTES = { id: "prj_2", name: "notes", repository: null };
const run = (pipeline_id: string, created_by: string | null, project_id: string | null = null) => ({
  pipeline_id,
  created_by,
  project_id,
});

describe("the project that a new run proposes", () => {
  const runs = [run("bugfix", "usr_ben", "prj_2"), run("feature", "usr_ada", "prj_1")];
  const propose = (choices: Partial<typeof NONE>, ownId: string | null = "usr_ada") =>
    proposeProject([SHOP, NOTES], { ...NONE, ...choices }, runs, ownId)?.name;

  test("in a new browser it is that of one's own newest run, and nobody else's", () => {
    expect(propose({})).toBe("shop");
    expect(propose({}, "usr_eve")).toBeUndefined();
  });
  test("what was chosen here comes first: where the navigation leads, then where the last run went, also into none", () => {
    expect(propose({ project: "prj_2", runProject: "shop", pipeline: "hello" })).toBe("notes");
    expect(propose({ runProject: "notes", pipeline: "hello" })).toBe("notes");
    expect(propose({ pipeline: "hello" })).toBeUndefined();
  });
  test("one that is gone is not proposed", () => {
    expect(proposeProject([NOTES], NONE, runs, "usr_ada")).toBeUndefined();
  });
});

describe("the pipeline that a new run proposes", () => {
  const runs = [run("research", "usr_ben"), run("gone", "usr_ada"), run("bugfix", "usr_ada")];
  const propose = (project: typeof SHOP | typeof NOTES | undefined, of = runs, chosen = "") =>
    proposePipeline(VALID, project, { ...NONE, pipeline: chosen }, of, "usr_ada");

  test("it is that of one's own newest run that can still be started, then anybody's", () => {
    expect(propose(SHOP)).toBe("bugfix");
    expect(propose(SHOP, runs.slice(0, 2))).toBe("research");
  });
  test("a project's runs come before what this browser chose last; without a project that comes first", () => {
    expect(propose(SHOP, runs, "hello")).toBe("bugfix");
    expect(propose(undefined, runs, "hello")).toBe("hello");
    expect(propose(SHOP, [], "hello")).toBe("hello");
  });
  test("before anybody has started a run one fits: a change where there is a repository, else a first run of seconds", () => {
    expect([propose(SHOP, []), propose(NOTES, []), propose(undefined, [])]).toEqual(["feature", "hello", "hello"]);
  });
  test("where none of these can be started nothing is proposed, and never the first of the alphabet", () => {
    expect(proposePipeline(["alpha"], SHOP, NONE, runs, "usr_ada")).toBeNull();
  });
});
