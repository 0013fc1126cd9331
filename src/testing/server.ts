/**
 * A server of its own for a test: the executable named by SKEP_BINARY (scripts/test sets it), else the sources under
 * bun, on a free port over a temporary folder. Driven from outside, as a user would.
 */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { type Client, createClient } from "../cli/server/client.ts";

export interface Answered<T = unknown> {
  status: number;
  headers: Headers;
  /** The parsed JSON body, or the text when it is not one. */
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
  /** The data folder. */
  data: string;
  pid: number;
  /** Everything it wrote to standard output and error so far. */
  output(): string;
  request<T = Record<string, unknown>>(method: string, path: string, options?: RequestOptions): Promise<Answered<T>>;
  /** The API by its own types: a field that it does not have does not compile. @throws Problem where the API answers one. */
  client(token?: string): Client;
  /** Ends the process (SIGTERM by default) and waits for it. @returns exit code. */
  stop(signal?: NodeJS.Signals): Promise<number>;
  /** Stops it if it runs and removes the folder. */
  remove(): Promise<void>;
}

interface ServerOptions {
  env?: Record<string, string>;
  /** A folder to start over; else a new one is made. */
  data?: string;
  /** Another program than the one that is tested. */
  command?: string[];
}

const ROOT = resolve(import.meta.dir, "../..");

/** Command that runs skep: the compiled executable, or the sources. */
export function skepCommand(...args: string[]): string[] {
  const binary = process.env["SKEP_BINARY"];
  return binary ? [resolve(ROOT, binary), ...args] : [process.execPath, join(ROOT, "src/main.ts"), ...args];
}

/** Nothing of the test run's own environment reaches the server but the path. */
const bareEnv = () => ({
  PATH: process.env["PATH"] ?? "",
  HOME: process.env["HOME"] ?? "/tmp",
  LOG_LEVEL: "warn",
  CHECK_ANSWERS: process.env["CHECK_ANSWERS"] ?? "true",
  // No list of servers of the user who runs the tests.
  XDG_STATE_HOME: "/dev/null",
});

/** A server that has not stopped by then is killed. */
const STOP_MS = 60_000;

/** Starts a server and waits until it answers. @throws Error with its output when it does not come up. */
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
      arrived();
    }
    arrived();
  };
  let arrived = () => {};
  const url = await new Promise<string>((done, fail) => {
    arrived = () => {
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
      // In order first: a server that is killed leaves the commands of its agents behind.
      const patience = setTimeout(() => child.kill("SIGKILL"), STOP_MS);
      await stop();
      clearTimeout(patience);
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
