import { describe, expect, test } from "bun:test";
import { parseAgentFile } from "./agent-file.ts";
import { readFrontMatter, updateFrontMatter } from "./front-matter.ts";

const FILE = `---
# who
name: Ada   # the first
tools: [read, write]
network: none
---
You are Ada.

--- not a fence
`;

describe("front matter", () => {
  test("values and body are separated, also with CRLF, a byte order mark and a body that holds fences", () => {
    expect(readFrontMatter(FILE)).toMatchObject({
      data: { name: "Ada", tools: ["read", "write"] },
      body: "You are Ada.\n\n--- not a fence\n",
      problems: [],
    });
    expect(readFrontMatter(`\uFEFF${FILE.replaceAll("\n", "\r\n")}`).data["name"]).toBe("Ada");
    expect(readFrontMatter("---\n---\nbody")).toMatchObject({ data: {}, body: "body", problems: [] });
    expect(readFrontMatter("no front matter")).toMatchObject({ data: {}, body: "no front matter", problems: [] });
  });
  test("what is broken is a problem with its line, never an exception", () => {
    expect(readFrontMatter("---\nname: x\n").problems).toHaveLength(1);
    expect(readFrontMatter("---\na: 1\nb: [\n---\n").problems[0]!.line).toBeGreaterThan(1);
    expect(readFrontMatter("---\n- a\n---\n").problems).toHaveLength(1);
    expect(readFrontMatter("---\na: &x 1\nb: *x\n---\n").problems).toHaveLength(1);
  });
  test("a change keeps comments, order and body", () => {
    const text = updateFrontMatter(FILE, { network: "bridge", tools: undefined, cpus: 2 });
    expect(text).toContain("# who");
    expect(text).toContain("# the first");
    expect(readFrontMatter(text)).toMatchObject({
      data: { name: "Ada", network: "bridge", cpus: 2 },
      body: readFrontMatter(FILE).body,
    });
    expect(readFrontMatter(text).data).not.toHaveProperty("tools");
    expect(updateFrontMatter("just a body", { name: "x" })).toBe("---\nname: x\n---\njust a body");
  });
});

describe("agent file", () => {
  test("an unknown or ill-typed field is a problem at its line, and the rest still counts", () => {
    const { agent, problems } = parseAgentFile(
      "ada",
      FILE.replace("network: none", "network: moon\nunknown: 1\ncpus: 2"),
    );
    expect(problems.map(({ line }) => line)).toEqual([5, 6]);
    expect(agent).toMatchObject({ id: "ada", name: "Ada", config: { tools: ["read", "write"], cpus: 2 } });
    expect(agent.config).not.toHaveProperty("network");
  });
  test("a prototype's name is an unknown key like any other", () => {
    const { agent, problems } = parseAgentFile("ada", "---\n__proto__: { max_turns: 3 }\nconstructor: 1\n---\nhi");
    expect(problems.length).toBeGreaterThan(0);
    expect(agent.config.max_turns).toBeUndefined();
  });

  test.each([
    ["bsh", "Did you mean bash?"],
    ["serch_documents", "Did you mean search_documents"],
    ["web_serch", "There are: read, write"],
  ])("the unknown tool %s is a problem where it stands, with the nearest name", (tool, hint) => {
    const { problems } = parseAgentFile("ada", `---\ntools: [read, ${tool}]\n---\nYou work.\n`);
    expect(problems).toEqual([
      {
        line: 2,
        column: 15,
        pointer: "/tools/1",
        message: expect.stringContaining(`There is no tool "${tool}". ${hint}`),
      },
    ]);
  });

  test("tools of tool servers come and go with them: they are no problem", () => {
    expect(parseAgentFile("ada", "---\ntools: [git__log]\n---\nYou work.\n").problems).toEqual([]);
  });
});
