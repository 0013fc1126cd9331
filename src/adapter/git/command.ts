/**
 * Runs git with an argument vector and an environment of its own, never through a shell. No setting of the machine or
 * of a repository can make git start another program: hooks, file-system monitors, filters, pagers, editors, credential
 * helpers, system and user configuration are off.
 * On time-out and abort, git's whole process group gets SIGTERM, which lets git remove its locks, and soon after
 * SIGKILL.
 */
import { existsSync } from "node:fs";
import type { Writable } from "node:stream";
import { notFound, Problem, unavailable } from "../../core/errors.ts";
import { createLineSplitter } from "../../core/line-splitter.ts";

export interface GitCommandOptions {
  /** Working directory; only matters for relative paths. */
  cwd: string;
  /** The repository. Git does not search for one. */
  gitDir?: string;
  workTree?: string;
  env?: Readonly<Record<string, string>>;
  /** Input, read as fast as git takes it. If the iteration fails, git is killed and the call fails with that error. */
  stdin?: string | AsyncIterable<Uint8Array>;
  signal?: AbortSignal | undefined;
  timeoutMs?: number;
  /**
   * After this many bytes of output, git is stopped and the output so far is the answer. Without `cutAt`, output that
   * is too long is a failure.
   */
  cutAt?: number;
  /** Exit codes other than 0 that are not a failure. */
  accept?: readonly number[];
  /** Receives the output as it arrives, without a bound; the result then has no output. */
  onOutput?(chunk: Uint8Array): void;
  /** Receives each line of standard error. A carriage return, as in progress, also ends a line. */
  onLine?(line: string): void;
}

interface GitResult {
  code: number;
  stdout: string;
  /** Whether the output was cut at `cutAt`. */
  cut: boolean;
}

export type GitCommand = (args: readonly string[], options: GitCommandOptions) => Promise<GitResult>;

const MAX_OUTPUT_BYTES = 64 * 1024 * 1024;
const DEFAULT_TIMEOUT_MS = 120_000;
/** Time between SIGTERM and SIGKILL, in which git can remove its locks. */
const END_MS = 2_000;

/**
 * Settings that take precedence over every configuration file. They are passed in the environment, so that git's child
 * processes get them, too.
 */
const SETTINGS: readonly (readonly [string, string])[] = [
  ["core.hooksPath", "/dev/null"],
  ["core.fsmonitor", "false"],
  ["core.untrackedCache", "false"],
  ["core.pager", "cat"],
  ["core.editor", "false"],
  ["core.askPass", ""],
  ["core.attributesFile", "/dev/null"],
  ["core.excludesFile", "/dev/null"],
  ["core.quotePath", "false"],
  ["core.protectNTFS", "true"],
  ["core.protectHFS", "true"],
  ["credential.helper", ""],
  ["submodule.recurse", "false"],
  ["fetch.recurseSubmodules", "false"],
  ["diff.ignoreSubmodules", "all"],
  ["diff.external", ""],
  ["http.followRedirects", "false"],
  ["index.version", "2"],
  ["core.splitIndex", "false"],
  ["index.sparse", "false"],
  ["fastimport.unpackLimit", "100"],
  // A command may wait for another command that writes at the same time (projects/turns.ts).
  ["core.filesRefLockTimeout", "10000"],
  ["core.packedRefsTimeout", "10000"],
  // Automatic maintenance never removes objects, because other commands may name or read them at the same time.
  ["gc.auto", "0"],
  ["maintenance.auto", "false"],
  ["commit.gpgSign", "false"],
  ["log.showSignature", "false"],
  ["advice.detachedHead", "false"],
  ["init.defaultBranch", "main"],
  ["safe.directory", "*"],
];

export interface GitRunner {
  program: string;
  /** PATH, HOME and the variables that ssh needs; git gets no other variable of the server's environment. */
  env: Readonly<Record<string, string>>;
}

/**
 * Makes the function that runs git.
 * @throws Problem 503 `git_missing`, 504 `git_timeout`, 507 `disk_full`, 502 `git_failed`, 404 when its folder is
 * missing.
 */
