import { describe, expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { Glob } from "bun";
import { parseAgentFile } from "../engine/agent-file.ts";
import { readFrontMatter } from "../engine/front-matter.ts";
import { parsePipeline } from "../engine/pipeline/parse.ts";
import { matchSkills } from "../engine/skill-match.ts";
import { SHIPPED_FILES } from "./shipped-files.ts";

const AGENTS = resolve(import.meta.dir, "../../agents");
const files = Object.entries(SHIPPED_FILES);
const agents = files.filter(([path]) => path.endsWith("/AGENT.md")).map(([path]) => path.split("/")[0] as string);
const skills = files
  .filter(([path]) => path.startsWith("_skills/"))
  .map(([path, text]) => {
    const { data, body, problems } = readFrontMatter(text);
    const { name, description, tags } = data as { name: string; description: string; tags: string[] };
    return { path, name, description, tags, body, problems };
  });

describe("what ships", () => {
  test("every file under agents/ is embedded, under its own path and to the byte", () => {
    const onDisk = [...new Glob("**/*").scanSync({ cwd: AGENTS, dot: true })].sort();
    expect(Object.keys(SHIPPED_FILES).sort()).toEqual(onDisk);
    for (const [path, text] of files) expect([path, text]).toEqual([path, readFileSync(join(AGENTS, path), "utf8")]);
  });

  test.each(agents)("the agent %s reads without a problem, and is described for those who choose it", (id) => {
    const { agent, problems } = parseAgentFile(id, SHIPPED_FILES[`${id}/AGENT.md`] ?? "");
    expect(problems).toEqual([]);
    expect(agent).toMatchObject({ enabled: true, description: expect.stringMatching(/\S/), role: expect.any(String) });
    expect(agent.config.model, "the model is the instance's to choose").toBeUndefined();
    expect(agent.config.tools, "a list of its own").toBeArray();
    // A chat does not fail; it ends when its phase is finished.
    expect(agent.prompt).toContain(id.startsWith("interviewer-") ? "`finish_phase`" : "`fail`");
  });

  test("only engineer and scribe change files, and the scribe has no shell", () => {
    const having = (tool: string) =>
      agents.filter((id) =>
        parseAgentFile(id, SHIPPED_FILES[`${id}/AGENT.md`] ?? "").agent.config.tools?.includes(tool),
      );
    expect([having("write"), having("edit")]).toEqual([
      ["engineer", "scribe"],
      ["engineer", "scribe"],
    ]);
    expect(having("bash")).toEqual(["engineer", "reviewer"]);
  });

  test.each(skills.map((skill) => [skill.path, skill] as const))("%s is a skill of that name", (path, skill) => {
    expect(skill.problems).toEqual([]);
    expect(path).toBe(`_skills/${skill.name}.md`);
    expect(skill.description).toContain("Load ");
    expect(skill.tags.length).toBeGreaterThan(0);
    expect(skill.body.trim().length).toBeGreaterThan(500);
  });

  test.each([
    ["Write the commit message for this change", "git-commit-messages"],
    ["Please review this pull request", "code-review"],
    ["Add a regression test for the parser", "writing-tests"],
    ["The server crashes, here is the stack trace", "debugging"],
    ["Is this open to SQL injection? Look at authorization", "security-review"],
    ["Renew the README and the changelog", "documentation"],
    ["Break down the roadmap into milestones", "planning"],
    ["Research and compare three queues, with sources", "research-with-sources"],
    ["Describe the conventions of this codebase", "repository-survey"],
  ])('"%s" calls for %s first', (input, name) => {
    expect(matchSkills(skills, input)[0]?.name).toBe(name);
  });

  test.each(files.filter(([path]) => path.startsWith("_pipelines/")))("%s is valid for the team and skills", (path) => {
    const fileId = path.replace(/^_pipelines\/(.+)\.yml$/, "$1");
    const known = { fileId, agents: new Set(agents) };
    const { definition, problems } = parsePipeline(SHIPPED_FILES[path] ?? "", known);
    expect(problems).toEqual([]);
    const named = definition?.steps.flatMap((step) => ("skills" in step ? (step.skills ?? []) : [])) ?? [];
    expect(named.filter((name) => !skills.some((skill) => skill.name === name))).toEqual([]);
  });
});
