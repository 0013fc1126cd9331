/**
 * Checks the docs pages on pipelines, agents and skills against the code: their examples are parsed, and their tables
 * compared.
 */
import { describe, expect, test } from "bun:test";
import { existsSync, readFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { AGENT_CONFIG, AGENT_DEFAULTS, parseAgentFile } from "../engine/agent-file.ts";
import { readFrontMatter } from "../engine/front-matter.ts";
import {
  AGENT_STEP,
  APPROVAL_STEP,
  COMMAND_STEP,
  DEFAULT_MAX_ATTEMPTS,
  DEFAULT_MAX_PARALLEL,
  DEFAULT_MAX_VISITS,
  FOR_EACH_STEP,
  PIPELINE,
} from "../engine/pipeline/definition.ts";
import { parsePipeline } from "../engine/pipeline/parse.ts";
import { DEFAULT_SETTINGS } from "../feature/settings/model.ts";
import { SHIPPED_FILES } from "../store/shipped-files.ts";
import { openTestApp } from "./app.ts";
import { openRig } from "./engine-rig.ts";
import { PipelineRun } from "./pipeline-run.ts";

const DOCS = resolve(import.meta.dir, "../../docs");
const page = (name: string): string => readFileSync(join(DOCS, name), "utf8");
/** Fenced blocks of a language, without indentation. */
const blocks = (text: string, language: string): string[] =>
  [...text.matchAll(/^```(\w+)\n([\s\S]*?)^```$/gm)].flatMap(([, found, body]) => (found === language ? [body!] : []));
/** Words in backticks in the first column of the tables below a heading, up to the next heading of any level. */
function keysUnder(text: string, heading: string): string[] {
  const [, section = ""] = text.split(`\n${heading}\n`);
  const rows = section.split(/\n#+ /)[0]?.match(/^\| `[^|]+\|/gm) ?? [];
  return rows.flatMap((row) => [...row.matchAll(/`([^`]+)`/g)].map(([, key]) => key!));
}
const SHIPPED = Object.keys(SHIPPED_FILES);
const agents = SHIPPED.flatMap((path) => /^([a-z]+)\/AGENT\.md$/.exec(path)?.[1] ?? []);
const skills = SHIPPED.flatMap((path) => /^_skills\/(.+)\.md$/.exec(path)?.[1] ?? []);
const pipelines = SHIPPED.flatMap((path) => /^_pipelines\/(.+)\.yml$/.exec(path)?.[1] ?? []);
const sort = (names: readonly string[]): string[] => [...names].sort();

describe("docs/pipelines.md", () => {
  const text = page("pipelines.md");
  const isTranscript = (source: string): boolean => source.startsWith("version: 1\n");
  const examples = blocks(text, "yaml")
    .filter((source) => !isTranscript(source))
    .map((source) => [/^id: (.+)$/m.exec(source)?.[1] ?? "?", source] as const);

  test("has an example of everything the format has", () => {
    const steps = examples.flatMap(([, source]) => parsePipeline(source).definition?.steps ?? []);
    const used = new Set(steps.flatMap((step) => Object.keys(step)));
    const known = [AGENT_STEP, FOR_EACH_STEP, APPROVAL_STEP].flatMap(({ properties }) => Object.keys(properties));
    const unshown = new Set(["name", "description", "max_attempts"]);
    expect(sort([...new Set(known)].filter((key) => !used.has(key) && !unshown.has(key)))).toEqual([]);
  });

  test.each(examples)("the example %s is valid for the shipped team and skills", (_id, source) => {
    const { definition, problems } = parsePipeline(source, { agents: new Set(agents) });
    expect(problems).toEqual([]);
    const named = definition?.steps.flatMap((step) => ("skills" in step ? (step.skills ?? []) : [])) ?? [];
    expect(named.filter((name) => !skills.includes(name))).toEqual([]);
  });

  test("the reference has every key and no other", () => {
    const keys = (schema: { properties: object }) => Object.keys(schema.properties);
    const common = ["id", "name", "description", "needs", "when"];
    const own = (...schemas: { properties: object }[]) =>
      sort([...new Set(schemas.flatMap(keys))].filter((key) => !common.includes(key)));
    expect(sort(keysUnder(text, "### Pipeline"))).toEqual(sort(keys(PIPELINE)));
    expect(sort(keysUnder(text, "### Every step"))).toEqual(sort(common));
    expect(sort(keysUnder(text, "### A step of an agent"))).toEqual(own(AGENT_STEP, FOR_EACH_STEP));
    expect(sort(keysUnder(text, "### A step of a command"))).toEqual(own(COMMAND_STEP));
    expect(sort(keysUnder(text, "### A step of a person"))).toEqual(own(APPROVAL_STEP));
  });

  test("every variable of its table exists", () => {
    const names = keysUnder(text, "## Variables").flatMap((name, at, all) =>
      name.startsWith(".")
        ? [
            `${
              all
                .slice(0, at)
                .findLast((one) => !one.startsWith("."))
                ?.split(".")[0]
            }${name}`,
          ]
        : [name],
    );
    expect(names.length).toBeGreaterThan(15);
    for (const name of names) {
      const variable = name.replace("<id>", "first").replace("<name>", "x");
      const source = `id: p\nname: P\ninputs: { x: {} }\nsteps:
  - { id: first, agent: a, input: x, outputs: [x] }
  - { id: each, agent: a, for_each: [1], input: "{{ ${variable} }}" }\n`;
      expect([variable, parsePipeline(source).problems]).toEqual([variable, []]);
    }
  });

  test("the defaults it names are those of the code", () => {
    expect(text).toContain(`\`max_attempts\` in all (${DEFAULT_MAX_ATTEMPTS} unless`);
    expect(text).toContain(`(${DEFAULT_MAX_VISITS} unless you say so, 20 at most)`);
    expect(text).toContain(`at once, ${DEFAULT_MAX_PARALLEL} unless you say so`);
  });

  test("the loop of its example goes round, gives up where it says, and skips what the route passes", () => {
    const source = examples.find(([id]) => id === "until-it-holds")?.[1] ?? "";
    const review = (verdict: string) => ({ verdict, findings: ["f"] });
    const run = new PipelineRun(source).succeed("build", { changed_files: [] }).succeed("review", review("changes"));
    expect(run.open).toEqual(["build"]);
    run.succeed("build", { changed_files: [] }).succeed("review", review("hopeless"));
    expect(run.statuses).toBe("build:succeeded review:succeeded document:skipped report:queued");
    const endless = new PipelineRun(source);
    for (let round = 1; round <= 3; round++)
      endless.succeed("build", { changed_files: [] }).succeed("review", review("changes"));
    expect(endless.run).toMatchObject({ status: "failed", error: { code: "max_visits" } });
  });

  test("its transcript plays its pipeline: past the documentation, to the report", async () => {
    const script = (blocks(text, "yaml").find(isTranscript) ?? "").replace("version: 1\n", "");
    const pipeline = examples.find(([id]) => id === "until-it-holds")?.[1] ?? "";
    const team = Object.fromEntries(agents.map((id) => [id, SHIPPED_FILES[`${id}/AGENT.md`]!]));
    const rig = await openRig({ pipelines: { "until-it-holds": pipeline }, script, agents: team });
    await rig.start();
    const run = rig.create("until-it-holds");
    expect(await rig.waitForEnd(run.id)).toMatchObject({ status: "succeeded" });
    expect(rig.steps(run.id).map(({ step_id, status }) => `${step_id} ${status}`)).toEqual([
      "build succeeded",
      "review succeeded",
      "document skipped",
      "report succeeded",
    ]);
    await rig.close();
  });

  test("names each shipped pipeline, and no other", () => {
    const [table] = text.split("\n## ");
    const named = [...(table ?? "").matchAll(/^\| `([^`]+)` \|/gm)].map(([, name]) => name!);
    expect(sort(named)).toEqual(sort(pipelines));
  });
});

describe("docs/agents.md", () => {
  const text = page("agents.md");
  const rows = new Map(
    [...text.matchAll(/^\| (`[^|]+`) \| ([^|]*) \|/gm)].flatMap(([, keys, value]) =>
      keys!.split(", ").map((key) => [key.replaceAll("`", ""), value!] as const),
    ),
  );

  test("its example reads without a problem", () => {
    const [example = ""] = blocks(text, "markdown");
    const { agent, problems } = parseAgentFile("migrator", example);
    expect(problems).toEqual([]);
    expect(agent).toMatchObject({ name: "Migrator", config: { budget_usd_per_run: 3 } });
  });

  test("its table has every key of the front matter, with the default in force", () => {
    const identity = ["name", "description", "role", "emoji", "enabled"];
    const known = [...identity, ...Object.keys(AGENT_CONFIG.properties)];
    expect(sort(keysUnder(text, "## Front matter"))).toEqual(sort(known));
    for (const [key, value] of Object.entries(AGENT_DEFAULTS))
      expect([key, rows.get(key)]).toEqual([key, `\`${Array.isArray(value) ? "[]" : value}\``]);
    const { limits, sandbox } = DEFAULT_SETTINGS;
    const { max_turns, timeout_seconds } = limits;
    const { network, memory_mb, cpus } = sandbox;
    for (const [key, value] of Object.entries({ max_turns, timeout_seconds, network, memory_mb, cpus }))
      expect([key, rows.get(key)]).toEqual([key, `the instance's (\`${value}\`)`]);
  });

  test("every tool it names exists, and the shipped team is whole", async () => {
    const app = await openTestApp();
    const names = app.contributions.tools.flatMap((source) => source.names());
    await app.remove();
    expect(keysUnder(text, "## Tools").filter((tool) => !names.includes(tool))).toEqual([]);
    const [table] = text.split("\n## ");
    const team = [...(table ?? "").matchAll(/^\| `([^`]+)` \| [^|]* \| (\w+) \| ([^|]+) \|/gm)];
    expect(sort(team.map(([, id]) => id!))).toEqual(sort(agents));
    for (const [, id, writes, shell] of team) {
      const tools = parseAgentFile(id!, SHIPPED_FILES[`${id}/AGENT.md`]!).agent.config.tools ?? [];
      expect([id, writes, shell !== "no"]).toEqual([
        id,
        tools.includes("write") ? "yes" : "no",
        tools.includes("bash"),
      ]);
    }
  });
});

describe("docs/skills.md", () => {
  const text = page("skills.md");

  test("its example reads without a problem, and its table names each shipped skill", () => {
    const { data, body, problems } = readFrontMatter(blocks(text, "markdown")[0] ?? "");
    expect(problems).toEqual([]);
    expect(data).toMatchObject({ name: "release", tags: expect.arrayContaining(["release"]) });
    expect(body).toContain("# Releasing");
    expect(sort(keysUnder(text, "## What ships"))).toEqual(sort(skills));
  });
});

test.each(["pipelines.md", "agents.md", "skills.md"])("every link of docs/%s leads somewhere", (name) => {
  const anchorOf = (heading: string) =>
    heading
      .toLowerCase()
      .replace(/[^\p{L}\p{N} _-]/gu, "")
      .replaceAll(" ", "-");
  const links = [...page(name).matchAll(/\]\(([^)#:]*)(?:#([^)]+))?\)/g)];
  expect(links.length).toBeGreaterThan(0);
  for (const [whole, file = "", anchor] of links) {
    const target = join(DOCS, dirname(name), file || name);
    expect([whole, existsSync(target)]).toEqual([whole, true]);
    const headings = [...readFileSync(target, "utf8").matchAll(/^#+ (.+)$/gm)].map(([, heading]) => anchorOf(heading!));
    if (anchor) expect([whole, headings.includes(anchor)]).toEqual([whole, true]);
  }
});
