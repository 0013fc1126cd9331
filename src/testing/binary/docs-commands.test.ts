/**
 * Runs every command of skep and every curl request that a docs page shows in a block, as written and in the page's
 * order, on a machine prepared as the page assumes. Commands that cannot run here are listed with the test that covers
 * them.
 */
import { afterAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { cpSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { newId } from "../../core/ids.ts";
import { PASSWORD } from "../accounts.ts";
import { skep, temporaryFolder } from "../command.ts";
import { dockerForTests } from "../docker-image.ts";
import { framesOf, framesUntil } from "../event-reader.ts";
import { scipOf } from "../scip-sample.ts";
import { skepCommand, startServer, type TestServer } from "../server.ts";

setDefaultTimeout(600_000);

const ROOT = resolve(import.meta.dir, "../../..");

/** Calls that cannot run in a page's test, and the test that covers them. */
const ELSEWHERE: readonly [call: RegExp, where: string][] = [
  [/^serve\b/, "runs until it is stopped: new-user.test.ts, locate.test.ts"],
  [/^demo$/, "demo.test.ts"],
  [/^(runs|chats|projects|users) (delete|keep) [A-Z]+/, "need what they delete or keep: history.test.ts"],
  [/^(try-now|cancel) RUN$/, "needs a run that waits for its provider: provider-wait.test.ts"],
  [/^preview RUN/, "needs an app in a container: src/feature/previews/previews.test.ts"],
  [/^(eval (?!shipped)|evals \w)/, "needs commands in a sandbox: src/feature/evals/evals.test.ts"],
  [/^models try\b/, "contacts a provider: src/feature/engine/model-trial.test.ts"],
  [/^service\b/, "changes the machine: packages.test.ts"],
  [/^init(?! --provider demo)/, "asks, or needs a provider: init.test.ts"],
  [/^image (load|build --(from|rootfs))/, "needs a file or mmdebstrap: image.test.ts, cli image tests of the sandbox"],
  [/^image build$/, "would replace the image that other tests run on: agent-image.test.ts"],
  [/^image build --harness/, "fetches the program from npm: src/feature/engine/harness.test.ts"],
  [/^hosts (drain|enable)\b/, "need several container engines: src/feature/engine/hosts.test.ts"],
  [/^harness-logins set\b/, "needs a log-in: src/feature/harness-logins/own-login.test.ts"],
  [/^settings set backup\.folder=/, "needs that disk: src/feature/backups/scheduled.test.ts"],
  [/^(backup skep-today|restore skep-restic)/, "the recipe with restic: src/feature/backups/scheduled.test.ts"],
  [/^projects (add secret|share|members)\b/, "need accounts: src/cli/resource/project-members.test.ts"],
  [/^projects export .*--secrets/, "needs that secret: src/feature/project-archive/project-archive.test.ts"],
  [/^(projects invite|join)\b/, "need accounts: src/feature/invitations/invitations.test.ts"],
  [/^update\b/, "needs a signed manifest: update.test.ts"],
  [/^providers (set|test)\b/, "contacts a provider: resource.test.ts"],
  [/^messengers add\b/, "contacts a messenger: src/feature/channels/phone.test.ts"],
  [/^notifications add messenger\b/, "needs a messenger: src/cli/resource/resource.test.ts"],
  [/^notifications test\b/, "contacts a receiver: channels.test.ts"],
  [/^codehost (connect|repos|add)\b/, "contacts the code host: src/cli/resource/codehost.test.ts"],
  [/^projects add .*git@/, "needs a host that answers ssh"],
  [
    /^projects (environment web --|setup)/,
    "need what the repository proposes, a file, or an environment: src/feature/environments/environments.test.ts",
  ],
  [/--model ollama\//, "needs that model: init.test.ts"],
  [/^curl .*\/auth\/setup/, "needs the token of a first start: auth.test.ts"],
  [/^sso (groups|update)\b/, "need a provider: src/feature/oidc/oidc.test.ts"],
  [/^curl .*"group_roles"/, "needs the id of a project: src/feature/oidc/oidc.test.ts"],
  [/^curl .*\/admin\/pull-image/, "needs a registry: src/feature/admin/containers.test.ts"],
  [/^voice$/, "needs a hosted service: src/cli/resource/voice.test.ts"],
  [
    /^voice (local|say)\b/,
    "needs a program that speaks: src/cli/resource/voice.test.ts, src/feature/voice/voice.test.ts",
  ],
  [/^curl -b \/run\/skep/, "is the agent's own, in its container: src/feature/cookies/cookies.test.ts"],
];
/** First words of other lines in shell blocks: system programs and settings. */
const NOT_OURS =
  /^(scripts\/(demo|test|build)|git (clone|fetch)|systemctl|sudo|sha256sum|chmod|rm|docker|kubectl|helm|printf|source|export|gunzip|restic|iptables|openssl|[A-Z_]+=|END$)/;
/** On a machine without a provider, these exit with a code other than 0, as the page says. */
const FAILS: readonly RegExp[] = [/^doctor\b/];

/** These ask the container engine. On a machine where none answers, they say so, which is checked instead. */
const ASKS_ENGINE = /^image list\b/;
const NO_ENGINE = /^skep: (Docker|Podman) at \S+ does not answer: \S/;
const docker = await dockerForTests(process.env);
const { DOCKER_HOST, DOCKER_CERT_PATH } = process.env;
const ENGINE = { ...(DOCKER_HOST && { DOCKER_HOST }), ...(DOCKER_CERT_PATH && { DOCKER_CERT_PATH }) };

interface Call {
  /** The line on the page, without the part after `#`. */
  line: string;
  /** The part after `skep`, as on the page. */
  said: string;
}

/**
 * The lines of shell blocks, fenced or indented. A backslash at a line's end joins two lines, and an open quotation
 * continues to its end.
 */
function linesOf(markdown: string): string[] {
  const fenced = [...markdown.matchAll(/^```(\w*)\n([\s\S]*?)^```$/gm)];
  const outside = markdown.replace(/^```\w*\n[\s\S]*?^```$/gm, "");
  const blocks = [
    ...fenced.filter(([, language]) => language === "sh" || language === "").map(([, , block]) => block!),
    [...outside.matchAll(/^ {4}(.+)$/gm)].map(([, line]) => line).join("\n"),
  ];
  return blocks.flatMap((block) =>
    block
      .replace(/\\\n\s*/g, "")
      .replace(/'[^'\n]*\n[^']*'(?=\s|$)/g, (quoted) => quoted.replace(/\n\s*/g, " "))
      .split("\n")
      .map((line) => line.replace(/\s+#.*$/, "").trim())
      .filter(Boolean),
  );
}

/** The lines that call skep or make a request. */
const callsOf = (markdown: string): Call[] =>
  linesOf(markdown).flatMap((line) => {
    if (line.startsWith("curl ")) return [{ line, said: line }];
    const found = /^(?:[A-Z_]+=\S*\s+)*(?:sudo (?:-u \w+ )?)?(?:dist\/|\.\/)?skep(?:\s+(.+))?$/.exec(line);
    return found?.[1] ? [{ line, said: found[1] }] : [];
  });

const folder = temporaryFolder();
afterAll(folder.remove);
const work = join(folder.path, "work");
const bin = join(folder.path, "bin");
for (const path of [work, bin, join(work, "data")]) mkdirSync(path);
writeFileSync(join(bin, "skep"), `#!/bin/sh\nexec ${skepCommand().join(" ")} "$@"\n`, { mode: 0o755 });
writeFileSync(
  join(work, "greet.yml"),
  "id: greet\nname: Greet\nsteps:\n  - { id: greet, agent: scribe, input: Greet, outputs: [greeting] }\n",
);
writeFileSync(join(work, "release.md"), "# Releasing\n\n1. Look twice.\n");
writeFileSync(
  join(work, "SKILL.md"),
  "---\nname: house-style\ndescription: How we write. Load before writing.\n---\n\nPlain words.\n",
);
writeFileSync(join(work, "vision.md"), "Orders in three clicks.\n");
writeFileSync(join(work, "notes.txt"), "Bees dance.\n");
writeFileSync(join(work, "token.txt"), "A-token-of-gotify\n");
writeFileSync(join(work, "new-token"), "another-value-for-it\n");
cpSync(join(ROOT, "agents"), join(work, "data/agents"), { recursive: true });
const repository = join(folder.path, "web");
mkdirSync(repository);
writeFileSync(
  join(repository, "cart.ts"),
  `export class Cart { total() { return withTax(1); } }
export function withTax(n: number) { return round(n * Number(process.env.TAX_RATE)); }
export function round(n: number) { return n; }
`,
);
for (const args of [
  ["init", "-q", "-b", "main"],
  ["add", "."],
  ["commit", "-q", "-m", "Begin"],
  ["branch", "release"],
])
  Bun.spawnSync(["git", "-c", "user.name=A", "-c", "user.email=a@example.test", ...args], { cwd: repository });

/**
 * The page's command with this machine's places. Runs are created but not followed, because some would ask a person.
 */
const localize = (said: string, server: TestServer): string =>
  said
    .replace("https://example.org/web.git", repository)
    .replace("/var/lib/skep-again", join(work, "again"))
    .replace(/\/var\/lib\/skep\b/g, server.data)
    .replace(/ \/restored\b/, ` ${join(work, "restored")}`)
    .replace(/ --project ~\/src\/web/, ` --project ${repository}`)
    .replace(/^(run feature .*) --follow/, "$1")
    .replace(/> .*$/, "> /dev/null")
    .replace(/^(graph \w+ (?:\. )?.*?)\s{2,}[a-z].*$/, "$1");

const pipelineOf = (id: string, steps: object[], more: object = {}) => ({
  id,
  name: id,
  description: id,
  version: 1,
  steps,
  ...more,
});

/** What a page assumes before its first command. */
const PREPARED: Readonly<Record<string, (server: TestServer) => Promise<unknown>>> = {
  "docs/agents.md": (server) =>
    server.request("POST", "/v1/secrets", { body: { name: "NPM_TOKEN", value: "a-value-for-it", description: "" } }),
  "docs/cli.md": withProject,
  "docs/tool-servers.md": async (server) => {
    const config = { mcpServers: { notes: { command: "npx", args: ["-y", "notes"] } } };
    writeFileSync(join(work, "servers.json"), JSON.stringify(config));
    await server.request("POST", "/v1/secrets", { body: { name: "DOCS_TOKEN", value: "a-value-for-it" } });
    // The tool that the page approves, listed as a server of this name would list it.
    const body = { id: "docs", transport: "http", url: "https://docs.example.com/mcp", enabled: false };
    await server.request("POST", "/v1/mcp", { body });
    const tools = [{ name: "search", description: "Searches.", input_schema: { type: "object" } }];
    await server.request("PATCH", "/v1/mcp/docs/tools", { body: { tools } });
  },
  "docs/code-graph.md": async () => {
    const place = { line: 1, start: 16, end: 23, symbol: "made . . . `cart.ts`/withTax()." };
    const index = scipOf({ "cart.ts": [{ ...place, definition: true }] });
    for (const folder of [repository, work]) writeFileSync(join(folder, "index.scip"), index);
  },
  "docs/swarms.md": async () => {
    const [, plan] = /^```yaml\n([\s\S]*?)^```$/m.exec(readFileSync(join(ROOT, "docs/swarms.md"), "utf8"))!;
    writeFileSync(join(work, "swarm.yml"), plan!);
  },
  "docs/skills.md": (server) =>
    server.request("POST", "/v1/skills", {
      body: {
        scope: "agent",
        agent_id: "engineer",
        name: "release",
        description: "Releases.",
        content: "Look.",
      },
    }),
  "docs/memory.md": (server) =>
    server.request("POST", "/v1/memory/vaults/lead/entries", { body: { title: "Pond", content: "It is deep." } }),
  "docs/cookies.md": async () => {
    const row = [".shop.example.com", "TRUE", "/", "TRUE", "4102444800", "session", "a-value-for-it"].join("\t");
    writeFileSync(join(work, "cookies.txt"), `# Netscape HTTP Cookie File\n${row}\n`);
  },
  "docs/tasks.md": async (server) => {
    await withProject(server);
    const page = readFileSync(join(ROOT, "docs/tasks.md"), "utf8");
    const [tasks, policy] = [...page.matchAll(/^```yaml\n([\s\S]*?)^```$/gm)].map(([, block]) => block!);
    writeFileSync(join(work, "tasks.yml"), tasks!);
    writeFileSync(join(work, "policy.yml"), policy!);
    const { columns } = (await server.request<{ items: { columns: unknown }[] }>("GET", "/v1/projects?name=web")).body
      .items[0]!;
    writeFileSync(join(work, "columns.json"), JSON.stringify(columns));
  },
  "docs/pipelines.md": async (server) => {
    const port = [{ id: "port", agent: "scribe", input: "Port to {{ inputs.language }}" }];
    const asked = [{ id: "ask", approval: { message: "Continue?" } }];
    const inputs = { inputs: { language: { required: true } } };
    for (const body of [pipelineOf("port", port, inputs), pipelineOf("asked", asked)])
      expect((await server.request("POST", "/v1/pipelines", { body })).status).toBe(201);
    await server.request("POST", "/v1/projects", { body: { name: "shop", repository } });
  },
};

async function withProject(server: TestServer): Promise<void> {
  expect((await server.request("POST", "/v1/projects", { body: { name: "web", repository } })).status).toBe(201);
}

/**
 * Prepares what must be true before a command, such as a run that waits for the answer, or none at work before a
 * deletion.
 * @param changes the runs that have changed a file, by what the page does with them.
 */
async function prepare(said: string, server: TestServer, changes: Promise<Map<string, string>>): Promise<string> {
  if (/^projects delete/.test(said)) {
    const { items } = (await server.request<{ items: { id: string }[] }>("GET", "/v1/runs")).body;
    for (const { id } of items) {
      await server.request("POST", `/v1/runs/${id}/cancel`);
      await server.request("GET", `/v1/events/stream?run_id=${id}`);
    }
  }
  // The page approves this server's tools further down, so a server of this name already exists.
  if (/^mcp add docs/.test(said)) return said.replace("mcp add docs", "mcp add docs-again");
  // A page shows several ways to delete the same project.
  if (/^projects delete web/.test(said)) {
    const { items } = (await server.request<{ items: unknown[] }>("GET", "/v1/projects?name=web")).body;
    if (items.length === 0) await withProject(server);
  }
  if (/^swarm \w+ swm_/.test(said)) {
    const body = { agent_id: "scribe", tasks: [{ key: "tests", prompt: "Look" }] };
    const { id } = (await server.request<{ id: string }>("POST", "/v1/swarm/execute", { body })).body;
    if (/^swarm retry/.test(said)) await server.request("POST", `/v1/swarm/${id}/cancel`);
    return said.replace(/swm_\S+/, id);
  }
  if (/^approve run_/.test(said)) return said.replace(/run_\S+/, await startRun(server, { pipeline_id: "asked" }));
  const id = OF_CHANGES.test(said) && (await changes).get(useOf(said));
  if (!id) return said;
  const { items } = (await server.request<{ items: { path: string }[] }>("GET", `/v1/runs/${id}/diff`)).body;
  return said
    .replace(/run_\S+/, id)
    .replace(/src\/cart\.ts:\d+/, `${items[0]?.path}:1`)
    .replace("--from implement", "--from greet");
}

/** These commands need a run that changed files. */
const OF_CHANGES = /^(diff|merge|comment|send-back|open) run_/;

/** Each merge needs its own run. The others show a run or comment on it, which needs one that is not merged. */
const useOf = (said: string): string => (said.startsWith("merge") ? said : "shown");

/**
 * Creates a run for each use, all in one project. All end before one is merged, because later their work would change
 * nothing.
 */
async function changeFiles(server: TestServer, uses: Iterable<string>): Promise<Map<string, string>> {
  const project_name = newId("project");
  expect((await server.request("POST", "/v1/projects", { body: { name: project_name, repository } })).status).toBe(201);
  const runs = Array.from(uses, async (use) => [use, await runHello(server, { project_name })] as const);
  return new Map(await Promise.all(runs));
}

/** Starts a run. @returns its id. */
async function startRun(server: TestServer, what: { pipeline_id: string; project_name?: string }): Promise<string> {
  const body = { ...what, task_description: "Work" };
  return (await server.request<{ id: string }>("POST", "/v1/runs", { body })).body.id;
}

/** Runs `hello` to its end. @returns the run's id. */
async function runHello(server: TestServer, place: { project_name?: string } = {}): Promise<string> {
  const id = await startRun(server, { pipeline_id: "hello", ...place });
  await server.request("GET", `/v1/events/stream?run_id=${id}`);
  return id;
}

/** The server for a page. A page about accounts gets one with accounts. */
async function serverFor(path: string): Promise<{ server: TestServer; env: Record<string, string> }> {
  const isGuarded = path === "docs/accounts.md";
  const env = { ALLOW_LOCAL_REPOSITORIES: "true", ...(isGuarded ? { AUTH_ENABLED: "true" } : {}) };
  const server = await startServer({ env });
  if (!isGuarded) return { server, env: { SKEP_URL: server.url } };
  const home = join(folder.path, "home");
  const own = { HOME: home, XDG_CONFIG_HOME: home };
  await skep(["admin", "create", "--email", "first@example.test", "--data", server.data], {
    stdin: PASSWORD,
    env: own,
  });
  const login = ["login", "--url", server.url, "--email", "first@example.test"];
  expect((await skep(login, { stdin: PASSWORD, env: own })).code).toBe(0);
  return { server, env: { ...own, SKEP_URL: server.url, DATA: server.data } };
}

const docs = readdirSync(join(ROOT, "docs"))
  .filter((name) => name.endsWith(".md"))
  .map((name) => `docs/${name}`);
const pages = ["README.md", ...docs]
  .map((path) => ({ path, calls: callsOf(readFileSync(join(ROOT, path), "utf8")) }))
  .filter(({ calls }) => calls.length > 0);
/** Replaces what a page's request names: the server, and objects that the page created before. */
async function requestOf(path: string, said: string, server: TestServer): Promise<string> {
  const call = async (at: string, body: unknown) =>
    (await server.request<Record<string, string>>("POST", at, { body })).body;
  let request = said
    .replace(/https?:\/\/(skep\.example\.org|127\.0\.0\.1:8000)|\$URL/, server.url)
    .replace(' -H "Authorization: Bearer $TOKEN"', "")
    .replace("curl ", "curl -sS --fail-with-body --max-time 240 ");
  if (request.includes("$ID")) request = request.replace("$ID", await createIndexedProject(server));
  if (request.includes("<att>")) {
    const form = new FormData();
    form.append("file", new File(["Notes"], "notes.txt"));
    request = request.replace("<att>", (await call("/v1/attachments/upload", form))["id"]!);
  }
  if (/(chat|onboarding)\/sessions\/<id>|spawn-executor\/<id>/.test(request)) {
    const [kind] = /chat|onboarding|spawn/.exec(request)!;
    const makes = {
      chat: ["/v1/chat/sessions", { agent_id: "scribe" }],
      onboarding: ["/v1/onboarding/sessions", {}],
      spawn: ["/v1/spawn-executor/execute", { agent_id: "scribe", prompt: "Look" }],
    } as const;
    const [at, body] = makes[kind as keyof typeof makes];
    request = request.replace("<id>", (await call(at, body))["id"]!);
  }
  if (request.includes("run_…")) request = request.replace("run_…", await runHello(server));
  // A stream of everything never ends, so it is left once it answers.
  if (/stream\?kinds=/.test(request)) request = `${request.replace("--max-time 240", "--max-time 1")} || test $? = 28`;
  return path === "docs/tasks.md" ? request.replace("<id>", await createIndexedProject(server)) : request;
}

/** Creates a project with an indexed code graph. @returns its id. */
async function createIndexedProject(server: TestServer): Promise<string> {
  const body = { name: newId("project"), repository };
  const { id } = (await server.request<{ id: string }>("POST", "/v1/projects", { body })).body;
  const frames = framesOf<{ project_id?: string }>(server, "/v1/events/stream?kinds=index_complete&after=0");
  await framesUntil(frames, ({ data }) => data.project_id === id);
  return id;
}

const isElsewhere = ({ said }: Call) => ELSEWHERE.some(([call]) => call.test(said));

describe("commands of the pages", () => {
  test("are found, and what is tried elsewhere is on a page", () => {
    const all = pages.flatMap(({ calls }) => calls);
    expect(all.length).toBeGreaterThan(70);
    expect(ELSEWHERE.filter(([call]) => !all.some(({ said }) => call.test(said)))).toEqual([]);
  });

  test("are all that a block of shell holds, but programs of the system", () => {
    const others = ["README.md", ...docs].flatMap((path) => {
      const text = readFileSync(join(ROOT, path), "utf8");
      const shell = [...text.matchAll(/^```sh\n[\s\S]*?^```$/gm)].join("\n\n");
      const known = new Set(callsOf(shell).map(({ line }) => line));
      return linesOf(shell).flatMap((line) => (known.has(line) || NOT_OURS.test(line) ? [] : [`${path}: ${line}`]));
    });
    expect(others).toEqual([]);
  });

  for (const { path, calls } of pages) {
    const here = calls.filter((call) => !isElsewhere(call));
    if (here.length === 0) continue;
    test(`${path}: each of its ${here.length} works as it is there`, async () => {
      const { server, env } = await serverFor(path);
      const wrong: { call: string; code: number; said: string }[] = [];
      try {
        await PREPARED[path]?.(server);
        // Create these runs while the first commands run, because each takes seconds.
        const uses = new Set(here.flatMap(({ said }) => (OF_CHANGES.test(said) ? useOf(said) : [])));
        const changes = uses.size > 0 ? changeFiles(server, uses) : Promise.resolve(new Map());
        for (const call of here) {
          const command = call.said.startsWith("curl ")
            ? await requestOf(path, call.said, server)
            : `skep ${await prepare(localize(call.said, server), server, changes)}`;
          const child = Bun.spawn(["bash", "-c", command], {
            cwd: call.said.startsWith("graph") ? repository : work,
            env: { HOME: folder.path, PATH: `${bin}:${process.env["PATH"]}`, ...ENGINE, ...env },
            stdin: Buffer.from("a-value-for-it-0123456789\n"),
            stdout: "pipe",
            stderr: "pipe",
            timeout: 240_000,
          });
          const [out, err] = await Promise.all([new Response(child.stdout).text(), new Response(child.stderr).text()]);
          const code = await child.exited;
          if (!docker && ASKS_ENGINE.test(call.said)) {
            expect([call.line, code, err]).toEqual([call.line, 1, expect.stringMatching(NO_ENGINE)]);
            continue;
          }
          const mayFail = FAILS.some((one) => one.test(call.said)) && code === 1;
          if (code !== 0 && !mayFail) wrong.push({ call: call.line, code, said: (err || out).slice(0, 300) });
        }
        expect(wrong).toEqual([]);
      } finally {
        await server.remove();
      }
    });
  }
});
