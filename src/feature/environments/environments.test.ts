/** The environment of a project's code, from its repository to the commands of an agent. */
import { Database } from "bun:sqlite";
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { hasBrowser, openBrowser } from "../../testing/browser.ts";
import { skep } from "../../testing/command.ts";
import { visit } from "../../testing/dashboard/visitor.ts";
import { dockerForTests, testImage } from "../../testing/docker-image.ts";
import { framesOf, framesUntil } from "../../testing/event-reader.ts";
import { startServer, type TestServer } from "../../testing/server.ts";
import type { ProjectCaches } from "../environment-caches/model.ts";
import type { Job } from "../jobs/model.ts";
import type { Project } from "../projects/model.ts";
import type { Run } from "../runs/model.ts";
import type { ProjectSetup } from "../setups/model.ts";
import type { ProjectEnvironment } from "./model.ts";

setDefaultTimeout(300_000);
const docker = await dockerForTests(process.env);

/** The label of a project's cache volumes, on a server without accounts. */
const CACHES_OF = ({ id }: Pick<Project, "id">, owner = "local"): string => `skep.cache=${id} ${owner}`;

describe.skipIf(!docker)("the environment of a project", () => {
  const folder = mkdtempSync(join(tmpdir(), "skep-environments-"));
  const source = join(folder, "source");
  // Named after the process, because several copies of this file may run at the same time.
  const image = `skep-test-environment:${process.pid}`;
  const env = {
    SANDBOX: "docker",
    AGENT_IMAGE: "skep-test-absent:1",
    IMAGE_PULL: "false",
    DEMO_SCRIPT: join(folder, "script.json"),
  };
  let server: TestServer;
  let project: Project;
  const git = (...args: string[]) => {
    const { exitCode, stderr } = Bun.spawnSync(
      ["git", "-c", "user.name=T", "-c", "user.email=t@example.org", ...args],
      {
        cwd: source,
      },
    );
    if (exitCode !== 0) throw new Error(`${args.join(" ")}: ${stderr}`);
  };
  const commit = (files: Record<string, string>) => {
    for (const [path, text] of Object.entries(files)) {
      mkdirSync(dirname(join(source, path)), { recursive: true });
      writeFileSync(join(source, path), text);
    }
    git("add", "-A");
    git("commit", "-q", "-m", "more");
  };
  const call = async <T>(method: string, path: string, body?: unknown) => {
    const answer = await server.request<T>(method, path, { body });
    if (answer.status >= 400) throw new Error(`${method} ${path}: ${answer.status} ${JSON.stringify(answer.body)}`);
    return answer.body;
  };
  const environment = () => call<ProjectEnvironment>("GET", `/v1/projects/${project.id}/environment`);
  const put = (body: unknown) =>
    server.request<{ code: string; detail: string }>("PUT", `/v1/projects/${project.id}/environment`, { body });
  async function eventUntil(query: string, kinds: readonly string[]) {
    const frames = framesOf<{ kind: string; data: Record<string, unknown> }>(
      server,
      `/v1/events/stream?after=0&${query}`,
    );
    return (await framesUntil(frames, ({ data }) => kinds.includes(data.kind))).at(-1)!.data;
  }
  async function jobEnd(id: string): Promise<Job> {
    for (;;) {
      const job = await call<Job>("GET", `/v1/jobs/${id}`);
      if (job.finished_at !== null) return job;
      await Bun.sleep(50);
    }
  }
  const fetchProject = async () => jobEnd((await call<Job>("POST", `/v1/projects/${project.id}/fetch`)).id);
  /** The output of the only command that a run's agent gives. */
  async function outputOfRun(): Promise<string> {
    const run = await call<Run>("POST", "/v1/runs", {
      pipeline_id: "p",
      task_description: "Look",
      project_name: "web",
    });
    await eventUntil(`run_id=${run.id}`, ["run_complete"]);
    const repository = join(server.data, "projects", project.id, "git");
    return Bun.spawnSync(["git", "--git-dir", repository, "show", `run/${run.id}:seen.txt`]).stdout.toString();
  }
  beforeAll(async () => {
    const base = await testImage(docker!);
    await docker!.images.tag(base, image);
    mkdirSync(source);
    git("init", "-q", "-b", "main");
    commit({ "package.json": '{"scripts":{"test":"true"}}' });
    const look =
      'echo "said $GREETING" > seen.txt; cat deps/made /made-by-set-up ~/.cache/tool/left >> seen.txt 2>/dev/null; mkdir -p ~/.cache/tool; echo kept > ~/.cache/tool/left';
    const script = {
      version: 1,
      default: [
        { tool_calls: [{ tool: "bash", input: { command: look } }] },
        { tool_calls: [{ tool: "complete", input: { outputs: {}, summary: "done" } }] },
      ],
    };
    writeFileSync(join(folder, "script.json"), JSON.stringify(script));
    server = await startServer({ env });
    await call("POST", "/v1/agents", { id: "ann", prompt: "Work." });
    const steps = [{ id: "only", agent: "ann", input: "Do it." }];
    await call("POST", "/v1/pipelines", { id: "p", name: "P", defaults: { model: "demo/scripted" }, steps });
    project = await call<Project>("POST", "/v1/projects", { name: "web", repository: source });
    while (project.workspace.state === "cloning") {
      await Bun.sleep(50);
      project = await call<Project>("GET", `/v1/projects/${project.id}`);
    }
    expect(project.workspace).toMatchObject({ state: "ready" });
  });
  afterAll(async () => {
    await server.remove();
    const layers = (await docker!.images.list()).filter(({ labels }) => labels["skep.layer"]?.startsWith(project.id));
    // Removed by name: an image from which others are built is removed with the last of them.
    for (const { id, tags } of layers) await docker!.images.remove(tags[0] ?? id);
    await docker!.images.remove(image);
    for (const owner of ["local", "set-up"])
      for (const { name } of await docker!.volumes.list([CACHES_OF(project, owner)]))
        await docker!.volumes.remove(name);
    rmSync(folder, { recursive: true, force: true });
  });

  test("a repository proposes one, and nothing of it holds before a person has accepted exactly that", async () => {
    expect(await environment()).toMatchObject({
      accepted: null,
      changed: true,
      proposal: { definition: { image: "node:22", check: "npm test" }, files: ["package.json"], branch: "main" },
    });
    const { hash } = (await environment()).proposal!;
    commit({ ".skep/environment.yml": `image: ${image}\nenv: { GREETING: hello }\ncheck: "true"\n` });
    await fetchProject();
    expect(await put({ hash })).toMatchObject({ status: 409, body: { code: "environment_changed" } });
    expect(await put({ definition: { host_labels: ["gpu"] } })).toMatchObject({ status: 422 });
    expect((await environment()).accepted).toBeNull();
    const shown = await skep(["projects", "environment", "web", "--data", server.data]);
    expect(shown.stdout).toContain("GREETING=hello");
    const [, wanted = ""] = /--accept ([0-9a-f]{12})/.exec(shown.stdout) ?? [];
    const accepted = await skep(["projects", "environment", "web", "--accept", wanted, "--data", server.data]);
    expect([accepted.code, accepted.stdout]).toEqual([
      0,
      expect.stringContaining("it counts from the next sandbox on"),
    ]);
    expect(await environment()).toMatchObject({ changed: false, accepted: { definition: { image } } });
    expect((await call<Project>("GET", `/v1/projects/${project.id}`)).check).toBe("true");
    const { items } = await call<{ items: { action: string; subject: string }[] }>("GET", "/v1/admin/audit?limit=5");
    expect(items.find(({ action }) => action === "environment.accepted")).toMatchObject({ subject: project.id });
  });

  test("an agent's commands have the accepted image and variables", async () => {
    // The server's own image does not exist, so nothing could run without the project's image.
    expect(await outputOfRun()).toBe("said hello\n");
  });

  test("a cache of the home comes again in the person's next run, is shown, and goes when it is cleared", async () => {
    const caches = () => call<ProjectCaches>("GET", `/v1/projects/${project.id}/caches`);
    const definition = { image, env: { GREETING: "hello" } };
    for (const path of ["node_modules/.cache", "~/.ssh"])
      expect([path, (await put({ definition: { ...definition, caches: [path] } })).status]).toEqual([path, 422]);
    expect((await put({ definition: { ...definition, caches: ["~/.cache/tool"] } })).status).toBe(200);
    expect(await outputOfRun()).toBe("said hello\n");
    expect(await outputOfRun()).toBe("said hello\nkept\n");
    expect(await caches()).toMatchObject({ paths: ["~/.cache/tool"], unavailable: null, items: [{ user_id: null }] });
    const shown = await skep(["projects", "caches", "web", "--data", server.data]);
    expect([shown.code, shown.stdout]).toEqual([0, expect.stringContaining("web keeps ~/.cache/tool")]);
    expect((await skep(["usage", "disk", "--data", server.data])).stdout).toContain("caches of web (1)");
    // The sandbox of the last run may still use the volume for a moment.
    for (;;) {
      const cleared = await skep(["projects", "caches", "web", "--clear", "--json", "--data", server.data]);
      expect([cleared.code, cleared.stderr]).toEqual([0, ""]);
      if (JSON.parse(cleared.stdout).in_use === 0) break;
    }
    expect((await caches()).items).toEqual([]);
    expect(await docker!.volumes.list([CACHES_OF(project)])).toEqual([]);
    expect((await put({ definition })).status).toBe(200);
  });

  test("what the repository says later changes nothing, and is shown as a new proposal", async () => {
    commit({ ".skep/environment.yml": "image: attacker/image:1\n" });
    await fetchProject();
    expect(await environment()).toMatchObject({
      changed: true,
      accepted: { definition: { image, env: { GREETING: "hello" } } },
      proposal: { definition: { image: "attacker/image:1" } },
    });
    expect(await outputOfRun()).toBe("said hello\n");
  });

  test("a set-up runs once for what it depends on, and an agent's commands begin with what it left", async () => {
    const setUp = (...args: string[]) => skep(["projects", "setup", "web", ...args, "--data", server.data]);
    const setup =
      "mkdir deps && echo one >deps/made && echo root >/made-by-set-up && echo x >~/left && wget -q -O - http://denied.example/; env | grep -c GREETING; cat ~/.cache/tool/left; echo of the set-up >~/.cache/tool/left";
    // Like an agent's sandbox, the check starts with an empty home, without the set-up's cache.
    const check =
      'echo "checked"; cat deps/made && ! test -e ~/left && touch ~/own && ! touch /x && test "$(id -u)" != 0 && ! ls -A ~/.cache/tool';
    const caches = ["~/.cache/tool"];
    const definition = {
      image,
      env: { GREETING: "hello" },
      setup,
      check,
      caches,
      network: { allow: ["allowed.example"] },
    };
    commit({ ".gitignore": "deps/\n", "package-lock.json": "{}" });
    await fetchProject();
    expect((await put({ definition })).status).toBe(200);
    const made = await setUp();
    expect([made.code, made.stdout]).toEqual([
      0,
      expect.stringContaining("wanted to reach what the project does not allow: denied.example:80"),
    ]);
    const first = await call<ProjectSetup>("GET", `/v1/projects/${project.id}/setup`);
    expect(first).toMatchObject({
      state: "ready",
      last: { exit_code: 0 },
      check: { passed: true },
    });
    // Only set-ups see what a set-up keeps of its home.
    expect(first.last?.log).not.toContain("of the set-up");
    expect(await outputOfRun()).toBe("said hello\none\nroot\n");
    // Nothing on which the set-up depends has changed.
    commit({ "code.js": "1" });
    await fetchProject();
    expect((await setUp()).code).toBe(0);
    expect((await call<ProjectSetup>("GET", `/v1/projects/${project.id}/setup`)).last).toEqual(first.last);
    commit({ "package-lock.json": '{"a":1}' });
    await fetchProject();
    await setUp();
    const second = await call<ProjectSetup>("GET", `/v1/projects/${project.id}/setup`);
    expect(second.last?.image).not.toBe(first.last!.image);
    expect(second.last?.log).toContain("of the set-up");
    expect((await call<ProjectCaches>("GET", `/v1/projects/${project.id}/caches`)).items).toContainEqual(
      expect.objectContaining({ of: "set-up", user_id: null }),
    );
    expect((await docker!.images.list()).filter(({ tags }) => tags.includes(first.last!.image!))).toHaveLength(1);
    expect((await setUp("--clear")).code).toBe(0);
    expect((await docker!.images.list()).filter(({ labels }) => labels["skep.layer"]?.startsWith(project.id))).toEqual(
      [],
    );
  });

  test("a killed server begins a set-up again with a container of its own, and a cancelled one leaves none", async () => {
    const containers = () => docker!.containers.list([`skep.setting-up=${project.id}`]);
    const another = async (than: string | undefined) => {
      for (;;) {
        const found = (await containers()).filter(({ state }) => state === "running");
        if (found.length === 1 && found[0]!.id !== than) return found[0]!.id;
        await Bun.sleep(50);
      }
    };
    await put({ definition: { image, setup: "sleep 100000" } });
    const first = await another(undefined);
    await server.stop("SIGKILL");
    server = await startServer({ env, data: server.data });
    await another(first);
    const { job } = await call<ProjectSetup>("GET", `/v1/projects/${project.id}/setup`);
    await call("POST", `/v1/jobs/${job!.id}/cancel`);
    expect((await jobEnd(job!.id)).state).toBe("cancelled");
    expect(await containers()).toEqual([]);
    // The set-up does not start again by itself.
    expect(await call<ProjectSetup>("GET", `/v1/projects/${project.id}/setup`)).toMatchObject({
      state: "needed",
      job: null,
    });
  });

  test("a set-up that fails says why, and work goes on without it; a check that fails is known to doctor and to agents", async () => {
    const failing = { image, env: { GREETING: "hello" }, setup: "echo no such program; exit 7", check: "true" };
    await put({ definition: failing });
    const failed = await skep(["projects", "setup", "web", "--data", server.data]);
    expect([failed.code, failed.stdout]).toEqual([1, expect.stringContaining("  | no such program")]);
    expect(await outputOfRun()).toBe("said hello\n");
    await put({ definition: { image, check: "echo 3 of 9 fail; exit 1" } });
    const checked = await skep(["projects", "setup", "web", "--data", server.data]);
    expect([checked.code, checked.stdout]).toEqual([1, expect.stringContaining("  | 3 of 9 fail")]);
    expect((await skep(["doctor", "--data", server.data])).stdout).toContain("web: its check fails before any agent");
    await outputOfRun();
    const prompt = new Database(join(server.data, "skep.db"), { readonly: true });
    const said = "SELECT text FROM prompts WHERE text LIKE '%> 3 of 9 fail%' AND text LIKE '%failed with exit code 1%'";
    expect(prompt.query(said).all()).toHaveLength(1);
    prompt.close();
  });

  test.skipIf(!hasBrowser())(
    "the project's page shows both, and an administrator accepts another image there",
    async () => {
      const browser = await openBrowser();
      try {
        const { page, open, axe, faults } = await visit(browser, server.url);
        await open(`/projects/${project.id}`);
        await page.getByText("The repository proposes, in .skep/environment.yml (main at").waitFor();
        expect(await axe()).toEqual([]);
        await page.getByLabel("Container image").fill("team/web:2");
        await page.getByRole("button", { name: "Accept the environment" }).click();
        await page.getByText("The environment counts from the next sandbox on.").waitFor();
        await page.getByText("team/web:2").waitFor();
        expect((await environment()).accepted?.definition).toEqual({ image: "team/web:2" });
        expect((await put({ definition: { image, caches: ["~/.cache/tool"] } })).status).toBe(200);
        const facts = new Database(join(server.data, "skep.db"), { readonly: true });
        const own = facts.query<{ value: string }, []>("SELECT value FROM facts WHERE name = 'instance_id'").get();
        facts.close();
        const labels = { "skep.instance": own!.value, "skep.cache": `${project.id} local` };
        await docker!.volumes.ensure(`skep-test-cache-${process.pid}`, labels);
        await open(`/projects/${project.id}`);
        await page.getByText("What its caches hold").click();
        await page.getByRole("cell", { name: "Yours" }).waitFor();
        expect(await axe()).toEqual([]);
        await page.getByRole("button", { name: "Clear the caches" }).click();
        await page.getByRole("button", { name: "Clear", exact: true }).click();
        await page.getByText("Nothing is kept yet.").waitFor();
        expect(await docker!.volumes.list([CACHES_OF(project)])).toEqual([]);
        expect(faults).toEqual([]);
      } finally {
        await browser.close();
      }
    },
  );

  test("a definition of one's own, mistakes in it, and its removal", async () => {
    for (const [body, detail] of [
      [{}, "Give either"],
      [{ definition: { env: { PATH: "/x" } } }, "the sandbox's own"],
      [{ definition: { privileged: true } }, ""],
      [{ definition: { image: "--privileged" } }, ""],
      [{ hash: "0".repeat(64), definition: {} }, "Give either"],
    ] as const)
      expect(await put(body)).toMatchObject({ status: 422, body: { detail: expect.stringContaining(detail) } });
    writeFileSync(join(folder, "own.yml"), `image: ${image}\nenv: { GREETING: bye }\n`);
    const set = await skep(["projects", "environment", "web", "--set", join(folder, "own.yml"), "--data", server.data]);
    expect(set.code).toBe(0);
    expect(await environment()).toMatchObject({ changed: true, accepted: { proposal_hash: null } });
    const wrong = await skep(["projects", "environment", "web", "--set", "x", "--clear", "--data", server.data]);
    expect([wrong.code, wrong.stderr]).toEqual([2, expect.stringContaining("Give one of")]);
    expect((await skep(["projects", "environment", "web", "--clear", "--data", server.data])).code).toBe(0);
    expect((await environment()).accepted).toBeNull();
    expect(await skep(["projects", "environment", "web", "--clear", "--data", server.data])).toMatchObject({ code: 1 });
  });

  describe("whose image is made of a Dockerfile", () => {
    const setUp = (...args: string[]) => skep(["projects", "setup", "web", ...args, "--data", server.data]);
    const loadSetup = () => call<ProjectSetup>("GET", `/v1/projects/${project.id}/setup`);
    const layers = async () =>
      (await docker!.images.list()).filter(({ labels }) => labels["skep.layer"]?.startsWith(project.id));
    /** A sandbox that is being removed still uses its image; the image is then removed by the next call. */
    async function clear(): Promise<void> {
      do expect((await setUp("--clear")).code).toBe(0);
      while ((await layers()).length > 0);
    }
    const dockerfile = `FROM ${image}
ARG WHO
ENV GREETING="hello $WHO"
WORKDIR /srv/app
COPY one.txt .
RUN echo root >/made-by-set-up; wget -q -O - http://denied.example/; true
`;

    test("it is proposed with its text, and what cannot be built is named with its line", async () => {
      commit({
        ".skep/environment.yml":
          'build: { dockerfile: box/Dockerfile, context: box, args: { WHO: world } }\ncheck: "cat /srv/app/one.txt"\nnetwork: { allow: [allowed.example] }\n',
        "box/Dockerfile": `${dockerfile}RUN --mount=type=cache,target=/x true\n`,
        "box/one.txt": "one\n",
      });
      await fetchProject();
      const line = "box/Dockerfile, line 7: RUN --mount is not supported";
      expect((await environment()).proposal).toMatchObject({
        definition: { check: "cat /srv/app/one.txt" },
        dockerfile: null,
        notes: [expect.stringContaining(line)],
      });
      const refused = await put({ definition: { build: { dockerfile: "box/Dockerfile", context: "box" } } });
      expect(refused).toMatchObject({ status: 422, body: { detail: expect.stringContaining(line) } });
      for (const [build, why] of [
        [{ dockerfile: "none" }, "There is no such file"],
        [{ dockerfile: "../../etc/passwd" }, "leads out of the repository"],
      ] as const)
        expect(await put({ definition: { build } })).toMatchObject({
          status: 422,
          body: { detail: expect.stringContaining(why) },
        });
      commit({ "box/Dockerfile": dockerfile });
      await fetchProject();
      expect((await environment()).proposal).toMatchObject({
        definition: { build: { dockerfile: "box/Dockerfile", args: { WHO: "world" } } },
        dockerfile: { text: dockerfile, image, files: 1 },
        notes: [],
      });
      const shown = await skep(["projects", "environment", "web", "--data", server.data]);
      expect(shown.stdout).toContain("  | COPY one.txt .");
    });

    test("exactly what was accepted is built, and agents' commands begin with it", async () => {
      const { proposal } = await environment();
      expect((await put({ hash: proposal!.hash })).status).toBe(200);
      const made = await setUp();
      expect([made.code, made.stdout]).toEqual([0, expect.stringContaining("does not allow: denied.example:80")]);
      expect(await loadSetup()).toMatchObject({ state: "ready", check: { passed: true, log: "one" } });
      expect(await outputOfRun()).toBe("said hello world\nroot\n");
      // First a change on somebody else's branch, then one on the project's own: neither changes the accepted
      // environment.
      git("checkout", "-q", "-b", "stranger");
      commit({ "box/Dockerfile": `${dockerfile}RUN echo stranger >/made-by-set-up\n` });
      git("checkout", "-q", "main");
      await fetchProject();
      expect((await environment()).changed).toBe(false);
      commit({ "box/Dockerfile": `${dockerfile}RUN echo other >/made-by-set-up\n`, "box/one.txt": "two\n" });
      await fetchProject();
      expect(await environment()).toMatchObject({
        changed: true,
        accepted: { dockerfile: { text: dockerfile, commit: proposal!.commit } },
      });
      // Built again from the accepted files, although the branch has other files by now.
      expect((await setUp("--again")).code).toBe(0);
      expect((await loadSetup()).check).toMatchObject({ passed: true, log: "one" });
      expect(await outputOfRun()).toBe("said hello world\nroot\n");
      expect((await put({ hash: (await environment()).proposal!.hash })).status).toBe(200);
      expect((await setUp()).code).toBe(0);
      expect((await loadSetup()).check).toMatchObject({ log: "two" });
      expect(await outputOfRun()).toBe("said hello world\nother\n");
      await clear();
    });

    test("a killed server begins the build again, and a cancelled build leaves nothing", async () => {
      const containers = async () =>
        (await docker!.containers.list([`skep.setting-up=${project.id}`])).filter(({ state }) => state === "running");
      const another = async (than: string | undefined) => {
        for (;;) {
          const [first, ...others] = await containers();
          if (first && others.length === 0 && first.id !== than) return first.id;
          await Bun.sleep(50);
        }
      };
      commit({ "box/Dockerfile": `FROM ${image}\nRUN true\nRUN sleep 100000\n` });
      await fetchProject();
      expect((await put({ definition: { build: { dockerfile: "box/Dockerfile" } } })).status).toBe(200);
      const jobDetail = async () => (await loadSetup()).job?.detail ?? "";
      while (!(await jobDetail()).startsWith("step 2 of 2")) await Bun.sleep(50);
      const first = await another(undefined);
      await server.stop("SIGKILL");
      server = await startServer({ env, data: server.data });
      await another(first);
      while (!(await jobDetail()).includes("step 2 of 2, line 3: RUN sleep 100000")) await Bun.sleep(50);
      const { job } = await loadSetup();
      await call("POST", `/v1/jobs/${job!.id}/cancel`);
      expect((await jobEnd(job!.id)).state).toBe("cancelled");
      expect(await docker!.containers.list([`skep.setting-up=${project.id}`])).toEqual([]);
      await clear();
    });
  });
});
