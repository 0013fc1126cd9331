/**
 * An image with published external agents: this machine's node and git on a static busybox, plus opencode, codex and
 * others from the package registry, each at the version named here.
 */
import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readFileSync, realpathSync, statSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import type { Readable } from "node:stream";
import { pack } from "tar-stream";
import type { DockerClient } from "../adapter/docker.ts";

const PACKAGES = {
  opencode: "opencode-linux-x64@1.18.33",
  codex: "@openai/codex@0.169.0-linux-x64",
  codexAcp: "@agentclientprotocol/codex-acp@2.6.0",
  gemini: "@google/gemini-cli@0.61.0",
} as const;
/** Paths of the programs in their packages and in the image. */
const PROGRAMS: Record<keyof typeof PACKAGES, [from: string, to: string]> = {
  opencode: ["package/bin/opencode", "usr/local/bin/opencode"],
  codex: ["package/vendor/x86_64-unknown-linux-musl/bin/codex", "usr/local/bin/codex"],
  codexAcp: ["package/dist/index.js", "usr/local/bin/codex-acp"],
  gemini: ["package/bundle/gemini.js", "opt/gemini/gemini.js"],
};
/** For programs of more than one file: the further files that they need at run time. */
const BESIDE: Partial<Record<keyof typeof PACKAGES, RegExp>> = {
  gemini: /^(?:[\w.-]+\.(?:js|wasm|json)|policies\/.*)$/,
};
const COMMANDS: Partial<Record<keyof typeof PACKAGES, readonly [path: string, text: string]>> = {
  gemini: ["usr/local/bin/gemini", '#!/bin/sh\nexec node /opt/gemini/gemini.js "$@"\n'],
};
const TOOLS = ["node", "git"] as const;
/**
 * Dockerfile instructions. opencode is JavaScript that runs only for seconds, too short for the last optimizing
 * compiler to pay off. Without it, opencode needs a third less processor time.
 */
const INSTRUCTIONS = ["ENV PATH=/usr/local/bin:/usr/bin:/bin", "ENV BUN_JSC_useFTLJIT=0", 'CMD ["/bin/sh"]'];
const CACHE = resolve(import.meta.dir, "../../node_modules/.cache/harness");

/**
 * The package's program on this machine, downloaded if it is missing. @throws Error when the registry does not answer.
 */
function programOf(name: keyof typeof PACKAGES): string {
  const folder = join(CACHE, PACKAGES[name].replaceAll(/[^\w.-]/g, "_"));
  const path = join(folder, PROGRAMS[name][0]);
  if (existsSync(path)) return path;
  mkdirSync(folder, { recursive: true });
  const packed = Bun.spawnSync(["npm", "pack", "--silent", "--pack-destination", folder, PACKAGES[name]]);
  const file = packed.stdout.toString().trim().split("\n").at(-1);
  if (packed.exitCode !== 0 || !file) throw new Error(`${PACKAGES[name]} cannot be fetched: ${packed.stderr}`);
  const unpacked = Bun.spawnSync([
    "tar",
    "-xzf",
    join(folder, file),
    "-C",
    folder,
    BESIDE[name] ? dirname(PROGRAMS[name][0]) : PROGRAMS[name][0],
  ]);
  if (unpacked.exitCode !== 0) throw new Error(`${file} cannot be unpacked: ${unpacked.stderr}`);
  return path;
}

function withLibraries(program: string): string[] {
  const libraries = Bun.spawnSync(["ldd", program]).stdout.toString();
  return [program, ...[...libraries.matchAll(/(?:=> )?(\/\S+) \(0x/g)].map(([, path]) => path!)];
}

/**
 * The name of the image, which is built if this engine has none with the same programs. @param more further executable
 * texts, by path.
 */
export async function harnessImage(
  docker: DockerClient,
  programs: readonly (keyof typeof PACKAGES)[] = ["opencode", "codex", "codexAcp"],
  more: Readonly<Record<string, string>> = {},
): Promise<string> {
  const busybox = realpathSync(Bun.which("busybox")!);
  const own = TOOLS.map((name) => Bun.which(name)!).flatMap(withLibraries);
  const fetched = programs.map((name) => [PROGRAMS[name][1], programOf(name)] as const);
  const libraries = fetched.flatMap(([, path]) => withLibraries(path).slice(1));
  const paths = [...new Set([...own, ...libraries])];
  const hash = createHash("sha256");
  for (const path of [busybox, ...paths, ...fetched.map(([, from]) => from)])
    hash.update(`${path} ${statSync(realpathSync(path)).size}\n`);
  hash.update(JSON.stringify([INSTRUCTIONS, more]));
  const name = `skep-test-harness:${hash.digest("hex").slice(0, 16)}`;
  if (await docker.images.inspect(name)) return name;
  const tar = pack();
  const made = docker.images.importRootfs(tar as unknown as Readable, name, INSTRUCTIONS);
  const add = (at: string, data: Uint8Array) =>
    new Promise<void>((done, fail) =>
      tar.entry({ name: at, mode: 0o755 }, Buffer.from(data), (error) => (error ? fail(error) : done())),
    );
  await add("bin/busybox", readFileSync(busybox));
  for (const applet of [
    "sh",
    "cat",
    "echo",
    "env",
    "grep",
    "head",
    "sleep",
    "ls",
    "id",
    "rm",
    "ln",
    "mkdir",
    "find",
    "ps",
    "wc",
  ])
    tar.entry({ name: `bin/${applet}`, type: "symlink", linkname: "busybox" });
  tar.entry({ name: "usr/bin/env", type: "symlink", linkname: "/bin/busybox" });
  for (const path of paths) await add(path.slice(1), readFileSync(realpathSync(path)));
  for (const [to, from] of fetched) await add(to, readFileSync(from));
  for (const program of programs) {
    const [command, beside] = [COMMANDS[program], BESIDE[program]];
    if (command) await add(command[0], Buffer.from(command[1]));
    if (!beside) continue;
    const [from, to] = [dirname(programOf(program)), dirname(PROGRAMS[program][1])];
    for (const path of new Bun.Glob("**").scanSync({ cwd: from, dot: true }))
      if (beside.test(path) && join(to, path) !== PROGRAMS[program][1])
        await add(join(to, path), readFileSync(join(from, path)));
  }
  for (const [to, text] of Object.entries(more)) await add(to, Buffer.from(text));
  tar.finalize();
  await made;
  return name;
}
