import { describe, expect, test } from "bun:test";
import type { SessionKind } from "./kinds.ts";
import { completeTool } from "./tool/complete.ts";
import { type ExecutionInfo, type Tool, type ToolSource, toolsOf } from "./tool.ts";
import { createToolbox, type Wanted } from "./toolbox.ts";

const tool = (name: string, group: Tool["group"] = "mcp", description = name): Tool => ({
  name,
  group,
  description,
  parameters: { type: "object" },
  timeoutMs: 1_000,
  run: async () => ({ ok: true, output: description }),
});
const execution: ExecutionInfo = {
  id: "exe_1",
  sessionId: "sess_1",
  depth: 0,
  kind: "pipeline",
  agentId: "worker",
  userId: "user_1",
};
const createWanted = (fields: Partial<Wanted> = {}): Wanted => ({
  execution,
  allows: () => true,
  hasShell: true,
  contract: { outputs: [], schema: null },
  ...fields,
});
const namesOf = (tools: readonly Tool[]): string[] => tools.map(({ name }) => name);

describe("the toolbox", () => {
  test("asks every source for each execution, and waits for those that take a moment", async () => {
    const asked: ExecutionInfo[] = [];
    const own: ToolSource = {
      name: "server",
      names: () => ["notes__add"],
      for: async (info) => {
        asked.push(info);
        return info.userId === "user_1" ? [tool("notes__add")] : [];
      },
    };
    const toolbox = createToolbox(() => [toolsOf("fixed", [tool("read", "files")]), own]);
    expect(toolbox.names()).toEqual(["read", "notes__add"]);
    expect(namesOf(await toolbox.for(createWanted()))).toEqual(["read", "notes__add"]);
    expect(namesOf(await toolbox.for(createWanted({ execution: { ...execution, userId: "user_2" } })))).toEqual([
      "read",
    ]);
    expect(asked.map(({ userId }) => userId)).toEqual(["user_1", "user_2"]);
  });

  test("a source that fails brings nothing, is named, and holds up no other", async () => {
    const failed: string[] = [];
    const throwing = (name: string, fail: ToolSource["for"]): ToolSource => ({ name, names: () => [], for: fail });
    const toolbox = createToolbox(
      () => [
        throwing("down", () => {
          throw new Error("down");
        }),
        throwing("gone", () => Promise.reject(new Error("gone"))),
        toolsOf("fixed", [tool("read")]),
      ],
      (source) => failed.push(source),
    );
    expect(namesOf(await toolbox.for(createWanted()))).toEqual(["read"]);
    expect(failed).toEqual(["down", "gone"]);
  });

  test("of two tools of one name the first source's counts, so that none can take another's place", async () => {
    const toolbox = createToolbox(() => [
      toolsOf("built-in", [tool("read", "files", "ours")]),
      toolsOf("server", [tool("read", "mcp", "theirs")]),
    ]);
    expect((await toolbox.for(createWanted())).map(({ description }) => description)).toEqual(["ours"]);
    expect(toolbox.names()).toEqual(["read"]);
  });

  test("leaves out what the agent may not have, whichever source brings it", async () => {
    const toolbox = createToolbox(() => [toolsOf("a", [tool("bash", "shell"), tool("read", "files"), tool("x__y")])]);
    const allows = (name: string) => name !== "x__y";
    expect(namesOf(await toolbox.for(createWanted({ allows })))).toEqual(["bash", "read"]);
    expect(namesOf(await toolbox.for(createWanted({ hasShell: false })))).toEqual(["read", "x__y"]);
  });

  test("complete says which outputs are owed; a chat has no tool that ends it", async () => {
    const toolbox = createToolbox(() => [toolsOf("built-in", [completeTool])]);
    const [complete] = await toolbox.for(createWanted({ contract: { outputs: ["design"], schema: null } }));
    expect(complete?.parameters).toMatchObject({ properties: { outputs: { required: ["design"] } } });
    expect(await toolbox.for(createWanted({ execution: { ...execution, kind: "chat" } }))).toEqual([]);
  });

  test("what a kind of session may is its row in the table, whatever the agent is allowed", async () => {
    const groups = ["files", "shell", "end", "skills", "web", "team"] as const;
    const toolbox = createToolbox(() => [
      toolsOf(
        "all",
        groups.map((group) => tool(group, group)),
      ),
    ]);
    const of = async (kind: SessionKind) =>
      namesOf(await toolbox.for(createWanted({ execution: { ...execution, kind } })));
    expect(await of("pipeline")).toEqual([...groups]);
    expect(await of("chat")).toEqual(["files", "shell", "skills", "web", "team"]);
    expect(await of("onboarding")).toEqual(["skills", "web"]);
    expect(await of("ingest")).toEqual(["end", "skills"]);
  });
});
