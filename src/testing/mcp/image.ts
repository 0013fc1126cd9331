/** A container image with tool servers from npm and their runtime, built on demand and named by its content. */
import { createHash } from "node:crypto";
import { readFileSync, realpathSync } from "node:fs";
import { join, resolve } from "node:path";
import type { Readable } from "node:stream";
import { pack } from "tar-stream";
import type { DockerClient } from "../../adapter/docker.ts";
import { BUSYBOX_PATHS } from "../../adapter/sandbox/docker/busybox-rootfs.ts";
import { sharedLibraries } from "../binary/scratch-image.ts";

const MODULES = resolve(import.meta.dir, "../../../node_modules");
export const NPM_SERVERS = ["everything", "filesystem", "memory", "sequential-thinking"] as const;
type NpmServer = (typeof NPM_SERVERS)[number];

export const npmServerEntry = (name: NpmServer): string =>
  join(MODULES, `@modelcontextprotocol/server-${name}/dist/index.js`);
export const ODD_SERVER = join(import.meta.dir, "odd-server.ts");
/** The runtime with which the tests run. */
export const BUN = realpathSync(join(MODULES, ".bin/bun"));

/** Bundles a server into one file, so that the image needs no node_modules. */
async function bundle(entry: string): Promise<Buffer> {
  const { outputs } = await Bun.build({ entrypoints: [entry], target: "bun" });
  return Buffer.from(await outputs[0]!.arrayBuffer());
}

/** `command` and `args` that start a server of the image. */
export const inImage = (name: NpmServer | "odd", ...args: string[]) => ({
  command: "/bin/bun",
  args: [`/srv/${name}/index.js`, ...args],
});

/** @returns the image's name. The image is imported if this engine has none with the same content. */
export async function mcpImage(docker: DockerClient): Promise<string> {
  const busybox = BUSYBOX_PATHS.map((path) => {
    try {
      return readFileSync(path);
    } catch {
      return undefined;
    }
  }).find(Boolean);
  if (!busybox) throw new Error("a static busybox is needed: install busybox-static");
  const files: [name: string, data: Buffer][] = [
    ["bin/busybox", busybox],
    ["bin/bun", readFileSync(BUN)],
    ...sharedLibraries(BUN).map((path): [string, Buffer] => [path.slice(1), readFileSync(realpathSync(path))]),
    ["srv/odd/index.js", await bundle(ODD_SERVER)],
  ];
  for (const name of NPM_SERVERS) {
    const entry = npmServerEntry(name);
    files.push([`srv/${name}/index.js`, await bundle(entry)]);
    // The servers read their version from this file, beside themselves or in a parent folder.
    files.push([`srv/${name}/package.json`, readFileSync(join(entry, "../../package.json"))]);
  }
  const hash = createHash("sha256");
  for (const [name, data] of files) hash.update(name).update(data);
  const image = `skep-test-mcp:${hash.digest("hex").slice(0, 16)}`;
  if (await docker.images.inspect(image)) return image;
  const tar = pack();
  for (const folder of ["bin", "tmp", "data", "proc", "dev", "sys"])
    tar.entry({ name: folder, mode: 0o1777, type: "directory" });
  for (const [name, data] of files) tar.entry({ name, mode: 0o755 }, data);
  for (const name of ["sh", "sleep", "cat"]) tar.entry({ name: `bin/${name}`, type: "symlink", linkname: "busybox" });
  tar.finalize();
  await docker.images.importRootfs(tar as unknown as Readable, image, ["ENV PATH=/bin"]);
  return image;
}