export function createGitCommand({ program, env }: GitRunner): GitCommand {
  return async (args, options) => {
    const { spawn } = await import("node:child_process");
    return new Promise<GitResult>((done, fail) => {
      const { cwd, stdin, signal, timeoutMs = DEFAULT_TIMEOUT_MS, accept = [], onLine, onOutput, cutAt } = options;
      if (signal?.aborted) return fail(signal.reason);
      const child = spawn(program, [...args], {
        cwd,
        env: buildEnvironment(env, options),
        stdio: [stdin === undefined ? "ignore" : "pipe", "pipe", "pipe"],
        detached: true,
      });
      const out = createCollector(cutAt ?? MAX_OUTPUT_BYTES);
      const lines = lineReader(onLine);
      let timedOut = false;
      const group = endingGroup(child);
      const timer = setTimeout(() => {
        timedOut = true;
        group.end();
      }, timeoutMs);
      signal?.addEventListener("abort", group.end, { once: true });
      const settle = (then: () => void) => {
        clearTimeout(timer);
        signal?.removeEventListener("abort", group.end);
        group.killRest();
        then();
      };
      child.stdout!.on("data", (chunk: Buffer) => {
        if (onOutput) onOutput(chunk);
        else if (!out.add(chunk)) group.end();
      });
      child.stderr!.on("data", (chunk: Buffer) => lines.add(chunk));
      child.stdin?.on("error", () => {});
      let unfed: { error: unknown } | undefined;
      if (typeof stdin === "string") child.stdin?.end(stdin);
      else if (stdin)
        void feed(child.stdin!, stdin).catch((error: unknown) => {
          unfed = { error };
          group.end();
        });
      child.on("error", (error: NodeJS.ErrnoException) =>
        settle(() => fail(error.code === "ENOENT" ? createMissingProblem(cwd) : error)),
      );
      child.on("close", (code) =>
        settle(() => {
          lines.end();
          if (signal?.aborted) return fail(signal.reason);
          if (unfed) return fail(unfed.error);
          if (timedOut) return fail(new Problem(504, "git_timeout", `git took longer than ${timeoutMs / 1_000} s.`));
          if (out.full() && cutAt !== undefined) return done({ code: 0, stdout: out.text(), cut: true });
          if (out.full()) return fail(new Problem(502, "git_failed", "git answered more than can be taken."));
          if (code !== 0 && !accept.includes(code ?? -1)) return fail(toProblem(args, lines.last()));
          done({ code: code ?? -1, stdout: out.text(), cut: false });
        }),
      );
    });
  };
}

/**
 * The process group of a command. `end` sends SIGTERM, and SIGKILL after a while. Once git itself has ended, `killRest`
 * kills the rest of the group at once.
 */
function endingGroup({ pid }: { readonly pid?: number | undefined }) {
  let late: ReturnType<typeof setTimeout> | undefined;
  const send = (signal: NodeJS.Signals) => {
    try {
      if (pid !== undefined) process.kill(-pid, signal);
    } catch {
      // The processes have ended by themselves.
    }
  };
  return {
    end() {
      late ??= setTimeout(send, END_MS, "SIGKILL");
      send("SIGTERM");
    },
    killRest() {
      if (!late) return;
      clearTimeout(late);
      send("SIGKILL");
    },
  };
}

/**
 * Writes chunks to git's input. When git closes its input, this stops without an error, since git reports the cause
 * itself.
 */
async function feed(input: Writable, chunks: AsyncIterable<Uint8Array>): Promise<void> {
  for await (const chunk of chunks) {
    if (input.destroyed) return;
    await new Promise((go) => input.write(chunk, go));
  }
  input.end();
}

/** Tells why a program could not be started: it is not installed, or the folder to start in is missing. */
const createMissingProblem = (cwd: string) =>
  existsSync(cwd)
    ? unavailable("git_missing", "git is not installed on this machine; projects need it.")
    : notFound("repository");

function buildEnvironment(
  inherited: GitRunner["env"],
  { gitDir, workTree, env }: GitCommandOptions,
): Record<string, string> {
  const settings = SETTINGS.flatMap(([key, value], at) => [
    [`GIT_CONFIG_KEY_${at}`, key],
    [`GIT_CONFIG_VALUE_${at}`, value],
  ]);
  const extra = Object.entries(env ?? {});
  return {
    ...inherited,
    LC_ALL: "C",
    GIT_CONFIG_NOSYSTEM: "1",
    GIT_CONFIG_GLOBAL: "/dev/null",
    GIT_ATTR_NOSYSTEM: "1",
    GIT_TERMINAL_PROMPT: "0",
    GIT_ASKPASS: "",
    GIT_EDITOR: "false",
    GIT_OPTIONAL_LOCKS: "0",
    GIT_NO_REPLACE_OBJECTS: "1",
    GIT_ALLOW_PROTOCOL: "none",
    GIT_CONFIG_COUNT: String(SETTINGS.length),
    ...Object.fromEntries(settings),
    ...(gitDir === undefined ? {} : { GIT_DIR: gitDir }),
    ...(workTree === undefined ? {} : { GIT_WORK_TREE: workTree }),
    ...Object.fromEntries(extra),
  };
}

