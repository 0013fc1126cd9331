/** What a running server reports to `skep doctor`, and how the command ends: it fails when nothing could run. */
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { skep, temporaryFolder } from "../../testing/command.ts";
import { createModelServer, type ModelServer } from "../../testing/model-server.ts";
import { startServer, type TestServer } from "../../testing/server.ts";
import { checkModels } from "../engine/checks.ts";
import { checkFiles, type Finding, imageFinding } from "./model.ts";

setDefaultTimeout(300_000);

describe("findings about work", () => {
  const use = (state: Parameters<typeof checkModels>[0][number]["state"], by = "the settings") => ({
    model: "a/b",
    by,
    state,
  });

  test("models: none set up, none by default, or one that cannot be called is a failure with its remedy", () => {
    expect(checkModels([], false, false)).toMatchObject([
      { verdict: "fail", remedy: expect.stringContaining("skep init") },
    ]);
    expect(checkModels([], false, true)).toMatchObject([
      { verdict: "fail", detail: expect.stringContaining("default") },
    ]);
    expect(checkModels([use("ready")], true, true)).toMatchObject([{ verdict: "ok" }]);
    for (const state of ["off", "not configured", "key refused", "unknown"] as const)
      expect(checkModels([use("ready"), use(state, "agent scribe")], true, true)).toMatchObject([
        {
          verdict: "fail",
          detail: expect.stringContaining("agent scribe"),
          remedy: expect.stringMatching(/skep providers/),
        },
      ]);
    expect(checkModels([use("ready"), { ...use("off", "agent scribe"), isFallback: true }], true, true)).toMatchObject([
      { verdict: "warn", detail: expect.stringContaining("agent scribe") },
    ]);
  });

  test("files: broken ones are named with the line; a broken skill only warns", () => {
    const broken = { file: "scribe/AGENT.md", problems: [{ line: 3, column: 1, message: "No such field." }] };
    expect(checkFiles("agents", [broken, { file: "x", problems: [] }])).toMatchObject({
      verdict: "fail",
      detail: "1 of 2 are broken: scribe/AGENT.md:3: No such field.",
    });
    expect(checkFiles("skills", [broken]).verdict).toBe("warn");
    expect(checkFiles("pipelines", []).verdict).toBe("ok");
  });

  test("an image that is missing is no failure when it can be made or pulled", () => {
    const judgeImage = (image: string, parts: Partial<Parameters<typeof imageFinding>[1]>) =>
      imageFinding(image, { present: false, makeable: false, pull: false, ...parts }).verdict;
    expect(judgeImage("a:1", { present: true })).toBe("ok");
    expect(judgeImage("skep/agent:latest", { makeable: true })).toBe("ok");
    expect(judgeImage("a:1", { pull: true })).toBe("warn");
    expect(judgeImage("skep/other:1", { pull: true })).toBe("fail");
    expect(judgeImage("a:1", {})).toBe("fail");
  });
});

describe("skep doctor beside a running server", () => {
  const folder = temporaryFolder();
  const env = { HOME: folder.path, XDG_STATE_HOME: join(folder.path, "state") };
  let server: TestServer;
  let models: ModelServer;
  beforeAll(async () => {
    models = await createModelServer();
    models.get("/v1/models", { data: [{ id: "large" }] });
    server = await startServer({ env });
  });
  afterAll(async () => {
    await server.remove();
    await models.stop();
    folder.remove();
  });
  async function doctor(): Promise<{ code: number; of(check: string): Finding | undefined }> {
    const { code, stdout } = await skep(["doctor", "--json"], { env, cwd: folder.path });
    const { findings } = JSON.parse(stdout) as { findings: Finding[] };
    return { code, of: (check) => findings.find((finding) => finding.check === check) };
  }
  const put = (path: string, body: unknown) => server.request("PUT", path, { body });

  test("fails without a model, and without its key; passes once a model can be called", async () => {
    const none = await doctor();
    expect([none.code, none.of("models")]).toEqual([1, expect.objectContaining({ verdict: "fail" })]);
    await put("/v1/settings", { models: { default: "anthropic/claude-sonnet-4-5" } });
    await put("/v1/settings/providers/custom-lab", { base_url: `${models.origin}/v1` });
    const keyless = await doctor();
    expect([keyless.code, keyless.of("models")?.detail]).toEqual([1, expect.stringContaining("without a key")]);
    await put("/v1/settings", { models: { default: "custom-lab/large" } });
    const well = await doctor();
    expect([well.code, well.of("models")]).toEqual([0, expect.objectContaining({ verdict: "ok" })]);
  });

  test("fails on a broken agent, a broken pipeline and a secret that cannot be opened, naming each", async () => {
    const agents = join(server.data, "agents");
    mkdirSync(join(agents, "broken"));
    writeFileSync(join(agents, "broken/AGENT.md"), "---\nmax_turns: many\n---\nWork.\n");
    writeFileSync(join(agents, "_pipelines/bad.yml"), "id: bad\n");
    const { code, of } = await doctor();
    expect(code).toBe(1);
    expect(of("agents")).toMatchObject({ verdict: "fail", detail: expect.stringContaining("broken/AGENT.md:2") });
    expect(of("pipelines")).toMatchObject({ verdict: "fail", detail: expect.stringContaining("_pipelines/bad.yml") });
    rmSync(join(agents, "broken"), { recursive: true });
    rmSync(join(agents, "_pipelines/bad.yml"));
    expect((await doctor()).code).toBe(0);
  });

  test("asks only the server elsewhere, and says when it may not", async () => {
    const guarded = await startServer({ env: { AUTH_ENABLED: "true" } });
    const asked = await skep(["doctor", "--url", guarded.url], { env });
    await guarded.remove();
    expect([asked.code, asked.stdout]).toEqual([0, expect.stringMatching(/^warn +server's view[\s\S]*skep login/)]);
    // Only the server knows how full its disk is.
    expect((await skep(["doctor", "--url", server.url], { env })).stdout).toMatch(
      /^(ok|warn|FAIL) +disk +\S+ \S+ free$/m,
    );
    const away = await skep(["doctor", "--url", "http://127.0.0.1:9"], { env });
    expect([away.code, away.stdout]).toEqual([1, expect.stringMatching(/^FAIL +server's view .*does not answer/)]);
  });

  test("without a server looks at the files that one would read", async () => {
    const data = join(folder.path, "later");
    mkdirSync(join(data, "agents/_pipelines"), { recursive: true });
    writeFileSync(join(data, "agents/_pipelines/bad.yml"), "id: bad\n");
    const { code, stdout } = await skep(["doctor", "--data", data], { env });
    expect([code, stdout]).toEqual([1, expect.stringMatching(/FAIL +pipelines .*bad\.yml:1[\s\S]*skep check/)]);
  });
});
