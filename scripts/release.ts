/** scripts/release: see there. Refuses whatever would make a release that cannot be made again or trusted. */
import { createHash, createPrivateKey, generateKeyPairSync, type KeyObject } from "node:crypto";
import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { parseArgs } from "node:util";
import manifest from "../package.json" with { type: "json" };
import { RELEASE_KEY } from "../src/core/release-key.ts";
import { openManifest, sealManifest, type UpdateManifest } from "../src/core/update-manifest.ts";

const TARGETS = ["linux-x64", "linux-arm64", "darwin-arm64", "darwin-x64"];
const KEY_FILE = "src/core/release-key.ts";
const { version } = manifest;

function fail(message: string): never {
  console.error(`release: ${message}`);
  process.exit(1);
}

function output(...command: string[]): string {
  const done = Bun.spawnSync(command, { stderr: "inherit" });
  if (done.exitCode !== 0) fail(`${command.join(" ")} failed`);
  return done.stdout.toString().trim();
}

/** Writes a new key: the private half 0600 to `path`, the public half into the sources. */
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

/** What would make the release one that nobody can check. */
function assertReleasable(): void {
  const dirty = output("git", "status", "--porcelain");
  if (dirty) fail(`the tree has changes that are not committed:\n${dirty}`);
  if (!RELEASE_KEY) fail(`${KEY_FILE} holds no key; make one: scripts/release keygen FILE`);
  if (!new RegExp(`^## \\[${version.replaceAll(".", "\\.")}\\]`, "m").test(readFileSync("CHANGELOG.md", "utf8")))
    fail(`CHANGELOG.md has no section [${version}]`);
}

const digestOf = (path: string): string => createHash("sha256").update(readFileSync(path)).digest("hex");

function build(target: string, folder: string): string {
  const name = `skep-${target}`;
  const path = join(folder, name);
  console.log(output(process.execPath, "build.ts", "--target", target, "--outfile", path).split("\n").at(-1));
  if (target === `${process.platform}-${process.arch}` && output(path, "--version") !== version)
    fail(`${path} says it is another version than ${version}`);
  return name;
}

function release(): void {
  const { values } = parseArgs({
    options: {
      key: { type: "string" },
      out: { type: "string", default: "dist/release" },
      targets: { type: "string", default: TARGETS.join(",") },
      "notes-url": { type: "string" },
    },
  });
  const targets = values.targets.split(",");
  const unknown = targets.filter((target) => !TARGETS.includes(target));
  if (unknown.length > 0) fail(`--targets takes ${TARGETS.join(",")}`);
  if (!values.key) fail("--key names the file with the signing key");
  const key = readKey(values.key);
  assertReleasable();
  mkdirSync(values.out, { recursive: true });
  if (readdirSync(values.out).length > 0) fail(`${values.out} is not empty`);

  const files: UpdateManifest["files"] = {};
  for (const target of targets) {
    const path = build(target, values.out);
    const whole = join(values.out, path);
    files[target] = { path, size: statSync(whole).size, sha256: digestOf(whole) };
  }
  const notes = values["notes-url"] ? { notes_url: values["notes-url"] } : {};
  const text = sealManifest({ version, released_at: new Date().toISOString(), ...notes, files }, key);
  // With the key that is built in, as an installed Skep will: a key that is not its other half is found here.
  openManifest(text, RELEASE_KEY);
  writeFileSync(join(values.out, "update.json"), text);
  const sums = readdirSync(values.out)
    .sort()
    .map((name) => `${digestOf(join(values.out, name))}  ${name}\n`);
  writeFileSync(join(values.out, "SHA256SUMS"), sums.join(""));
  console.log(`${values.out}: version ${version} for ${targets.join(", ")}`);
}

if (process.argv[2] === "keygen") makeKey(process.argv[3]);
else release();
