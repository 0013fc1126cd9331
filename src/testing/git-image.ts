/** Sandbox images with one program of this machine and the libraries it links to, on a static busybox. */
import { createHash } from "node:crypto";
import { readFileSync, realpathSync, statSync } from "node:fs";
import type { Readable } from "node:stream";
import { pack } from "tar-stream";
import type { DockerClient } from "../adapter/docker.ts";

const paths = (program: string): string[] => {
  const path = Bun.which(program)!;
  const libraries = Bun.spawnSync(["ldd", path]).stdout.toString();
  return [path, ...[...libraries.matchAll(/(?:=> )?(\/\S+) \(0x/g)].map(([, library]) => library!)];
};

export const gitImage = (docker: DockerClient): Promise<string> => programImage(docker, "git");

/** The name of the image, which is built if this engine has none with the same program. */
export async function programImage(docker: DockerClient, program: string): Promise<string> {
  const busybox = realpathSync(Bun.which("busybox")!);
  const files = paths(program);
  const hash = createHash("sha256");
  for (const path of [busybox, ...files]) hash.update(`${path} ${statSync(realpathSync(path)).size}\n`);
  const name = `skep-test-${program}:${hash.digest("hex").slice(0, 16)}`;
  if (await docker.images.inspect(name)) return name;
  const tar = pack();
  const made = docker.images.importRootfs(tar as unknown as Readable, name, ["ENV PATH=/bin:/usr/bin"]);
  const add = (at: string, data: Uint8Array) =>
    new Promise<void>((done, fail) =>
      tar.entry({ name: at, mode: 0o755 }, Buffer.from(data), (error) => (error ? fail(error) : done())),
    );
  await add("bin/busybox", readFileSync(busybox));
  for (const applet of ["sh", "cat", "echo", "grep", "head", "sleep", "ls", "id", "rm", "mkdir"])
    tar.entry({ name: `bin/${applet}`, type: "symlink", linkname: "busybox" });
  for (const path of files) await add(path.slice(1), readFileSync(realpathSync(path)));
  tar.finalize();
  await made;
  return name;
}
