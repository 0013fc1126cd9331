import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { existsSync, mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { startServer, type TestServer } from "../../testing/server.ts";
import type { PipelineDetail, Validation } from "./model.ts";

let server: TestServer;
const pathOf = (path: string) => join(server.data, "agents", path);
function put(path: string, text: string): void {
  mkdirSync(dirname(pathOf(path)), { recursive: true });
  writeFileSync(pathOf(path), text);
}
const source = (id: string, more = "") => `# ours
id: ${id}
name: One # shown
steps:
  - id: work
    agent: ann
    input: "Do {{ task_description }}"
${more}`;

beforeAll(async () => {
  server = await startServer();
  put("ann/AGENT.md", "---\nname: Ann\n---\nYou are Ann.\n");
});
afterAll(() => server.remove());

const create = (body: Record<string, unknown>) => server.request<PipelineDetail>("POST", "/v1/pipelines", { body });
const get = (id: string) => server.request<PipelineDetail>("GET", `/v1/pipelines/${id}`);

describe("pipelines", () => {
  test("a pipeline sent as text is that text on disk, read back with its parts", async () => {
    const made = await create({ source: source("one") });
    expect([made.status, made.headers.get("location")]).toEqual([201, "/v1/pipelines/one"]);
    expect(made.body).toMatchObject({
      id: "one",
      name: "One",
      version: 1,
      agents: ["ann"],
      valid: true,
      problems: [],
      source_file: "_pipelines/one.yml",
      source: source("one"),
    });
    expect(made.body.steps).toMatchObject([{ id: "work", agent: "ann" }]);
    expect(readFileSync(pathOf("_pipelines/one.yml"), "utf8")).toBe(source("one"));
    expect((await create({ source: source("one") })).status).toBe(409);
  });

  test("skills of a step that do not exist or cannot be read are problems at their place until the skills are valid", async () => {
    put("ann/skills/kept.md", "---\ndescription: d\n---\nText.\n");
    put("ann/skills/off.md", "---\ndescription: d\nenabled: false\n---\nText.\n");
    put("ann/skills/broken.md", "---\ndescription: [\n---\nText.\n");
    put("_pipelines/skilled.yml", source("skilled", "    skills: [kept, off, broken, gone]\n"));
    const problems = (await get("skilled")).body.problems;
    expect(problems.map(({ pointer, message }) => [pointer, message])).toEqual([
      ["/steps/0/skills/2", 'The agent "ann" has no skill "broken" that can be read.'],
      ["/steps/0/skills/3", 'The agent "ann" has no skill "gone" that can be read.'],
    ]);
    expect(problems[0]).toMatchObject({ line: 8 });
    put("ann/skills/broken.md", "---\ndescription: d\n---\nMended.\n");
    put("_skills/gone.md", "---\ndescription: d\n---\nThere again.\n");
    expect((await get("skilled")).body).toMatchObject({ valid: true, problems: [] });
  });

  test("a pipeline sent as fields is written and read the same", async () => {
    const fields = {
      id: "fields",
      name: "F",
      steps: [{ id: "s", agent: "ann", input: "x" }],
      inputs: { a: { required: true } },
    };
    const made = await create(fields);
    expect(made.status).toBe(201);
    expect(made.body).toMatchObject(fields);
  });

  test("changing fields keeps the file's comments; sending the text replaces it", async () => {
    await create({ source: source("kept") });
    const changed = await server.request<PipelineDetail>("PUT", "/v1/pipelines/kept", {
      body: { name: "Two", version: 4, description: "new" },
    });
    expect(changed.body).toMatchObject({ name: "Two", version: 4, description: "new" });
    for (const part of ["# ours", "# shown", "Two"]) expect(changed.body.source).toContain(part);
    const whole = await server.request<PipelineDetail>("PUT", "/v1/pipelines/kept", {
      body: { source: source("kept") },
    });
    expect(whole.body.source).toBe(source("kept"));
    const cleared = await server.request<PipelineDetail>("PUT", "/v1/pipelines/kept", { body: { description: null } });
    expect(cleared.body.description).toBe("");
  });

  test.each([
    ["broken YAML", { source: "id: [" }, 422],
    ["an empty text", { source: "" }, 422],
    ["nothing", {}, 422],
    ["no steps", { id: "x", name: "X", steps: [] }, 422],
    ["an unknown key", { source: source("x", "extra: 1\n") }, 422],
    ["an unknown agent", { source: source("x").replace("agent: ann", "agent: nobody") }, 422],
    ["an unknown variable", { source: source("x").replace("task_description", "taskdescription") }, 422],
    ["an id that is a path", { source: source("../x") }, 422],
    ["a reserved id", { source: source("all") }, 422],
    ["two ids", { id: "y", source: source("x") }, 422],
    ["an alias bomb", { source: "a: &a [1,1]\nb: [*a,*a]\n" }, 422],
    ["a circle", { source: source("x", "    needs: [work]\n") }, 422],
  ])("refuses %s with the place of the problem, and writes nothing", async (_what, body, status) => {
    const answer = await create(body);
    expect(answer.status).toBe(status);
    expect(existsSync(pathOf("_pipelines/x.yml"))).toBe(false);
  });

  test("validate says the same without storing", async () => {
    const check = (body: Record<string, unknown>) =>
      server.request<Validation>("POST", "/v1/pipelines/validate", { body });
    expect((await check({ source: source("checked") })).body).toEqual({ valid: true, problems: [] });
    const { status, body } = await check({ source: source("checked").replace("agent: ann", "agent: nobody") });
    expect([status, body.valid, body.problems[0]?.line, body.problems[0]?.pointer]).toEqual([
      200,
      false,
      6,
      "/steps/0/agent",
    ]);
    expect((await get("checked")).status).toBe(404);
  });

  test("files on disk count at once; a broken one is listed with its problems", async () => {
    put("_pipelines/hand.yml", source("hand"));
    expect((await get("hand")).body.valid).toBe(true);
    put("_pipelines/hand.yml", source("other"));
    expect((await get("hand")).body).toMatchObject({ id: "hand", valid: false });
    put("_pipelines/hand.yml", "id: hand\nsteps: [");
    const { body } = await server.request<{ items: PipelineDetail[] }>("GET", "/v1/pipelines?limit=200");
    expect(body.items.find((one) => one.id === "hand")).toMatchObject({ valid: false, steps: [] });
    expect((await server.request("PUT", "/v1/pipelines/hand", { body: { name: "x" } })).status).toBe(409);
    expect((await server.request("PUT", "/v1/pipelines/hand", { body: { source: source("hand") } })).status).toBe(200);
    rmSync(pathOf("_pipelines/hand.yml"));
    expect((await get("hand")).status).toBe(404);
  });

  test("a pipeline becomes invalid when its agent is removed, and valid again when it is back", async () => {
    put("temp/AGENT.md", "You are temporary.");
    await create({ source: source("lean").replace("agent: ann", "agent: temp") });
    rmSync(pathOf("temp"), { recursive: true });
    expect((await get("lean")).body.valid).toBe(false);
    put("temp/AGENT.md", "You are temporary.");
    expect((await get("lean")).body.valid).toBe(true);
  });

  test("If-Match that no longer holds is 412", async () => {
    await create({ source: source("tag") });
    const headers = { "If-Match": (await get("tag")).headers.get("etag")! };
    const write = (name: string) => server.request("PUT", "/v1/pipelines/tag", { body: { name }, headers });
    expect([(await write("a")).status, (await write("b")).status]).toEqual([200, 412]);
    expect((await server.request("DELETE", "/v1/pipelines/tag", { headers })).status).toBe(412);
    expect((await server.request("DELETE", "/v1/pipelines/tag")).status).toBe(204);
    expect((await server.request("DELETE", "/v1/pipelines/tag")).status).toBe(404);
  });

  test("links that lead out are not pipelines; the JSON Schema for editors is there", async () => {
    symlinkSync("/etc/hosts", pathOf("_pipelines/hosts.yml"));
    expect((await get("hosts")).status).toBe(404);
    const schema = await server.request("GET", "/v1/pipelines/schema.json");
    expect(schema.body).toMatchObject({ title: "Skep pipeline", type: "object" });
  });
});
