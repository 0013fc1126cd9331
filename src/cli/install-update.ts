/**
 * Replaces the running executable with an update: checks signature and digest, keeps the old file, renames atomically.
 * If the new one does not start and answer, the old one is put back.
 */
import { createHash } from "node:crypto";
import { copyFileSync, existsSync, linkSync, realpathSync, renameSync, rmSync } from "node:fs";
import { type FileHandle, open, readFile, stat } from "node:fs/promises";
import { dirname, join } from "node:path";
import { codeOf, isProblem, messageOf, Problem } from "../core/errors.ts";
import {
  compareVersions,
  MANIFEST_BYTES,
  openManifest,
  type UpdateFile,
  type UpdateManifest,
} from "../core/update-manifest.ts";
import { assertHealthy } from "./trial-start.ts";

interface UpdateRequest {
  /** Path or address of the manifest, or a folder that holds `update.json`. */
  source: string;
  /** Path of the executable to replace. */
  executable: string;
  current: string;
  platform: string;
  /** Ed25519, 32 bytes in base64. */
  publicKey: string;
  /** Whether to install the same or an older version, too. */
  force: boolean;
  /** How long the new executable may take to answer, in ms. */
  healthMs: number;
  say(text: string): void;
}

const MANIFEST_NAME = "update.json";
const DOWNLOAD_MS = 30 * 60_000;
const MANIFEST_MS = 30_000;
const isAddress = (text: string): boolean => /^https?:\/\//i.test(text);
const createProblem = (code: string, detail: string) => new Problem(422, code, detail);

/** Path of the executable that was replaced. */
export const previousPath = (executable: string): string => `${executable}.previous`;

export async function readManifest(
  source: string,
  publicKey: string,
): Promise<{ manifest: UpdateManifest; at: string }> {
  if (isAddress(source)) {
    const answer = await reach(source, MANIFEST_MS);
    const text = Buffer.concat(await Array.fromAsync(boundStream(answer, MANIFEST_BYTES))).toString("utf8");
    return { manifest: openManifest(text, publicKey), at: source };
  }
  const found = await stat(source).catch(() => undefined);
  const at = found?.isDirectory() ? join(source, MANIFEST_NAME) : source;
  const file = found?.isDirectory() ? await stat(at).catch(() => undefined) : found;
  if (!file?.isFile()) throw createProblem("no_update", `There is no update manifest at ${at}.`);
  if (file.size > MANIFEST_BYTES) throw createProblem("update_untrusted", "This is not an update manifest.");
  return { manifest: openManifest(await readFile(at, "utf8"), publicKey), at };
}

/** Installs the update. @returns the installed version, or null if there is nothing to do. @throws Problem. */
export async function installUpdate(request: UpdateRequest): Promise<string | null> {
  const { source, current, platform, publicKey, force, healthMs, say } = request;
  const executable = realpathSync(request.executable);
  const { manifest, at } = await readManifest(source, publicKey);
  const { version } = manifest;
  if (compareVersions(version, current) <= 0 && !force) {
    if (version === current) return null;
    throw createProblem("update_older", `${version} is older than ${current}. Install it anyway with --force.`);
  }
  const file = Object.hasOwn(manifest.files, platform) ? manifest.files[platform] : undefined;
  if (!file) throw createProblem("no_update", `Version ${version} holds nothing for ${platform}.`);
  const staged = `${executable}.new`;
  say(`Version ${version}: reading ${(file.size / 1e6).toFixed(1)} MB`);
  await stage(staged, file, locate(file.path, at));
  try {
    keepPrevious(executable);
    renameSync(staged, executable);
  } catch (error) {
    rmSync(staged, { force: true });
    throw createUnwritableProblem(executable, error);
  }
  say("Replaced; waiting for the new one to answer");
  try {
    await assertHealthy(executable, version, healthMs);
  } catch (error) {
    putBack(executable);
    const why = isProblem(error) ? error.detail : messageOf(error);
    throw createProblem(
      "update_unhealthy",
      `Version ${version} did not become healthy (${why}). ${current} is back in place.`,
    );
  }
  return version;
}

