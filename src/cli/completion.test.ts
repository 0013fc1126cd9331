/** Completion as the shell asks for it: commands, flags, words, names of the server, files. */
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { skep, temporaryFolder } from "../testing/command.ts";
import { skepCommand, startServer, type TestServer } from "../testing/server.ts";

setDefaultTimeout(300_000);

let server: TestServer;
const folder = temporaryFolder();
const env = { HOME: folder.path, XDG_STATE_HOME: join(folder.path, "state") };
beforeAll(async () => {
  server = await startServer({ env });
});
afterAll(async () => {
  await server.remove();
  folder.remove();
});

const listOffers = async (...words: string[]): Promise<string[]> => {
  const { code, stdout } = await skep(["complete", "--", ...words], { env, cwd: folder.path });
  expect(code).toBe(0);
  return stdout
    .split("\n")
    .filter(Boolean)
    .map((line) => line.split("\t")[0]!);
};

/** Asks again if the names did not arrive within the time that the shell waits. */
async function waitForOffers(...words: string[]): Promise<string[]> {
  for (let tries = 1; ; tries++) {
    const found = await listOffers(...words);
    if (found.length > 0 || tries === 20) return found;
  }
}

describe("what may come next", () => {
  test("commands, and those below them, started or not; hidden ones are not offered", async () => {
    expect(await listOffers("pro")).toEqual(["projects", "providers"]);
    expect(await listOffers("secrets", "")).toEqual(expect.arrayContaining(["set", "grant", "revoke", "delete"]));
    expect(await listOffers("")).not.toContain("complete");
    expect(await listOffers("nothing-of-ours", "x")).toEqual([]);
  });

  test("flags, also those of the command above, and the words that one takes", async () => {
    expect(await listOffers("run", "--pri")).toEqual(["--private"]);
    expect(await listOffers("projects", "add", "--")).toEqual(
      expect.arrayContaining(["--repository", "--json", "--help"]),
    );
    expect(await listOffers("serve", "--sandbox", "")).toEqual(["auto", "docker", "kubernetes", "process"]);
    expect(await listOffers("runs", "--status", "f")).toEqual(["failed"]);
    expect(await listOffers("agents", "tool", "scribe", "bash", "")).toEqual(["on", "off", "default"]);
  });

  test("names that the server keeps, at the place where one is wanted and nowhere else", async () => {
    expect(await waitForOffers("run", "")).toEqual(["bugfix", "feature", "hello", "import-repository", "research"]);
    expect(await listOffers("run", "hello", "")).toEqual([]);
    expect(await waitForOffers("agents", "set", "re")).toEqual(["researcher", "reviewer"]);
    expect(await waitForOffers("secrets", "grant", "X", "engineer", "sc")).toEqual(["scribe"]);
    expect(await waitForOffers("run", "--model", "demo/")).toEqual(["demo/scripted"]);
    const { body } = await server.request<{ id: string }>("POST", "/v1/projects", { body: { name: "bell" } });
    expect(body.id).toStartWith("proj_");
    expect(await waitForOffers("run", "hello", "x", "--project", "b")).toEqual(["bell"]);
    expect(await waitForOffers("runs", "--data", server.data, "--pipeline", "fe")).toEqual(["feature"]);
  });

  test("files and folders are left to the shell; without a server there is nothing", async () => {
    expect(await listOffers("check", "")).toEqual([":files"]);
    expect(await listOffers("runs", "--data", "")).toEqual([":folders"]);
    expect(await listOffers("run", "--url", "http://127.0.0.1:9", "")).toEqual([]);
  });
});

describe("the script for bash", () => {
  test("puts what is offered into the shell's list, files included", () => {
    mkdirSync(join(folder.path, "pipes"));
    writeFileSync(join(folder.path, "pipe.yml"), "");
    const [program, ...rest] = skepCommand();
    const bin = join(folder.path, "bin");
    mkdirSync(bin);
    writeFileSync(join(bin, "skep"), `#!/bin/sh\nexec ${[program, ...rest].join(" ")} "$@"\n`, { mode: 0o755 });
    const list = (...words: string[]) => {
      const script = `source <(skep completion bash); COMP_WORDS=(${words.map((word) => `'${word}'`).join(" ")}); COMP_CWORD=${words.length - 1}; _skep; printf '%s\\n' "\${COMPREPLY[@]}"`;
      const path = `${bin}:${process.env["PATH"]}`;
      const ran = Bun.spawnSync(["bash", "-c", script], { cwd: folder.path, env: { ...env, PATH: path } });
      return ran.stdout.toString().trim().split("\n");
    };
    expect(list("skep", "run", "hel")).toEqual(["hello"]);
    expect(list("skep", "check", "pi").sort()).toEqual(["pipe.yml", "pipes"]);
    expect(list("skep", "runs", "--data", "pi")).toEqual(["pipes"]);
  });
});