/**
 * Settings for a single command. They go into the environment, because other users can see the arguments of processes.
 */
export function withSettings(settings: readonly (readonly [string, string])[]): Record<string, string> {
  const pairs = settings.flatMap(([key, value], at) => [
    [`GIT_CONFIG_KEY_${SETTINGS.length + at}`, key],
    [`GIT_CONFIG_VALUE_${SETTINGS.length + at}`, value],
  ]);
  return { ...Object.fromEntries(pairs), GIT_CONFIG_COUNT: String(SETTINGS.length + settings.length) };
}

/** Git's lines about a failed write on this machine. Messages about the other side's disk begin with `remote:`. */
const FULL_DISK = /^(fatal|error): .*: (No space left on device|Disk quota exceeded)\.?$/;

/**
 * Whether programs of the other side write to the same standard error without a prefix. They do over ssh and from a
 * path, not over HTTP.
 */
const mixesOtherSide = ([name = "", ...args]: readonly string[]): boolean =>
  ["clone", "fetch", "push"].includes(name) && !args.some((arg) => /^https?:/i.test(arg));

/** Git's error message, without credentials in addresses and without this machine's paths. */
function toProblem(args: readonly string[], lines: readonly string[]): Problem {
  // The line about the full disk is often not the last one.
  const full = lines.find((line) => FULL_DISK.test(line));
  if (full !== undefined && !mixesOtherSide(args))
    return new Problem(507, "disk_full", "The disk of the data folder is full.");
  const telling = full ?? lines.filter((line) => /^(fatal|error|remote|ERROR):|denied|not found/i.test(line)).at(-1);
  const said = (telling ?? lines.at(-1) ?? "no reason given")
    .replace(/\/\/[^@/\s]+@/g, "//")
    .replace(/(^|[\s'"(=])\/[^\s'":)]+/g, "$1(path)")
    .slice(0, 300);
  return new Problem(502, "git_failed", `git ${args[0]} failed: ${said}`);
}

function createCollector(maxBytes: number) {
  const chunks: Buffer[] = [];
  let size = 0;
  return {
    add(chunk: Buffer): boolean {
      if (size < maxBytes) chunks.push(chunk.subarray(0, maxBytes - size));
      size += chunk.byteLength;
      return size <= maxBytes;
    },
    full: () => size > maxBytes,
    text: () => Buffer.concat(chunks).toString("utf8"),
  };
}

/** Runs a command with a short answer. @returns the trimmed output. */
export const lineOf = async (git: GitCommand, at: GitCommandOptions, args: readonly string[]): Promise<string> =>
  (await git(args, at)).stdout.trim();

/** Longest field, such as a file name, that is passed on whole. */
const FIELD_BYTES = 64 * 1024;

/** Passes on the fields of a `-z` answer one by one, without a bound on their number. */
export async function eachField(
  git: GitCommand,
  args: readonly string[],
  options: GitCommandOptions,
  take: (text: string) => void,
): Promise<void> {
  const fields = createLineSplitter({ maxBytes: FIELD_BYTES, end: 0, onLine: ({ text }) => take(text) });
  await git(args, { ...options, onOutput: fields.add });
}

const LINE_BYTES = 10_000;

/** Splits standard error into lines and keeps the last 20. */
function lineReader(onLine: ((line: string) => void) | undefined) {
  const kept: string[] = [];
  const { add, end } = createLineSplitter({
    maxBytes: LINE_BYTES,
    atReturns: true,
    onLine({ text }) {
      const plain = text.trim();
      if (plain === "") return;
      kept.push(plain);
      if (kept.length > 20) kept.shift();
      onLine?.(plain);
    },
  });
  return { add, end, last: () => kept };
}
