import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { startServer, type TestServer } from "../../testing/server.ts";
import type { Skill } from "./model.ts";

let server: TestServer;
const pathOf = (path: string) => join(server.data, "agents", path);
function put(path: string, text: string): void {
  mkdirSync(dirname(pathOf(path)), { recursive: true });
  writeFileSync(pathOf(path), text);
}
const on = (path: string) => readFileSync(pathOf(path), "utf8");

beforeAll(async () => {
  server = await startServer();
  for (const id of ["ann", "bob"]) put(`${id}/AGENT.md`, `---\nname: ${id}\n---\nYou are ${id}.\n`);
});
afterAll(() => server.remove());

const create = (body: Record<string, unknown>) =>
  server.request<Skill>("POST", "/v1/skills", { body: { description: "d", content: "c", ...body } });
const get = (name: string, agent = "") =>
  server.request<Skill>("GET", `/v1/skills/${name}${agent && `?agent_id=${agent}`}`);
async function names(query = ""): Promise<string[]> {
  const { body } = await server.request<{ items: Skill[] }>("GET", `/v1/skills?limit=200${query}`);
  return body.items.map((skill) => skill.name);
}

describe("skills", () => {
  test("a created skill is a file with front matter, read back whole", async () => {
    const input = {
      name: "deploy",
      description: "How to deploy",
      tags: ["deploy", "release"],
      content: "# Do\n\nThis.",
    };
    const made = await create({ ...input, scope: "global" });
    expect([made.status, made.headers.get("location")]).toEqual([201, "/v1/skills/deploy"]);
    expect(made.body).toMatchObject({
      ...input,
      enabled: true,
      scope: "global",
      agent_id: null,
      overrides_global: false,
      source_file: "_skills/deploy.md",
      has_files: false,
      problems: [],
    });
    expect((await get("deploy")).body).toEqual(made.body);
    expect(on("_skills/deploy.md")).toContain("description: How to deploy");
  });

  test("an agent's own skill overrides everybody's, for that agent alone", async () => {
    await create({ name: "style", content: "for all" });
    const own = await create({ name: "style", content: "for ann", scope: "agent", agent_id: "ann" });
    expect([own.status, own.headers.get("location")]).toEqual([201, "/v1/skills/style?agent_id=ann"]);
    expect(own.body).toMatchObject({ scope: "agent", agent_id: "ann", overrides_global: true });
    expect((await get("style", "ann")).body.content).toBe("for ann");
    expect((await get("style", "bob")).body.content).toBe("for all");
    expect((await get("style")).body.content).toBe("for all");
    expect((await names("&agent_id=ann")).filter((name) => name === "style")).toHaveLength(1);
    expect((await names()).filter((name) => name === "style")).toHaveLength(2);
    expect((await server.request("DELETE", "/v1/skills/style?agent_id=ann")).status).toBe(204);
    expect((await get("style", "ann")).body.content).toBe("for all");
    expect((await server.request("DELETE", "/v1/skills/style?agent_id=ann")).status).toBe(404);
  });

  test("edits on disk count at once: added, changed, removed", async () => {
    put("_skills/by-hand.md", "---\nname: by-hand\ndescription: one\ntags: a, b\n---\nbody one\n");
    expect((await get("by-hand")).body).toMatchObject({ description: "one", tags: ["a", "b"], content: "body one" });
    put("_skills/by-hand.md", "---\nname: by-hand\ndescription: two\n---\nbody two\n");
    expect((await get("by-hand")).body).toMatchObject({ description: "two", tags: [], content: "body two" });
    rmSync(pathOf("_skills/by-hand.md"));
    expect((await get("by-hand")).status).toBe(404);
  });

  test("switching keeps the file's comments, order and body to the byte", async () => {
    const text =
      "---\n# who wrote this\nname: toggled # same as the file\ndescription: d\ncustom: kept\n---\n\n# Body  \n\ntext\n";
    put("_skills/toggled.md", text);
    const patch = (enabled: boolean) => server.request("PATCH", "/v1/skills/toggled/enabled", { body: { enabled } });
    expect((await patch(false)).body["enabled"]).toBe(false);
    expect(on("_skills/toggled.md")).toBe(text.replace("custom: kept\n", "custom: kept\nenabled: false\n"));
    expect((await patch(true)).body["enabled"]).toBe(true);
    expect(on("_skills/toggled.md")).toContain("# who wrote this");
    expect((await server.request("PATCH", "/v1/skills/toggled/enabled", { body: { enabled: "no" } })).status).toBe(422);
    expect((await server.request("PATCH", "/v1/skills/none/enabled", { body: { enabled: true } })).status).toBe(404);
  });

  test("PUT changes what is sent, null clears tags, unknown fields and owners have no effect", async () => {
    await create({ name: "change", tags: ["x"], content: "old" });
    const body = {
      description: "new",
      tags: null,
      name: "other",
      scope: "agent",
      agent_id: "ann",
      source_file: "../x",
    };
    const { status, body: changed } = await server.request("PUT", "/v1/skills/change", { body });
    expect(status).toBe(200);
    expect(changed).toMatchObject({ name: "change", description: "new", tags: [], content: "old", scope: "global" });
  });

  test("If-Match that no longer holds is 412, and nothing is changed", async () => {
    await create({ name: "tagged", content: "one" });
    const tag = (await get("tagged")).headers.get("etag")!;
    const write = (content: string) =>
      server.request("PUT", "/v1/skills/tagged", { body: { content }, headers: { "If-Match": tag } });
    expect((await write("two")).status).toBe(200);
    expect((await write("three")).status).toBe(412);
    const removing = await server.request("DELETE", "/v1/skills/tagged", { headers: { "If-Match": tag } });
    expect([removing.status, (await get("tagged")).body.content]).toEqual([412, "two"]);
  });

  test.each([
    ["an empty name", { name: "" }, 422],
    ["a name with capitals", { name: "Deploy" }, 422],
    ["a path as name", { name: "../../x" }, 422],
    ["a reserved name", { name: "settings" }, 422],
    ["no description", { name: "x", description: "" }, 422],
    ["no content", { name: "x", content: "" }, 422],
    ["tags that are not texts", { name: "x", tags: [{}] }, 422],
    ["another scope", { name: "x", scope: "team" }, 422],
    ["an agent's skill of no agent", { name: "x", scope: "agent" }, 422],
    ["an unknown agent", { name: "x", scope: "agent", agent_id: "nobody" }, 404],
    ["a path as agent", { name: "x", scope: "agent", agent_id: "../x" }, 404],
    ["front matter that is broken", { name: "x", content: "---\na: [\n---\nbody" }, 422],
    ["front matter and nothing below", { name: "x", content: "---\na: b\n---\n" }, 422],
    ["a name that is taken", { name: "deploy" }, 409],
  ])("refuses %s", async (_what, body, status) => {
    expect((await create(body)).status).toBe(status);
  });

  test("a body with front matter of its own is taken apart, its further keys kept", async () => {
    const content = "---\nname: not-this\nlicense: MIT\n---\nThe body.";
    const made = await create({ name: "imported", content });
    expect(made.body).toMatchObject({ name: "imported", content: "The body." });
    expect(on("_skills/imported.md")).toContain("license: MIT");
  });

  test("name, description and tags that are not sent are those of the content's front matter", async () => {
    const add = (body: Record<string, unknown>) =>
      server.request<Skill & { detail?: string }>("POST", "/v1/skills", { body });
    const content = "---\nname: from-file\ndescription: How it is done\ntags: one, two\n---\nThe body.";
    const made = await add({ content });
    expect([made.status, made.headers.get("location")]).toEqual([201, "/v1/skills/from-file"]);
    expect(made.body).toMatchObject({ description: "How it is done", tags: ["one", "two"], content: "The body." });
    const sent = { name: "sent", description: "Sent", tags: ["three"] };
    expect((await add({ ...sent, content })).body).toMatchObject({ ...sent, content: "The body." });
    const lacks = async (text: string) => (await add({ content: text })).body.detail;
    expect(await lacks("No front matter.")).toMatch(/^The skill has no name: /);
    expect(await lacks("---\nname: nameless-2\n---\nbody")).toMatch(/^The skill has no description: /);
    expect(await lacks("---\nname: Not One\ndescription: d\n---\nbody")).toMatch(
      /^The name in the front matter is not one/,
    );
    expect(await lacks(`---\nname: long\ndescription: ${"d".repeat(2_001)}\n---\nbody`)).toMatch(
      /^Takes at most 2000 characters/,
    );
  });

  test("an update takes the description, tags and further keys of its content's front matter, and keeps what that lacks", async () => {
    const put = (body: Record<string, unknown>) =>
      server.request<Skill & { detail?: string }>("PUT", "/v1/skills/kept", { body });
    await create({ name: "kept", description: "First", tags: ["one"], content: "---\nlicense: MIT\n---\nBody." });
    const whole =
      "---\nname: kept\ndescription: Second\ntags: two, three\nauthor: somebody\ntrusted: no\nowner: else\n---\nNew.";
    expect((await put({ content: whole })).body).toMatchObject({
      name: "kept",
      description: "Second",
      tags: ["two", "three"],
      content: "New.",
    });
    const text = on("_skills/kept.md");
    expect([text.includes("license: MIT"), text.includes("author: somebody")]).toEqual([true, true]);
    expect([text.includes("trusted"), text.includes("else")]).toEqual([false, false]);
    expect((await put({ content: "Only a body." })).body).toMatchObject({
      description: "Second",
      tags: ["two", "three"],
    });
    const sent = { description: "Third", tags: ["four"] };
    expect((await put({ ...sent, content: whole })).body).toMatchObject(sent);
    const many = Array.from({ length: 51 }, (_, i) => `t${i}`).join(", ");
    const refused = await put({ content: `---\ntags: ${many}\n---\nBody.` });
    expect([refused.status, refused.body.detail]).toEqual([
      422,
      "Takes at most 50 tags of 100 characters, also in the front matter",
    ]);
    const long = await put({ content: `---\ndescription: ${"d".repeat(2_001)}\n---\nBody.` });
    expect(long.status).toBe(422);
    expect((await server.request<Skill>("GET", "/v1/skills/kept")).body).toMatchObject(sent);
  });

  test("broken files are listed with their problems, hide nothing and break nothing", async () => {
    put("_skills/broken.md", "---\nname: broken\ndescription: [unclosed\n---\nbody\n");
    put("_skills/empty.md", "");
    put("_skills/Bad Name.md", "---\ndescription: d\n---\nbody\n");
    put("_skills/twin.md", "---\nname: deploy\ndescription: d\n---\nbody\n");
    put("_skills/large.md", `---\nname: large\ndescription: d\n---\n${"x".repeat(600_000)}`);
    put("ann/skills/deploy.md", "---\nname: [\n---\nbroken of ann\n");
    writeFileSync(pathOf("_skills/binary.md"), Uint8Array.from([0xff, 0xfe, 0]));
    const { body } = await server.request<{ items: Skill[] }>("GET", "/v1/skills?limit=200");
    const problems = new Map(body.items.map((skill) => [skill.source_file, skill.problems.length]));
    for (const name of ["broken", "empty", "Bad Name", "twin", "large", "binary"])
      expect([name, problems.get(`_skills/${name}.md`)]).toEqual([name, expect.any(Number)]);
    for (const name of ["broken", "empty", "Bad Name", "twin", "large", "binary"])
      expect([name, (problems.get(`_skills/${name}.md`) ?? 0) > 0]).toEqual([name, true]);
    expect((await get("deploy")).body.description).toBe("How to deploy");
    expect((await get("deploy", "ann")).body.description).toBe("How to deploy");
    const mend = (change: Record<string, unknown>) => server.request("PUT", "/v1/skills/broken", { body: change });
    expect((await mend({ description: "x" })).status).toBe(409);
    expect((await mend({ description: "x", content: "mended" })).body["problems"]).toEqual([]);
    for (const name of ["broken", "empty", "Bad Name", "twin", "large", "binary"]) rmSync(pathOf(`_skills/${name}.md`));
  });

  test("links that lead out of the folder are not skills", async () => {
    symlinkSync("/etc/passwd", pathOf("_skills/passwd.md"));
    symlinkSync("/etc", pathOf("_skills/etc"));
    expect((await get("passwd")).status).toBe(404);
    expect(await names()).not.toContain("passwd");
    const outside = join(server.data, "keys");
    mkdirSync(pathOf("zoe"), { recursive: true });
    put("zoe/AGENT.md", "You are zoe.");
    symlinkSync(outside, pathOf("zoe/skills"));
    expect((await create({ name: "escape", scope: "agent", agent_id: "zoe" })).status).toBe(409);
    rmSync(pathOf("zoe"), { recursive: true });
  });

  test("a folder with SKILL.md is a skill with files; deleting it removes the folder", async () => {
    put("_skills/pack/SKILL.md", "---\nname: pack\ndescription: d\n---\nSee list.md\n");
    put("_skills/pack/list.md", "the list");
    expect((await get("pack")).body).toMatchObject({ has_files: true, source_file: "_skills/pack/SKILL.md" });
    expect((await server.request("DELETE", "/v1/skills/pack")).status).toBe(204);
    expect((await get("pack")).status).toBe(404);
  });

  test("a list comes in pages that miss and repeat nothing", async () => {
    const all = await names();
    const seen: string[] = [];
    for (let cursor: string | null = ""; cursor !== null; ) {
      const query: string = `?limit=2${cursor ? `&cursor=${cursor}` : ""}`;
      const page: { body: { items: Skill[]; next_cursor: string | null } } = await server.request(
        "GET",
        `/v1/skills${query}`,
      );
      const { body } = page;
      expect(body.items.length).toBeLessThanOrEqual(2);
      seen.push(...body.items.map((skill) => skill.name));
      cursor = body.next_cursor;
    }
    expect(seen).toEqual(all);
    expect((await server.request("GET", "/v1/skills?agent_id=nobody")).status).toBe(404);
  });
});
