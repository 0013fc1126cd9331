/**
 * A server for a test, on a free port with a temporary folder, used from outside as a user would. It runs the
 * executable in SKEP_BINARY (scripts/test sets it), else the sources with bun.
 */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { type Client, createClient } from "../cli/server/client.ts";

export interface Answered<T = unknown> {
  status: number;
  headers: Headers;
  /** The parsed JSON body, or the text if it is no JSON. */
  body: T;
}

export interface RequestOptions {
  body?: unknown;
  /** Bearer token. */
  token?: string;
  headers?: Record<string, string>;
}

export interface TestServer {
  url: string;
  /** Path of the data folder. */
  data: string;
  pid: number;
  /** Everything that it wrote to standard output and error so far. */
  output(): string;
  request<T = Record<string, unknown>>(method: string, path: string, options?: RequestOptions): Promise<Answered<T>>;
  /**
   * A client with the API's own types, so that unknown fields do not compile. @throws Problem when the API answers with
   * one.
   */
  client(token?: string): Client;
  /** Stops the process (with SIGTERM by default) and waits for its end. @returns its exit code. */
  stop(signal?: NodeJS.Signals): Promise<number>;
  /** Stops the server if it runs, and removes the folder. */
  remove(): Promise<void>;
}

interface ServerOptions {
  env?: Record<string, string>;
  /** Data folder to start on; by default a new one. */
  data?: string;
  /** A command to use instead of the tested program. */
  command?: string[];
}

const ROOT = resolve(import.meta.dir, "../..");

/** The command that runs skep: the compiled executable, or the sources. */
export function skepCommand(...args: string[]): string[] {
  const binary = process.env["SKEP_BINARY"];
  return binary ? [resolve(ROOT, binary), ...args] : [process.execPath, join(ROOT, "src/main.ts"), ...args];
}

/** The environment of the server: it contains only PATH of the test run's own environment. */
const bareEnv = () => ({
  PATH: process.env["PATH"] ?? "",
  HOME: process.env["HOME"] ?? "/tmp",
  LOG_LEVEL: "warn",
  CHECK_ANSWERS: process.env["CHECK_ANSWERS"] ?? "true",
  // Keep the server out of the user's list of servers.
  XDG_STATE_HOME: "/dev/null",
});

/** A server that has not stopped after this time, in ms, is killed. */
const STOP_MS = 60_000;

/** Starts a server and waits until it answers. @throws Error with its output if it does not start. */
export async function startServer({
  env = {},
  data,
  command = skepCommand(),
}: ServerOptions = {}): Promise<TestServer> {
  const folder = data ?? mkdtempSync(join(tmpdir(), "skep-test-"));
  const child = Bun.spawn([...command, "serve"], {
    env: { ...bareEnv(), DATA: folder, PORT: "0", SANDBOX: "process", ...env },
    stdout: "pipe",
    stderr: "pipe",
    stdin: "ignore",
  });
  let text = "";
  const follow = async (stream: ReadableStream<Uint8Array>) => {
    const decoder = new TextDecoder();
    for await (const chunk of stream) {
      text += decoder.decode(chunk, { stream: true });
      onOutput();
    }
    onOutput();
  };
  let onOutput = () => {};
  const url = await new Promise<string>((done, fail) => {
    onOutput = () => {
      const [, found] = /Listening on (http:\/\/\S+)/.exec(text) ?? [];
      if (found) done(found.replace("localhost", "127.0.0.1"));
    };
    void follow(child.stdout);
    void follow(child.stderr);
    void child.exited.then((code) => setTimeout(() => fail(new Error(`skep serve ended with ${code}:\n${text}`)), 20));
  });
  const stop = async (signal: NodeJS.Signals = "SIGTERM") => {
    if (child.exitCode === null && child.signalCode === null) child.kill(signal);
    return child.exited;
  };
  return {
    url,
    data: folder,
    pid: child.pid,
    client: (token) => createClient(url, token),
    output: () => text,
    async request<T>(method: string, path: string, { body, token, headers = {} }: RequestOptions = {}) {
      const isForm = body instanceof FormData || typeof body === "string" || body instanceof Uint8Array;
      const answer = await fetch(new URL(path, url), {
        method,
        redirect: "manual",
        headers: {
          ...(body !== undefined && !isForm ? { "Content-Type": "application/json" } : {}),
          ...(token ? { Authorization: `Bearer ${token}` } : {}),
          ...headers,
        },
        ...(body === undefined ? {} : { body: isForm ? (body as FormData | string) : JSON.stringify(body) }),
      });
      const raw = await answer.text();
      const json = answer.headers.get("content-type")?.includes("json");
      return { status: answer.status, headers: answer.headers, body: (json && raw ? JSON.parse(raw) : raw) as T };
    },
    stop,
    async remove() {
      // Stop it in order first: a killed server leaves its agents' commands running.
      const patience = setTimeout(() => child.kill("SIGKILL"), STOP_MS);
      await stop();
      clearTimeout(patience);
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
