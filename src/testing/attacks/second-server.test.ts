/** A48: only one server per port and per data folder. A second server's error names the first. */
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { mkdirSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { temporaryFolder } from "../command.ts";
import { skepCommand, startServer, type TestServer } from "../server.ts";

setDefaultTimeout(300_000);

const folder = temporaryFolder();
const state = join(folder.path, "state");
/** Environment of one user's servers, which find each other. */
const env = { XDG_STATE_HOME: state, SANDBOX: "process", LOG_LEVEL: "warn" };

let first: TestServer;
beforeAll(async () => {
  mkdirSync(state);
  first = await startServer({ env });
});
afterAll(async () => {
  await first.remove();
  folder.remove();
});

interface Tried {
  /** The server's URL; undefined if it ended instead. */
  url: string | undefined;
  stdout: string;
  stderr: string;
  /** Stops the server if it runs. */
  end(): Promise<number>;
}

/** Starts a server that may refuse to start, and waits until it listens or has ended. */
async function trial(name: string, more: Record<string, string>): Promise<Tried> {
  const child = Bun.spawn(skepCommand("serve"), {
    env: { PATH: process.env["PATH"] ?? "", HOME: folder.path, DATA: join(folder.path, name), ...env, ...more },
    stdin: "ignore",
    stdout: "pipe",
    stderr: "pipe",
  });
  const stderr = new Response(child.stderr).text();
  const decoder = new TextDecoder();
  let stdout = "";
  let url: string | undefined;
  for await (const chunk of child.stdout) {
    stdout += decoder.decode(chunk, { stream: true });
    url = /Listening on (http:\/\/\S+)/.exec(stdout)?.[1];
    if (url) break;
  }
  const end = async () => {
    child.kill("SIGTERM");
    return child.exited;
  };
  return { url, stdout, stderr: url ? "" : await stderr, end };
}

/** Starts a server that must refuse: it ends with code 1 and one line. @returns the line. */
async function refusal(name: string, more: Record<string, string>): Promise<string> {
  const { url, stdout, stderr, end } = await trial(name, more);
  const code = await end();
  expect({ url, stdout, code }).toEqual({ url: undefined, stdout: "", code: 1 });
  expect(stderr.trimEnd().split("\n")).toHaveLength(1);
  return stderr;
}

describe("A48: a second server", () => {
  test.each(["127.0.0.1", "localhost", "0.0.0.0"])(
    "on a port that is taken is refused on %s, names whose it is, and the first one answers everything",
    async (host) => {
      const { port } = new URL(first.url);
      const line = await refusal("second", { PORT: port, HOST: host });
      expect(line).toContain(`Port ${port} on ${host} is taken`);
      expect(line).toContain("--port");
      expect(line).toContain(first.data);
      const project = await first.request<{ id: string }>("POST", "/v1/projects", { body: { name: `at ${host}` } });
      for (let time = 0; time < 10; time++)
        expect((await first.request("GET", `/v1/projects/${project.body.id}`)).status).toBe(200);
    },
  );

  test("is refused where another program listens", async () => {
    const other = Bun.listen({ hostname: "127.0.0.1", port: 0, socket: { data() {} } });
    try {
      const line = await refusal("third", { PORT: String(other.port) });
      expect(line).toContain(`Port ${other.port} on 127.0.0.1 is taken`);
      expect(line).not.toContain("data folder");
    } finally {
      other.stop(true);
    }
  });

  test("on a data folder that is in use is refused by every name of it, and says where the first one runs", async () => {
    const link = join(folder.path, "by-link");
    symlinkSync(first.data, link);
    for (const data of [first.data, link]) {
      const line = await refusal("unused", { DATA: data, PORT: "0" });
      expect(line).toContain(`Another skep works on ${data}`);
      expect(line).toContain(`${first.url} (process ${first.pid})`);
    }
  });

  test.each([
    ["port", (n: number) => ({ DATA: join(folder.path, `same-port-${n}`) })],
    ["data folder", () => ({ DATA: join(folder.path, "same-folder"), PORT: "0" })],
  ])("of four that start in the same moment on one %s, one listens", async (_, own) => {
    const free = Bun.listen({ hostname: "127.0.0.1", port: 0, socket: { data() {} } });
    const PORT = String(free.port);
    free.stop(true);
    const tried = await Promise.all([0, 1, 2, 3].map((n) => trial("unused", { PORT, ...own(n) })));
    const codes = await Promise.all(tried.map(({ end }) => end()));
    expect(tried.filter(({ url }) => url !== undefined)).toHaveLength(1);
    expect(codes.sort()).toEqual([0, 1, 1, 1]);
    for (const { url, stderr } of tried) if (!url) expect(stderr).toMatch(/is taken|Another skep works on/);
  });
});
