/** The graph tools: in the engine, over a run's working copy as it is now, and for which project they may be used. */
import { afterEach, describe, expect, setDefaultTimeout, test } from "bun:test";
import { readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { ExecutionInfo } from "../../engine/tool.ts";
import { NOT_COMPARED, OLDER } from "../../graph/model.ts";
import { createGraphClient, type GraphClient } from "../../graph/serve/client.ts";
import { createFreshAnswers } from "../../graph/serve/fresh-answers.ts";
import { toolSchemas } from "../../graph/serve/tools.ts";
import { LOCAL_ADMIN } from "../../http/caller.ts";
import { openRig } from "../../testing/engine-rig.ts";
import { skepCommand } from "../../testing/server.ts";
import { createSourceTree, SHOP, type SourceTree } from "../../testing/source-tree.ts";
import { createKnowledgeGraph, type KnowledgeGraph } from "./service.ts";

setDefaultTimeout(300_000);
const left: (() => unknown)[] = [];
afterEach(async () => {
  for (const remove of left.splice(0).reverse()) await remove();
});

/** The sample shop as project `proj_shop`, with a working copy for `run_1`. */
function shopService(): { tree: SourceTree; client: GraphClient; service: KnowledgeGraph; copy: string } {
  const tree = createSourceTree(SHOP);
  left.push(tree.remove);
  const client = createGraphClient({ command: skepCommand("graph-worker", join(tree.store, "addons")) });
  left.push(client.close);
  const copy = join(tree.root, "../run_1");
  tree.git("worktree", "add", "-q", "-b", "run/1", copy);
  const gitDir = join(tree.root, ".git/worktrees/run_1");
  const service = createKnowledgeGraph({
    client,
    fresh: createFreshAnswers(client),
    jobs: { latest: () => undefined } as never,
    project: (id) =>
      id === "proj_shop" ? { workspace: { state: "ready", error: null, head: null, fetched_at: null } } : undefined,
    placeOf: () => ({ root: tree.root, gitDir: join(tree.root, ".git"), store: join(tree.store, "graph") }),
    listIndexed: () => [],
    versionOf: () => undefined,
    keepScip: async () => {},
    dropScip: () => {},
    scipOf: () => undefined,
    copyPlaceOf: (_, workId) =>
      workId === "run_1" ? { root: copy, gitDir, store: join(gitDir, "skep-graph") } : undefined,
  });
  return { tree, client, service, copy };
}

const execution = (fields: Partial<ExecutionInfo> = {}): ExecutionInfo => ({
  id: "exe_1",
  sessionId: "sess_1",
  depth: 0,
  kind: "pipeline",
  agentId: "worker",
  projectId: "proj_shop",
  ...fields,
});

describe("graph tools", () => {
  test("an agent of the engine asks all four and reads paths and lines", async () => {
    const tree = createSourceTree(SHOP);
    left.push(tree.remove);
    const call = (tool: string, input: string) => `    - tool_calls: [{ tool: ${tool}, input: {${input} } }]`;
    const script = [
      "steps:",
      "  look:",
      call("code_graph_query", " query: tax"),
      call("code_graph_context", " symbol_name: withTax"),
      call("code_graph_impact", " target: round, direction: upstream, max_depth: 2"),
      call("code_graph_changes", ""),
      call("code_graph_context", " symbol_name: withTaxes"),
      "    - tool_calls: [{ tool: complete, input: { summary: looked } }]",
    ].join("\n");
    const rig = await openRig({
      pipelines: { look: "id: look\nname: Look\nsteps:\n  - id: look\n    agent: worker\n    input: look\n" },
      script,
      env: { ALLOW_LOCAL_REPOSITORIES: "true" },
    });
    left.push(rig.close);
    await rig.start();
    rig.services.projects.create({ name: "shop", repository: tree.root }, LOCAL_ADMIN);
    await rig.event(({ kind, data }) => kind === "project_changed" && JSON.stringify(data).includes('"ready"'));
    const run = rig.create("look", "look", { project_name: "shop" });
    expect((await rig.waitForEnd(run.id)).status).toBe("succeeded");
    const said = rig
      .events()
      .filter(({ kind, data }) => kind === "tool_call_end" && String(data["tool"]).startsWith("code_graph"))
      .map(({ data }) => String(data["output"]));
    expect(said.length).toBe(5);
    expect(said[0]).toContain("Function withTax src/tax.ts:1");
    expect(said[1]).toMatch(/callers \(1\):\n {2}Cart\.total src\/cart\.ts:11 at line 12/);
    expect(said[2]).toMatch(/will break \(1\):\n {2}withTax[\s\S]*likely affected \(1\):\n {2}Cart\.total/);
    expect(said[3]).toStartWith("no uncommitted changes");
    expect(said[4]).toContain("near names: withTax");
  });

  test("a run gets answers about its own working copy as it is now; the project's graph stays as it was", async () => {
    const { service, copy, client, tree } = shopService();
    const ask = (tool: string, args: Record<string, unknown>, fields?: Partial<ExecutionInfo>) =>
      service.toolText({ ...execution({ workId: "run_1", ...fields }), asker: LOCAL_ADMIN }, undefined, tool, args);
    expect(await ask("code_graph_changes", {})).toStartWith("no uncommitted changes");
    await Bun.write(
      join(copy, "src/bill.ts"),
      'import { withTax } from "./tax.ts";\nexport const bill = () => withTax(1);\n',
    );
    const isNoted = (text: string) => text.endsWith(OLDER) || text.endsWith(NOT_COMPARED);
    let said = await ask("code_graph_context", { symbol_name: "withTax" });
    while (isNoted(said)) said = await ask("code_graph_context", { symbol_name: "withTax" });
    expect(said).toContain("bill src/bill.ts:2");
    expect(await ask("code_graph_changes", {})).toMatch(
      /added bill src\/bill\.ts:2 lines 2[\s\S]*untracked src\/bill\.ts/,
    );
    const project = await ask("code_graph_context", { symbol_name: "withTax" }, { workId: undefined });
    expect(project).not.toContain("bill");
    expect(await client.project({ root: tree.root, store: join(tree.store, "graph") }).status()).toMatchObject({
      files: 3,
    });
  });

  test("only the execution's own project is mentioned; without one, the project must be named", async () => {
    const { service } = shopService();
    const ask = (info: ExecutionInfo, id?: string) =>
      service
        .toolText({ ...info, asker: LOCAL_ADMIN }, id, "code_graph_query", { query: "tax" })
        .catch((error) => error.status);
    expect(await ask(execution({ projectId: "proj_other" }), "proj_shop")).toBe(403);
    expect(await ask(execution({ projectId: undefined }))).toBe(409);
    expect(await ask(execution({ projectId: undefined }), "proj_none")).toBe(404);
    expect(await ask(execution({ projectId: undefined }), "proj_shop")).toContain("withTax");
  });

  test("a deleted or damaged index is made again by the question itself", async () => {
    const { service, tree } = shopService();
    const ask = () =>
      service.toolText({ ...execution(), asker: LOCAL_ADMIN }, undefined, "code_graph_context", {
        symbol_name: "withTax",
      });
    expect(await ask()).toContain("Cart.total src/cart.ts:11");
    const store = join(tree.store, "graph");
    rmSync(store, { recursive: true });
    expect(await ask()).toContain("Cart.total src/cart.ts:11");
    const snapshot = join(store, "g1/graph.bin");
    const bytes = readFileSync(snapshot);
    bytes.fill(7, bytes.length / 2);
    writeFileSync(snapshot, bytes);
    // This uses another process, because the first one has the graph in memory.
    const other = createGraphClient({ command: skepCommand("graph-worker", join(tree.store, "addons")) });
    left.push(other.close);
    const graph = other.project({ root: tree.root, gitDir: join(tree.root, ".git"), store });
    expect(await graph.tool("code_graph_query", { query: "tax" }).catch((error) => error.code)).toBe("not_indexed");
    expect(await graph.index({ force: false })).toMatchObject({ changed: true, parsed: 0 });
    expect(await graph.tool("code_graph_query", { query: "tax" })).toContain("withTax");
  });

  test("the five schemas together fit in 4 kB", () => {
    const tools = toolSchemas(true);
    expect(tools.length).toBe(5);
    expect(JSON.stringify(tools).length).toBeLessThan(4_000);
  });
});
