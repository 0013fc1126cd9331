/** A container image with only the executable and the shared libraries that it and its add-ons link to. */
import { createReadStream, readFileSync, realpathSync, statSync } from "node:fs";
import type { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { pack } from "tar-stream";
import type { DockerClient } from "../../adapter/docker.ts";

/** Libraries that the SQLite and graph add-ons need besides those of the executable. */
const ADDON_LIBRARIES = ["libstdc++.so.6", "libgcc_s.so.1"];

/**
 * The shared libraries by the path where a loader looks for them. The executable needs only glibc, but the add-ons are
 * C++.
 * @throws Error if this machine lacks one of them.
 */
export function sharedLibraries(binary: string): string[] {
  const libraries = Bun.spawnSync(["ldd", binary]).stdout.toString();
  const named = [...libraries.matchAll(/(?:=> )?(\/\S+) \(0x/g)].map(([, path]) => path!);
  const folder = named.find((path) => path.includes("libc.so."))!.replace(/\/[^/]+$/, "");
  return [...new Set([...named, ...ADDON_LIBRARIES.map((name) => `${folder}/${name}`)])];
}

/** Imports the image under `name`. It has no shell, no /tmp and no user database. */
export async function importScratchImage(docker: DockerClient, binary: string, name: string): Promise<void> {
  const tar = pack();
  const filled = fill(tar, binary);
  await docker.images.importRootfs(tar as unknown as Readable, name, ['ENTRYPOINT ["/skep"]', "USER 10001:10001"]);
  await filled;
}

async function fill(tar: ReturnType<typeof pack>, binary: string): Promise<void> {
  for (const path of sharedLibraries(binary)) {
    const data = readFileSync(realpathSync(path));
    await new Promise<void>((done, fail) =>
      tar.entry({ name: path.slice(1), mode: 0o755 }, data, (error) => (error ? fail(error) : done())),
    );
  }
  const entry = tar.entry({ name: "skep", mode: 0o755, size: statSync(binary).size });
  await pipeline(createReadStream(binary), entry);
  tar.finalize();
}
