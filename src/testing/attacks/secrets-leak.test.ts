/**
 * A33: canaries in every place for secrets. An agent does its best in a whole run to leak them. Then every byte that
 * the server answered, logged, streamed, stored or put into a container is searched. Also A25: the container of a real
 * run is checked against the list of restrictions.
 * A canary may appear only in the environment of an agent's commands (in /proc of these processes), in the two routes
 * that give plaintext to the engine's token, and in answers that show a new credential once.
 */
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { randomBytes } from "node:crypto";
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import Docker from "dockerode";
import { dockerEndpoint } from "../../adapter/docker/endpoint.ts";
import { LABELS } from "../../adapter/sandbox/docker/container-spec.ts";
import { type Account, makeUser, PASSWORD, setupAdmin } from "../accounts.ts";
import { dockerForTests, testImage } from "../docker-image.ts";
import { expectLockedDown } from "../lock-down.ts";
import { startServer, type TestServer } from "../server.ts";
import { waitForRunEnd } from "./held-run.ts";
import { waitFor } from "./waiting.ts";

// A generous limit for busy machines: these tests wait for events, not for fixed times.
setDefaultTimeout(300_000);

const docker = await dockerForTests(process.env);
const canary = (name: string) => `canary-${name}-${randomBytes(12).toString("hex")}`;

/**
 * An agent that says, shows, splits and passes on what it was granted. It pauses in the middle, so that it can be
 * inspected from outside.
 */
const leaker = ({ secret, lines }: { secret: string; lines: string[] }) => {
  const bash = (command: string) => ({ tool: "bash", input: { command, timeout_seconds: 120 } });
  return [
    {
      thinking: `It is ${secret}, I think.`,
      text: `The value is ${secret}; the key's first line is ${lines[0]}.`,
      chunk: 7,
      tool_calls: [
        bash("env; env >&2; export -p; set"),
        bash('printf %s "$CANARY" | cut -c1-20 | tr -d "\\n"; sleep 0.2; printf %s "$CANARY" | cut -c21-'),
        bash('echo "$CANARY_LINES"; echo "$CANARY_LINES" | sed -n 2p; printf %s "$CANARY" | base64 -w0 || true'),
        bash('cat /proc/self/environ | tr "\\0" "\\n"; false'),
        bash(`echo ${secret}; cat "/no/such/${secret}"`),
        bash(
          'printf %s "$ENGINE_INTERNAL_TOKEN" > t && mv t token; until [ -e go ]; do sleep 0.1; done; rm -f token go',
        ),
        { tool: "read", input: { path: secret } },
      ],
    },
    {
      text: "{{ last_tool_output }}",
      tool_calls: [
        {
          tool: "complete",
          input: { outputs: { answer: secret, [secret]: [lines.join("\n")] }, summary: `done with ${secret}` },
        },
      ],
    },
  ];
};

