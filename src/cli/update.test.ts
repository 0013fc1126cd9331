/** `skep update` with real executables. It runs only if SKEP_BINARY names the compiled one, as scripts/test sets it. */
import { afterAll, beforeAll, beforeEach, describe, expect, setDefaultTimeout, test } from "bun:test";
import {
  chmodSync,
  copyFileSync,
  existsSync,
  linkSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { lacks } from "../testing/parts.ts";
import { createPublisher, updateFileOf } from "../testing/update-manifests.ts";

// Building the next version takes long on a busy machine.
setDefaultTimeout(300_000);

const BINARY = process.env["SKEP_BINARY"];
const PLATFORM = `${process.platform}-${process.arch}`;
const publisher = createPublisher();

let folder: string;
let release: string;
let installed: string;
let current: string;
let next: string;

interface Ran {
  code: number;
  stdout: string;
  stderr: string;
}
async function run(args: string[], env: Record<string, string> = {}): Promise<Ran> {
  const child = Bun.spawn([installed, ...args], {
    env: {
      PATH: process.env["PATH"] ?? "",
      HOME: folder,
      DATA: join(folder, "data"),
      UPDATE_PUBLIC_KEY: publisher.publicKey,
      ...env,
    },
    stdin: "ignore",
    stdout: "pipe",
    stderr: "pipe",
  });
  const [stdout, stderr, code] = await Promise.all([
    new Response(child.stdout).text(),
    new Response(child.stderr).text(),
    child.exited,
  ]);
  return { code, stdout, stderr };
}
const versionOf = async () => (await run(["--version"])).stdout.trim();
/** The files beside the executable. */
const beside = () => readdirSync(join(folder, "bin")).toSorted();

/** Builds the same program under another version. */
function buildAs(version: string, file: string): void {
  const root = resolve(import.meta.dir, "../..");
  const built = Bun.spawnSync([process.execPath, "build.ts", "--version", version, "--outfile", file], { cwd: root });
  if (!built.success) throw new Error(`The next version was not built: ${built.stderr}`);
}

/** Publishes an executable as that version. @param spoil changes the file after it was signed. */
function publish(version: string, text: string, spoil?: (file: string) => void): string {
  rmSync(join(release, "skep"), { force: true });
  writeFileSync(join(release, "skep"), text);
  return sign(version, spoil);
}
/** Publishes the real program under the next version. */
function publishNext(): string {
  rmSync(join(release, "skep"), { force: true });
  linkSync(join(folder, "next"), join(release, "skep"));
  return sign(next);
}
function sign(version: string, spoil?: (file: string) => void): string {
  const file = join(release, "skep");
  const manifest = join(release, "update.json");
  writeFileSync(manifest, publisher.seal({ version, files: { [PLATFORM]: updateFileOf(file, "skep") } }));
  spoil?.(file);
  return release;
}
const script = (version: string, serve: string): string =>
  `#!/bin/sh\nif [ "$1" = --version ]; then echo ${version}; exit 0; fi\n${serve}\n`;

describe.skipIf(lacks("executable (SKEP_BINARY)", BINARY !== undefined))("skep update", () => {
  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), "skep-update-"));
    release = join(folder, "release");
    mkdirSync(release);
    mkdirSync(join(folder, "bin"));
    installed = join(folder, "bin/skep");
    copyFileSync(resolve(import.meta.dir, "../..", BINARY!), join(folder, "now"));
    chmodSync(join(folder, "now"), 0o755);
    putInstalled();
    current = await versionOf();
    next = current.replace(/\d$/, (digit) => String((Number(digit) + 1) % 10));
    buildAs(next, join(folder, "next"));
  });
  afterAll(() => rmSync(folder, { recursive: true, force: true }));
  beforeEach(putInstalled);

  function putInstalled(): void {
    rmSync(join(folder, "bin"), { recursive: true, force: true });
    mkdirSync(join(folder, "bin"));
    linkSync(join(folder, "now"), installed);
  }

  test("installs a newer one from a folder, keeps the old one, and goes back to it when asked", async () => {
    const from = publishNext();
    expect((await run(["update", "--check", "--from", from])).code).toBe(1);
    const done = await run(["update", "--from", from]);
    expect(done).toMatchObject({ code: 0, stderr: "" });
    expect(done.stdout).toContain(`Version ${next} is installed`);
    expect(await versionOf()).toBe(next);
    expect(beside()).toEqual(["skep", "skep.previous"]);
    expect((await run(["update", "--from", from])).stdout).toContain("is installed already");
    expect((await run(["update", "--rollback"])).code).toBe(0);
    expect(await versionOf()).toBe(current);
    expect((await run(["update", "--rollback"])).code).toBe(0);
    expect(await versionOf()).toBe(next);
  });

  test("installs from an address, the executable found beside the manifest", async () => {
    publishNext();
    const site = Bun.serve({
      port: 0,
      hostname: "127.0.0.1",
      fetch: ({ url }) => new Response(Bun.file(join(release, new URL(url).pathname))),
    });
    const done = await run(["update"], { UPDATE_CHECK_URL: `${site.url.origin}/update.json` });
    await site.stop(true);
    expect(done).toMatchObject({ code: 0, stderr: "" });
    expect(await versionOf()).toBe(next);
  });

  test("a running server keeps running, and the output says to restart it", async () => {
    const from = publishNext();
    const server = Bun.spawn([installed, "serve"], {
      env: { PATH: process.env["PATH"] ?? "", DATA: join(folder, "data"), PORT: "0", SANDBOX: "process" },
      stdout: "pipe",
      stderr: "ignore",
      stdin: "ignore",
    });
    try {
      let text = "";
      for await (const chunk of server.stdout) {
        text += new TextDecoder().decode(chunk);
        if (text.includes("Listening on")) break;
      }
      const done = await run(["update", "--from", from]);
      expect(done).toMatchObject({ code: 0, stderr: "" });
      expect(done.stdout).toContain("Restart it");
      expect(server.exitCode).toBeNull();
    } finally {
      server.kill();
      await server.exited;
    }
  });

  test.each<[string, () => string, string]>([
    [
      "was changed after signing",
      () => publish(next, "as signed", (file) => writeFileSync(file, "as forged")),
      "not the one that was signed",
    ],
    [
      "is longer than was signed",
      () => publish(next, "short", (file) => writeFileSync(file, "longer than it was")),
      "longer than what was signed",
    ],
    ["is missing", () => publish(next, "gone", (file) => rmSync(file)), "missing"],
    ["is signed by another", () => signedByAnother(), "signature"],
    ["is for another machine", () => forAnotherMachine(), PLATFORM],
    ["is older", () => publish("0.0.0", "old"), "older"],
  ])("one that %s changes nothing", async (_what, put, why) => {
    const done = await run(["update", "--from", put()]);
    expect(done.code).toBe(1);
    expect(done.stderr).toContain(why);
    expect(beside()).toEqual(["skep"]);
    expect(await versionOf()).toBe(current);
  });

  test.each([
    ["ends at once", script("9.9.9", "echo no database; exit 1"), "no database"],
    ["never answers", script("9.9.9", "exec sleep 600"), "did not answer in time"],
    ["says it is another version", script("9.9.8", "exit 1"), "another version"],
    ["cannot be run here", "\x7fELF not really", "cannot be run"],
  ])("one that %s is taken back, and the old one is in place", async (_what, made, why) => {
    const done = await run(["update", "--from", publish("9.9.9", made), "--health-seconds", "2"]);
    expect(done.code).toBe(1);
    expect(done.stderr).toContain("did not become healthy");
    expect(done.stderr).toContain(why);
    expect(await versionOf()).toBe(current);
    expect(existsSync(`${installed}.new`)).toBe(false);
    expect(beside().filter((name) => !/^skep(\.previous)?$/.test(name))).toEqual([]);
  });

  test("without a place to look, a manifest or a kept version, it says what is missing", async () => {
    const answers = await Promise.all([
      run(["update"]),
      run(["update", "--from", join(folder, "nothing")]),
      run(["update", "--rollback"]),
      run(["update", "--from", release, "--health-seconds", "0"]),
    ]);
    expect(answers.map(({ code }) => code)).toEqual([2, 1, 1, 2]);
    expect(answers[0]?.stderr).toContain("UPDATE_CHECK_URL");
    expect(answers[2]?.stderr).toContain("No previous version");
  });

  function signedByAnother(): string {
    publish(next, "anything");
    writeFileSync(join(release, "update.json"), createPublisher().seal({ version: next }));
    return release;
  }
  function forAnotherMachine(): string {
    const file = updateFileOf(join(publish(next, "anything"), "skep"), "skep");
    writeFileSync(join(release, "update.json"), publisher.seal({ version: next, files: { "plan9-x64": file } }));
    return release;
  }
});
