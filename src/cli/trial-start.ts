/**
 * Tests whether an executable works on this machine: it prints its version, and its server answers on an empty data
 * folder.
 */

import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Problem } from "../core/errors.ts";
import { membersOf } from "../core/is-object.ts";
import { readJson } from "../core/json-reader.ts";

const createProblem = (why: string) => new Problem(422, "update_unhealthy", why);
/** How many characters of its output are kept for the error. */
const TAIL_CHARACTERS = 400;
const STOP_MS = 10_000;

/** @param timeoutMs limit for the whole test. @throws Problem that says which part failed. */
export async function assertHealthy(executable: string, version: string, timeoutMs: number): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), "skep-trial-"));
  const deadline = AbortSignal.timeout(timeoutMs);
  try {
    await assertVersion(executable, version, folder, deadline);
    await assertServes(executable, version, folder, deadline);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/**
 * Contains none of the operator's configuration, so that the test touches neither the data nor the port of the real
 * server.
 */
const trialEnv = (folder: string): Record<string, string> => ({
  PATH: process.env["PATH"] ?? "",
  HOME: folder,
  TMPDIR: tmpdir(),
  DATA: join(folder, "data"),
  HOST: "127.0.0.1",
  PORT: "0",
  SANDBOX: "process",
  LOG_LEVEL: "warn",
});

function spawn(executable: string, args: string[], folder: string) {
  try {
    return Bun.spawn([executable, ...args], {
      env: trialEnv(folder),
      cwd: folder,
      stdin: "ignore",
      stdout: "pipe",
      stderr: "pipe",
    });
  } catch {
    throw createProblem("it cannot be run on this machine");
  }
}

async function assertVersion(executable: string, version: string, folder: string, deadline: AbortSignal) {
  const child = spawn(executable, ["--version"], folder);
  const kill = () => child.kill("SIGKILL");
  deadline.addEventListener("abort", kill, { once: true });
  const [said, code] = await Promise.all([new Response(child.stdout).text(), child.exited]);
  deadline.removeEventListener("abort", kill);
  if (code !== 0) throw createProblem(`--version ended with ${code ?? "a signal"}`);
  if (said.trim() !== version) throw createProblem(`it says it is another version than ${version}`);
}

async function assertServes(executable: string, version: string, folder: string, deadline: AbortSignal) {
  const child = spawn(executable, ["serve"], folder);
  let text = "";
  const address = Promise.withResolvers<string>();
  const follow = async (stream: ReadableStream<Uint8Array>) => {
    const decoder = new TextDecoder();
    for await (const chunk of stream) {
      text += decoder.decode(chunk, { stream: true });
      const [, url] = /Listening on (http:\/\/\S+)/.exec(text) ?? [];
      if (url) address.resolve(url);
    }
  };
  const reading = Promise.all([follow(child.stdout), follow(child.stderr)]);
  const readTail = () => text.trim().slice(-TAIL_CHARACTERS);
  void child.exited.then(() => reading).then(() => address.reject(createProblem(`it ended at once: ${readTail()}`)));
  const late = Promise.withResolvers<never>();
  const onLate = () => late.reject(createProblem(`it did not answer in time: ${readTail()}`));
  deadline.addEventListener("abort", onLate, { once: true });
  if (deadline.aborted) onLate();
  address.promise.catch(() => {});
  late.promise.catch(() => {});
  try {
    const url = await Promise.race([address.promise, late.promise]);
    await Promise.race([assertAnswers(url, version, deadline), late.promise]);
  } finally {
    deadline.removeEventListener("abort", onLate);
    child.kill("SIGTERM");
    const kill = setTimeout(() => child.kill("SIGKILL"), STOP_MS);
    await child.exited;
    clearTimeout(kill);
  }
}

async function assertAnswers(url: string, version: string, signal: AbortSignal): Promise<void> {
  const ask = async (path: string): Promise<Record<string, unknown>> => {
    const answer = await fetch(`${url}${path}`, { signal });
    if (!answer.ok) throw createProblem(`${path} answered ${answer.status}`);
    return membersOf(readJson(await answer.text()));
  };
  await ask("/readyz");
  const status = await ask("/v1/status");
  if (status["version"] !== version) throw createProblem("its server says it is another version");
}