describe.each(["process", "docker"] as const)("a whole run in the %s sandbox", (kind) => {
  const ENGINE = canary("engine-token");
  const secrets = { secret: canary("granted"), lines: [canary("line-one"), canary("line-two")] };
  const keys = { provider: canary("provider-key"), own: canary("own-key"), environment: canary("environment-key") };
  const others = { unused: canary("not-granted"), oidc: canary("client-secret") };
  /** All values that must not be found, by name. */
  const hidden: Record<string, string> = {};
  const folder = mkdtempSync(join(tmpdir(), "skep-canary-"));
  let server: TestServer;
  let admin: Account;
  let user: Account;
  let run: string;
  let changes: string[] = [];
  let exported: Uint8Array = new Uint8Array();
  let logged = "";
  let inspected: Awaited<ReturnType<NonNullable<typeof docker>["containers"]["inspect"]>> | undefined;
  const answers: string[] = [];

  const call = async (method: string, path: string, body?: unknown, token = admin.token) => {
    const headers: Record<string, string> = method === "POST" ? { "Idempotency-Key": `k${path}` } : {};
    const answer = await server.request(method, path, { token, body, headers });
    if (answer.status >= 400) throw new Error(`${method} ${path}: ${answer.status} ${JSON.stringify(answer.body)}`);
    return answer.body;
  };
  const must = async (...given: Parameters<typeof call>) => {
    const body = await call(...given);
    answers.push(JSON.stringify(body));
    return body;
  };

  beforeAll(async () => {
    if (kind === "docker" && !docker) return;
    writeFileSync(join(folder, "script.json"), JSON.stringify({ version: 1, steps: { leak: leaker(secrets) } }));
    server = await startServer({
      env: {
        AUTH_ENABLED: "true",
        ENGINE_INTERNAL_TOKEN: ENGINE,
        LOG_LEVEL: "debug",
        SANDBOX: kind,
        ALLOW_HOST_SHELL: "true",
        DEMO_SCRIPT: join(folder, "script.json"),
        MISTRAL_API_KEY: keys.environment,
        ...(docker ? { AGENT_IMAGE: await testImage(docker), IMAGE_PULL: "false" } : {}),
      },
    });
    hidden["setup token"] = readFileSync(join(server.data, "setup-token"), "utf8").trim();
    admin = await setupAdmin(server);
    user = await makeUser(server, admin, "user@example.test");
    await furnish();
    const made = await must("POST", "/v1/runs", { pipeline_id: "leak", task_description: "tell" }, user.token);
    run = made["id"] as string;
    const token = join(server.data, "workspaces", run, "token");
    await waitFor(() => existsSync(token), "the agent to be at work");
    Object.assign(hidden, { execution: readFileSync(token, "utf8"), ...keys, ...others, password: PASSWORD });
    Object.assign(hidden, { granted: secrets.secret, one: secrets.lines[0], two: secrets.lines[1], engine: ENGINE });
    Object.assign(hidden, {
      access: admin.token,
      refresh: admin.refresh,
      "user's": user.token,
      "user's refresh": user.refresh,
    });
    if (kind === "docker") await lookAtContainer();
    writeFileSync(join(server.data, "workspaces", run, "go"), "");
    const done = await waitForRunEnd(server, user.token, run);
    expect([done["status"], done["error"]]).toEqual(["succeeded", null]);
  }, 300_000);
  afterAll(async () => {
    await server?.remove();
    rmSync(folder, { recursive: true, force: true });
  });

  async function furnish(): Promise<void> {
    await must("POST", "/v1/agents", { id: "leaker", prompt: "You tell all.", network: "none", memory_mb: 128 });
    const source =
      "id: leak\nname: Leak\ndefaults: { model: demo/scripted }\nsteps:\n  - id: leak\n    agent: leaker\n    input: tell\n    outputs: [answer]\n";
    await must("POST", "/v1/pipelines", { source });
    for (const [name, value] of [
      ["CANARY", `old-${secrets.secret}`],
      ["CANARY_LINES", secrets.lines.join("\n")],
      ["UNUSED", others.unused],
    ]) {
      const made = await server.request("POST", "/v1/secrets", {
        token: admin.token,
        body: { name, value, secret_type: "token" },
        headers: { "Idempotency-Key": `s-${name}` },
      });
      expect(made.status).toBe(201);
      answers.push(JSON.stringify(made.body));
      if (name !== "UNUSED") await must("POST", `/v1/secrets/${made.body["id"]}/grant/leaker`);
    }
    await must("PUT", "/v1/secrets/CANARY", { value: secrets.secret });
    const base_url = "http://127.0.0.1:9/v1";
    await must("PUT", "/v1/settings/providers/custom-canary", { base_url, api_key: keys.provider });
    await must("PUT", "/v1/settings/user-providers/custom-canary", { api_key: keys.own }, user.token);
    await must("POST", "/v1/auth/oidc", {
      slug: "canary",
      name: "C",
      issuer: "https://127.0.0.1:9/",
      client_id: "c",
      client_secret: others.oidc,
    });
    // These are shown once by design, so they are not among the searched answers.
    hidden["API key"] = (await call("POST", "/v1/auth/api-keys", { name: "canary" }))["key"] as string;
    hidden["ticket"] = (await call("POST", "/v1/events/ticket"))["ticket"] as string;
    // Errors for wrong input must not repeat the input.
    for (const body of [
      { name: secrets.secret, value: 1 },
      { name: "X", value: { [others.unused]: secrets.secret } },
    ])
      answers.push(JSON.stringify((await server.request("POST", "/v1/secrets", { token: admin.token, body })).body));
  }

  /** Which canaries the bytes contain, in plain text, base64 or hexadecimal. */
  function findCanaries(bytes: Uint8Array | string): string[] {
    const text = typeof bytes === "string" ? bytes : Buffer.from(bytes).toString("latin1");
    const forms = (value: string) => [
      value,
      Buffer.from(value).toString("base64").slice(0, -4),
      Buffer.from(value).toString("hex"),
    ];
    return Object.entries(hidden).flatMap(([name, value]) =>
      forms(value).some((form) => text.includes(form)) ? [name] : [],
    );
  }

  async function lookAtContainer(): Promise<void> {
    const rows = await docker!.containers.list([`${LABELS.run}=${run}`]);
    expect(rows).toHaveLength(1);
    const container = rows[0]!.id;
    inspected = await docker!.containers.inspect(container);
    changes = await docker!.containers.changes(container);
    const engine = new Docker({ socketPath: dockerEndpoint({ host: process.env["DOCKER_HOST"] }).socketPath });
    const chunks: Uint8Array[] = [];
    for await (const chunk of await engine.getContainer(container).export()) chunks.push(chunk as Uint8Array);
    exported = Buffer.concat(chunks);
    logged = String(await engine.getContainer(container).logs({ stdout: true, stderr: true, follow: false }));
  }

  /** Every file below a folder. */
  const files = (path: string): string[] =>
    readdirSync(path, { withFileTypes: true, recursive: true })
      .filter((entry) => entry.isFile())
      .map((entry) => join(entry.parentPath, entry.name));

  describe.skipIf(kind === "docker" && !docker)("gives away nothing", () => {
    test("in any answer of the API, to the user, an administrator and the engine", async () => {
      const { paths } = (await call("GET", "/openapi.json")) as { paths: Record<string, Record<string, unknown>> };
      const values: Record<string, string> = {
        run_id: run,
        step_id: "leak",
        agent_id: "leaker",
        provider: "custom-canary",
        slug: "canary",
        name: "x",
      };
      const ids: Record<string, string> = {
        agents: "leaker",
        runs: run,
        pipelines: "leak",
        providers: "custom-canary",
        users: user.id,
      };
      // The search itself must work, or the results below mean nothing.
      expect(findCanaries(Object.values(hidden).join(" "))).toEqual(Object.keys(hidden));
      let read = 0;
      for (const [path, item] of Object.entries(paths)) {
        if (!("get" in item) || path.endsWith("/env") || path.endsWith("/all")) continue;
        if (path.endsWith("/stream") || path === "/v1/mcp/logs") continue; // Streams do not end.
        const filled = path
          .replace(
            /([^/]+)\/\{(\w+)\}/g,
            (_, before: string, name: string) => `${before}/${values[name] ?? ids[before] ?? "x"}`,
          )
          .replace(/\{(\w+)\}/g, (_, name: string) => values[name] ?? "x");
        for (const token of [user.token, admin.token, ENGINE]) {
          const answer = await fetch(server.url + filled, {
            headers: { Authorization: `Bearer ${token}` },
            redirect: "manual",
          });
          const text = [...answer.headers.entries()].flat().join("\n") + (await answer.text());
          expect([path, findCanaries(text)]).toEqual([path, []]);
          if (answer.status === 200) read++;
        }
      }
      expect(read).toBeGreaterThan(100);
      expect(findCanaries(answers.join("\n"))).toEqual([]);
      const text = await (
        await fetch(`${server.url}/v1/steps/${run}/leak/output`, {
          headers: { Authorization: `Bearer ${user.token}`, Accept: "text/plain" },
        })
      ).text();
      expect(findCanaries(text)).toEqual([]);
      // The value is masked, not missing: the test would prove nothing if the agent had said nothing.
      expect(JSON.stringify(await call("GET", `/v1/steps/${run}/leak/output`))).toContain("[secret:CANARY]");
    });

    test("in the event stream, where the values came in pieces", async () => {
      const stream = await fetch(`${server.url}/v1/events/stream?run_id=${run}&after=0`, {
        headers: { Authorization: `Bearer ${admin.token}` },
      });
      const text = await stream.text();
      expect(findCanaries(text)).toEqual([]);
      const said = [...text.matchAll(/^data: (.*)$/gm)].map(
        ([, line]) => JSON.parse(line!) as { kind: string; data: { text?: string } },
      );
      const together = said
        .flatMap(({ kind, data }) => (kind === "agent_output" || kind === "agent_thinking" ? [data.text ?? ""] : []))
        .join("");
      expect(findCanaries(together)).toEqual([]);
      expect(together.split("[secret:CANARY]").length).toBeGreaterThan(4);
      expect(said.map(({ kind }) => kind)).toContain("run_complete");
    });

    test("in the log at its most talkative; the setup token is there once, by design, before it is used up", () => {
      const log = server.output().replace(hidden["setup token"]!, "");
      expect(log).toContain('"msg":"request"');
      expect(findCanaries(log)).toEqual([]);
    });

    test("in any file of the data folder, the database with its journal among them, also after the end", async () => {
      const search = () =>
        files(server.data)
          .map((path) => [path, findCanaries(readFileSync(path))])
          .filter(([, names]) => names!.length > 0);
      expect(files(server.data).some((path) => path.endsWith("skep.db-wal") && statSync(path).size > 0)).toBe(true);
      expect(search()).toEqual([]);
      await server.stop();
      expect(search()).toEqual([]);
      expect(existsSync(join(server.data, "setup-token"))).toBe(false);
      if (kind === "docker") expect(await docker!.containers.list([`${LABELS.run}=${run}`])).toEqual([]);
    });
  });

  if (kind === "docker")
    describe.skipIf(!docker)("in its container", () => {
      test("the engine knows none of them: what was granted goes to commands alone", () => {
        expect(findCanaries(JSON.stringify(inspected))).toEqual([]);
        const names = inspected!.Config.Env.map((pair) => pair.split("=")[0]).sort();
        expect(names).toEqual(["HOME", "LANG", "LOGNAME", "PATH", "USER"]);
      });

      test("its file system holds none of them, and nothing in it has changed", () => {
        expect(exported.length).toBeGreaterThan(100_000);
        expect(findCanaries(exported)).toEqual([]);
        expect(findCanaries(logged)).toEqual([]);
        expect(changes.filter((path) => !["/sbin", "/sbin/docker-init"].includes(path))).toEqual([]);
      });

      test("A25: the container that the server made is locked down, line by line", () => {
        const { Config: config, NetworkSettings } = inspected!;
        expectLockedDown(inspected!, join(server.data, "workspaces", run), 128 * 1024 ** 2);
        expect(JSON.stringify(inspected)).not.toContain("docker.sock");
        expect(Object.keys(NetworkSettings.Networks)).toEqual(["none"]);
        expect(NetworkSettings.Ports).toEqual({});
        expect(config.Labels).toMatchObject({ [LABELS.agent]: "leaker", [LABELS.run]: run });
      });
    });
});
