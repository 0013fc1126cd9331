/**
 * The program behind scripts/release; see there. It refuses whatever would make a release that cannot be reproduced or
 * trusted.
 */
import { createPrivateKey, createPublicKey, generateKeyPairSync, type KeyObject, sign } from "node:crypto";
import {
  chmodSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { basename, join, resolve } from "node:path";
import { parseArgs } from "node:util";
import manifest from "../package.json" with { type: "json" };
import { RELEASE_KEY } from "../src/core/release-key.ts";
import { openManifest, sealManifest, type UpdateManifest } from "../src/core/update-manifest.ts";
import { describeMaterials } from "./packaging/bill-of-materials.ts";
import { makeDebianPackage } from "./packaging/debian.ts";
import { makeImage } from "./packaging/image.ts";
import { manualPage } from "./packaging/manual.ts";
import { createTar, digestOf, fail, fillTemplate, put, type Release, run } from "./packaging/shell.ts";

const TARGETS = ["linux-x64", "linux-arm64", "darwin-arm64", "darwin-x64"];
const KEY_FILE = "src/core/release-key.ts";
/** Debian's names for the processors. */
const DEBIAN_ARCHITECTURES: Record<string, string> = { "linux-x64": "amd64", "linux-arm64": "arm64" };

/** Creates a signing key: writes the private half to `path` with mode 0600, and the public half into the sources. */
function makeKey(path: string | undefined): void {
  if (!path) fail("keygen needs the file for the private key, outside this folder");
  if (existsSync(path)) fail(`${path} already exists`);
  if (resolve(path).startsWith(`${process.cwd()}/`)) fail("keep the private key outside this folder");
  const { privateKey, publicKey } = generateKeyPairSync("ed25519");
  writeFileSync(path, privateKey.export({ type: "pkcs8", format: "pem" }), { mode: 0o600, flag: "wx" });
  const text = readFileSync(KEY_FILE, "utf8");
  writeFileSync(KEY_FILE, text.replace(/RELEASE_KEY = ".*"/, `RELEASE_KEY = "${publicText(publicKey)}"`));
  console.log(`${path} signs releases; keep it safe and offline. Commit ${KEY_FILE}.`);
}

function publicText(key: KeyObject): string {
  return Buffer.from(String(key.export({ format: "jwk" }).x), "base64url").toString("base64");
}

function readKey(path: string): KeyObject {
  try {
    return createPrivateKey(readFileSync(path, "utf8"));
  } catch {
    return fail(`${path} holds no private key`);
  }
}

/** Fails if nobody could check the release. */
function assertReleasable(): void {
  const dirty = run(["git", "status", "--porcelain"]);
  if (dirty) fail(`the tree has changes that are not committed:\n${dirty}`);
  if (!RELEASE_KEY) fail(`${KEY_FILE} holds no key; make one: scripts/release keygen FILE`);
  if (
    !new RegExp(`^## \\[${manifest.version.replaceAll(".", "\\.")}\\]`, "m").test(readFileSync("CHANGELOG.md", "utf8"))
  )
    fail(`CHANGELOG.md has no section [${manifest.version}]`);
}

/** Builds the executable for a target. @returns its path. */
function build(target: string, { version, epoch, out }: Release): string {
  const path = join(out, `skep-${target}`);
  // Without this flag, the x64 runtime requires AVX2, but releases must run on processors without it, too.
  const flags = target.endsWith("x64") && target.startsWith("linux") ? ["--baseline"] : [];
  // All targets are built under the final name, because the runtime stores the name of the file that it wrote.
  const built = join(out, "skep");
  run([process.execPath, "build.ts", "--target", target, "--outfile", built, "--version", version, ...flags], {
    epoch,
  });
  renameSync(built, path);
  if (target === `${process.platform}-${process.arch}` && run([path, "--version"]) !== version)
    fail(`${path} says it is another version than ${version}`);
  return path;
}

interface Texts {
  manual: string;
  licences: string;
}

/** Packs the archive that people download: the executable, its manual page and licences in one folder. */
function archive(target: string, executable: string, release: Release, texts: Texts): string {
  const { version, epoch, out, work, fast } = release;
  const folder = `skep-${version}`;
  rmSync(join(work, folder), { recursive: true, force: true });
  put(work, `${folder}/skep.1`, texts.manual);
  put(work, `${folder}/LICENSE`, readFileSync("LICENSE"));
  put(work, `${folder}/THIRD-PARTY-LICENSES`, texts.licences);
  copyFileSync(executable, join(work, folder, "skep"));
  chmodSync(join(work, folder, "skep"), 0o755);
  const path = join(out, `${folder}-${target}.tar`);
  createTar(work, [folder], path, epoch);
  run(["gzip", "--no-name", fast ? "-1" : "-6", path]);
  rmSync(join(work, folder), { recursive: true });
  return `${path}.gz`;
}

/** Writes the files that refer to the release's other files. */
function writeTemplates({ version, url, out }: Release, archives: Record<string, string>): void {
  const digests = Object.fromEntries(
    TARGETS.map((target) => [
      `SHA256_${target.toUpperCase().replace("-", "_")}`,
      archives[target] ? digestOf(archives[target]) : "",
    ]),
  );
  const values = {
    VERSION: version,
    DEBIAN_VERSION: version.replace("-", "~"),
    URL: url,
    PUBLIC_KEY: publicPem(),
    ...digests,
  };
  const names = ["compose.yml", "install.sh", "casaos.yml", "unraid.xml", "proxmox.sh"];
  if (TARGETS.every((target) => archives[target])) names.push("skep.rb");
  for (const name of names) put(out, name, fillTemplate(name, values), name.endsWith(".sh") ? 0o755 : 0o644);
}

/** The release's public key in the format that openssl reads. */
function publicPem(): string {
  const x = Buffer.from(RELEASE_KEY, "base64").toString("base64url");
  const key = createPublicKey({ format: "jwk", key: { kty: "OKP", crv: "Ed25519", x } });
  return key.export({ type: "spki", format: "pem" }).toString().trim();
}

/**
 * Writes `update.json` and verifies it with the built-in public key, so that a signing key that does not match is
 * detected here.
 */
function writeManifest(release: Release, executables: Record<string, string>, key: KeyObject, notes?: string): void {
  const files: UpdateManifest["files"] = {};
  for (const [target, path] of Object.entries(executables))
    files[target] = { path: basename(path), size: statSync(path).size, sha256: digestOf(path) };
  const released = new Date(release.epoch * 1_000).toISOString();
  const manifest = { version: release.version, released_at: released, ...(notes ? { notes_url: notes } : {}), files };
  const text = sealManifest(manifest, key);
  openManifest(text, RELEASE_KEY);
  writeFileSync(join(release.out, "update.json"), text);
}

function writeSums({ out }: Release, key: KeyObject): void {
  const sums = readdirSync(out)
    .sort()
    .map((name) => `${digestOf(join(out, name))}  ${name}\n`);
  writeFileSync(join(out, "SHA256SUMS"), sums.join(""));
  writeFileSync(join(out, "SHA256SUMS.sig"), sign(null, Buffer.from(sums.join("")), key));
}

function makeRelease(): void {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: {
      key: { type: "string" },
      url: { type: "string" },
      out: { type: "string", default: "dist/release" },
      targets: { type: "string", default: TARGETS.join(",") },
      "notes-url": { type: "string" },
      "no-image": { type: "boolean", default: false },
      fast: { type: "boolean", default: false },
    },
  });
  const targets = values.targets.split(",");
  const unknown = targets.filter((target) => !TARGETS.includes(target));
  if (unknown.length > 0) fail(`--targets takes ${TARGETS.join(",")}`);
  if (!values.key) fail("--key names the file with the signing key");
  const key = readKey(values.key);
  const [version] = positionals;
  if (version !== manifest.version)
    fail(`name the version that package.json has: scripts/release ${manifest.version} --key FILE --url ADDRESS`);
  if (!/^https?:\/\/[!-~]+$/.test(values.url ?? ""))
    fail("--url is the address that the files will be downloaded from");
  assertReleasable();
  if (!values["no-image"] && !Bun.which("mmdebstrap"))
    fail("the images need mmdebstrap; or leave them out: --no-image");
  mkdirSync(values.out, { recursive: true });
  if (readdirSync(values.out).length > 0) fail(`${values.out} is not empty`);

  const work = mkdtempSync(join(tmpdir(), "skep-release-"));
  try {
    const epoch = Number(run(["git", "log", "-1", "--format=%ct"]));
    const url = String(values.url).replace(/\/+$/, "");
    const release: Release = { version, epoch, url, out: resolve(values.out), work, fast: values.fast };
    makeFiles(release, targets, { key, images: !values["no-image"], notes: values["notes-url"] });
  } finally {
    rmSync(work, { recursive: true, force: true });
  }
  console.log(`${values.out}: version ${version} for ${targets.join(", ")}`);
}

function makeFiles(
  release: Release,
  targets: string[],
  options: { key: KeyObject; images: boolean; notes: string | undefined },
): void {
  const { version, epoch, out } = release;
  const { bill, licences } = describeMaterials(release);
  put(out, `skep-${version}.cdx.json`, bill);
  const texts: Texts = { licences, manual: manualPage(version, new Date(epoch * 1_000).toISOString().slice(0, 10)) };
  const executables: Record<string, string> = {};
  const archives: Record<string, string> = {};
  for (const target of targets) {
    const executable = build(target, release);
    executables[target] = executable;
    archives[target] = archive(target, executable, release, texts);
    const architecture = DEBIAN_ARCHITECTURES[target];
    console.log(`${target} is built`);
    if (!architecture) continue;
    makeDebianPackage({ ...release, executable, architecture, ...texts });
    if (options.images) makeImage({ ...release, executable, architecture });
  }
  writeTemplates(release, archives);
  writeManifest(release, executables, options.key, options.notes);
  writeSums(release, options.key);
}

if (process.argv[2] === "keygen") makeKey(process.argv[3]);
else makeRelease();