/** Swaps the kept previous version with the current one. @throws Problem when no previous version is kept. */
export function rollBack(path: string): void {
  const executable = realpathSync(path);
  const previous = previousPath(executable);
  if (!existsSync(previous)) throw createProblem("no_previous", `No previous version is kept at ${previous}.`);
  const aside = `${executable}.aside`;
  try {
    cloneFile(executable, aside);
    renameSync(previous, executable);
    renameSync(aside, previous);
  } catch (error) {
    rmSync(aside, { force: true });
    throw createUnwritableProblem(executable, error);
  }
}

/** The address of the executable: beside the manifest, unless the manifest gives another. */
function locate(path: string, manifestAt: string): string {
  if (isAddress(manifestAt)) {
    const url = URL.parse(path, manifestAt);
    if (url && isAddress(url.href)) return url.href;
  } else if (isAddress(path) || /^[\w][\w.+-]*$/.test(path)) {
    return isAddress(path) ? path : join(dirname(manifestAt), path);
  }
  throw createProblem("update_untrusted", "The manifest names its executable in a way that is not understood.");
}

/** Writes the executable after checking it. If that fails, no file is left. */
async function stage(staged: string, file: UpdateFile, from: string): Promise<void> {
  let handle: FileHandle;
  try {
    handle = await open(staged, "wx", 0o755);
  } catch (error) {
    if (codeOf(error) === "EEXIST")
      throw new Problem(409, "update_running", `Another update is at work. If none is, remove ${staged}.`);
    throw createUnwritableProblem(staged, error);
  }
  try {
    const hash = createHash("sha256");
    let size = 0;
    for await (const chunk of await chunksOf(from, file.size)) {
      size += chunk.byteLength;
      hash.update(chunk);
      await handle.write(chunk);
    }
    if (size !== file.size || hash.digest("hex") !== file.sha256)
      throw createProblem("update_damaged", "The executable is not the one that was signed. Nothing was changed.");
    await handle.sync();
    await handle.close();
  } catch (error) {
    await handle.close().catch(() => {});
    rmSync(staged, { force: true });
    if (isProblem(error)) throw error;
    throw createProblem("no_update", `The executable could not be read: ${messageOf(error)}. Nothing was changed.`);
  }
}

async function chunksOf(from: string, size: number): Promise<AsyncIterable<Uint8Array>> {
  if (isAddress(from)) return boundStream(await reach(from, DOWNLOAD_MS), size);
  const found = await stat(from).catch(() => undefined);
  if (!found?.isFile()) throw createProblem("no_update", `${from} is missing; it belongs beside the manifest.`);
  return boundStream(Bun.file(from).stream(), size);
}

async function reach(url: string, timeoutMs: number): Promise<ReadableStream<Uint8Array>> {
  const answer = await fetch(url, { signal: AbortSignal.timeout(timeoutMs), headers: { "User-Agent": "skep" } }).catch(
    (error: unknown) => {
      throw createProblem("no_update", `${new URL(url).origin} does not answer: ${messageOf(error)}.`);
    },
  );
  if (!answer.ok || !answer.body) throw createProblem("no_update", `${new URL(url).origin} answered ${answer.status}.`);
  return answer.body;
}

async function* boundStream(stream: ReadableStream<Uint8Array>, limit: number): AsyncGenerator<Uint8Array> {
  let size = 0;
  for await (const chunk of stream) {
    size += chunk.byteLength;
    if (size > limit)
      throw createProblem("update_damaged", "The file is longer than what was signed. Nothing was changed.");
    yield chunk;
  }
}

function keepPrevious(executable: string): void {
  const draft = `${executable}.keep`;
  cloneFile(executable, draft);
  renameSync(draft, previousPath(executable));
}

function putBack(executable: string): void {
  const draft = `${executable}.keep`;
  cloneFile(previousPath(executable), draft);
  renameSync(draft, executable);
}

/** Makes a hard link to the file, or a copy where the file system has no hard links. */
function cloneFile(from: string, to: string): void {
  rmSync(to, { force: true });
  try {
    linkSync(from, to);
  } catch {
    copyFileSync(from, to);
  }
}

const createUnwritableProblem = (path: string, error: unknown) =>
  createProblem(
    "update_unwritable",
    `${path} cannot be replaced (${messageOf(error)}). Run this as the owner of the file.`,
  );
