/**
 * Builds the container image as a file for `docker load`: the needed Debian packages in one layer, the executable in
 * another.
 */
import {
  chmodSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { createTar, digestOf, put, type Release, run } from "./shell.ts";

/** The libraries that the executable links to, and git with what it needs for repositories over https and ssh. */
const PACKAGES = ["ca-certificates", "git", "libc-bin", "libstdc++6", "libgcc-s1", "openssh-client"];
/** Documentation that nobody reads in a container. */
const UNUSED = ["usr/share/doc", "usr/share/man", "usr/share/info", "usr/share/locale", "usr/share/perl", "var/cache"];
const CERTIFICATES = "usr/share/ca-certificates/mozilla";
const LABELS = { "org.opencontainers.image.title": "Skep", "org.opencontainers.image.licenses": "MIT" };

/**
 * @param architecture Debian's name, e.g. `amd64`.
 * @returns the image file's path in `out`; the image's name is `skep:VERSION`.
 */
export function makeImage(release: Release & { executable: string; architecture: string; suite?: string }): string {
  const { version, epoch, out, work, executable, architecture } = release;
  if (!Bun.which("mmdebstrap")) throw new Error("The image needs mmdebstrap: apt install mmdebstrap");
  const folder = join(work, `image-${architecture}`);
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(join(folder, "skep/usr/bin"), { recursive: true });
  makeBase(join(folder, "base"), release);
  copyFileSync(executable, join(folder, "skep/usr/bin/skep"));
  chmodSync(join(folder, "skep/usr/bin/skep"), 0o755);
  const layers = ["base", "skep"].map((name) => {
    const layer = join(folder, `${name}.tar`);
    createTar(join(folder, name), readdirSync(join(folder, name)).sort(), layer, epoch);
    return { name: `${name}.tar`, diff: `sha256:${digestOf(layer)}` };
  });
  const created = new Date(epoch * 1_000).toISOString();
  const config = {
    architecture,
    os: "linux",
    created,
    config: {
      Entrypoint: ["skep"],
      Cmd: ["serve"],
      Env: ["PATH=/usr/local/bin:/usr/bin:/bin", "HOME=/tmp", "HOST=0.0.0.0", "DATA=/var/lib/skep"],
      ExposedPorts: { "8000/tcp": {} },
      Healthcheck: { Test: ["CMD", "skep", "health"] },
      Labels: { ...LABELS, "org.opencontainers.image.version": version },
    },
    rootfs: { type: "layers", diff_ids: layers.map(({ diff }) => diff) },
    history: layers.map(({ name }) => ({ created, created_by: name })),
  };
  writeFileSync(join(folder, "config.json"), JSON.stringify(config));
  const index = [{ Config: "config.json", RepoTags: [`skep:${version}`], Layers: layers.map(({ name }) => name) }];
  writeFileSync(join(folder, "manifest.json"), JSON.stringify(index));
  const path = join(out, `skep-${version}-image-${architecture}.tar`);
  createTar(folder, ["config.json", "manifest.json", ...layers.map(({ name }) => name)], path, epoch);
  rmSync(folder, { recursive: true });
  return path;
}

/** Unpacks the packages without running their scripts, so that this works for other processors, too. */
function makeBase(root: string, release: Release & { architecture: string; suite?: string }): void {
  const { epoch, architecture, suite = "bookworm" } = release;
  const options = ["--variant=extract", "--mode=root", "--quiet", `--architectures=${architecture}`];
  run(["mmdebstrap", ...options, `--include=${PACKAGES.join(",")}`, suite, root], { epoch });
  for (const path of UNUSED) rmSync(join(root, path), { recursive: true, force: true });
  rmSync(join(root, "var/lib/apt"), { recursive: true, force: true });
  const folder = join(root, CERTIFICATES);
  const all = readdirSync(folder)
    .sort()
    .map((name) => readFileSync(join(folder, name), "utf8"));
  put(root, "etc/ssl/certs/ca-certificates.crt", all.join(""));
  put(
    root,
    "etc/passwd",
    "root:x:0:0:root:/root:/usr/sbin/nologin\nskep:x:10001:10001::/var/lib/skep:/usr/sbin/nologin\n",
  );
  put(root, "etc/group", "root:x:0:\nskep:x:10001:\n");
  mkdirSync(join(root, "var/lib/skep"), { recursive: true });
  if (!existsSync(join(root, "tmp"))) mkdirSync(join(root, "tmp"));
  chmodSync(join(root, "tmp"), 0o1777);
}
