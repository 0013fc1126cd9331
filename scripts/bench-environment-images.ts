/**
 * Builds images with the names that environments propose, for machines without access to an image registry: Debian with
 * a language's tools. Python packages that Debian has are installed from it, and pip uses these.
 */
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { DockerClient } from "../src/adapter/docker.ts";
import { debianRootfs } from "../src/cli/debian-rootfs.ts";

const SUITE = "trixie";
const CERTIFICATES = "etc/ssl/certs/ca-certificates.crt";
const PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";

interface Family {
  packages: readonly string[];
  env?: readonly string[];
  /** Adds more files to the image's root. */
  add?(root: string, tag: string): void;
}

const python =
  "python3-pip,python3-venv,python3-dev,python-is-python3,g++,flit,python3-setuptools,python3-hatchling,git,less";
const tests = "python3-pytest,python3-hypothesis,python3-freezegun,python3-pretend,python3-tomli-w,python3-coverage";
const FAMILIES: Readonly<Record<string, Family>> = {
  // What the usual images of that name contain besides the language.
  node: {
    packages: ["g++", "make", "python3", "git", "libatomic1"],
    env: [`NODE_EXTRA_CA_CERTS=/${CERTIFICATES}`],
    add: addNode,
  },
  python: {
    packages: `${python},${tests}`.split(","),
    add(root) {
      // Packages that pip builds use Debian's build dependencies as well.
      writeFileSync(join(root, "etc/pip.conf"), "[global]\nbreak-system-packages = true\n");
    },
    env: ["PIP_NO_BUILD_ISOLATION=0"],
  },
  golang: { packages: ["golang-go"], env: ["GOPATH=/go", "GOTOOLCHAIN=local"] },
  rust: { packages: ["cargo"] },
  maven: { packages: ["maven", "default-jdk-headless"] },
};

/**
 * Builds the image unless the engine has it. @returns undefined if the image exists now, else why not, as a sentence.
 */
export async function makeImage(docker: DockerClient, name: string): Promise<string | undefined> {
  if (await docker.images.inspect(name)) return undefined;
  // Of a name with a registry, only the last part counts.
  const [language = "", tag = ""] = (name.split("/").at(-1) ?? "").split(":");
  const family = FAMILIES[language];
  if (!family) return "No image of that name is made here.";
  // Debian has only one version of a language. npm has all versions of Node.js.
  const made = language === "node" ? `node:${tag}` : `skep-bench-${language}:${SUITE}`;
  if (!(await docker.images.inspect(made))) await build(docker, made, family, tag);
  if (made !== name) await docker.images.tag(made, name);
  return undefined;
}

async function build(docker: DockerClient, name: string, { packages, env = [], add }: Family, tag: string) {
  const folder = mkdtempSync(join(tmpdir(), "skep-bench-image-"));
  try {
    const root = join(folder, "root");
    mkdirSync(join(root, "etc/ssl/certs"), { recursive: true });
    // If this machine's network uses its own certificate authority, the image must trust it, too.
    if (existsSync(`/${CERTIFICATES}`)) copyFileSync(`/${CERTIFICATES}`, join(root, CERTIFICATES));
    add?.(root, tag);
    const over = join(folder, "over.tar");
    run(["tar", "-C", root, "--owner=0", "--group=0", "-cf", over, "."]);
    const onLine = (line: string) => void (line.startsWith("E:") && console.error(line));
    const { tar, done } = await debianRootfs({ suite: SUITE, packages, over, onLine });
    const changes = [`ENV PATH=${PATH}`, ...env.map((one) => `ENV ${one}`), "LABEL skep.bench=environments"];
    await Promise.all([docker.images.importRootfs(tar, name, changes), done]);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Adds the official node program and npm, both from the npm registry. */
function addNode(root: string, tag: string): void {
  const [bin, modules] = [join(root, "usr/local/bin"), join(root, "usr/local/lib/node_modules")];
  mkdirSync(bin, { recursive: true });
  const arch = process.arch === "arm64" ? "arm64" : "x64";
  const npm = Number(tag) >= 20 ? "10" : "8";
  run(["npm", "install", "--prefix", modules, "--ignore-scripts", `node-linux-${arch}@${tag}`, `npm@${npm}`]);
  run(["sh", "-c", 'mv "$1"/node_modules/* "$1" && rm -rf "$1"/node_modules "$1"/package*.json', "sh", modules]);
  // Not a link, because npm installs beside the file that runs.
  renameSync(join(modules, `node-linux-${arch}/bin/node`), join(bin, "node"));
  for (const program of ["npm", "npx"])
    symlinkSync(`../lib/node_modules/npm/bin/${program}-cli.js`, join(bin, program));
}

function run(argv: string[]): void {
  const { exitCode, stderr } = Bun.spawnSync(argv, { stderr: "pipe" });
  if (exitCode !== 0) throw new Error(`${argv[0]}: ${stderr.toString().slice(-400)}`);
}
