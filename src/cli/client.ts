/** Talking to a server, local or remote: JSON calls, and the event stream that goes on where it broke off. */
import { readFileSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";
import { Problem } from "../core/errors.ts";
import type { SkepEvent } from "../core/events.ts";
import { runningServer } from "./start.ts";

export interface Client {
  readonly url: string;
  call<T = Record<string, unknown>>(method: string, path: string, body?: unknown): Promise<T>;
  /** Events of a stream path, over breaks of the connection, until the server ends it for good or `signal` aborts. */
  events(path: string, signal: AbortSignal): AsyncGenerator<SkepEvent>;
}

/** Tokens that `skep login` keeps, by server address; 0600. */
export const credentialsPath = (): string =>
  join(process.env["XDG_CONFIG_HOME"] ?? join(homedir(), ".config"), "skep", "credentials.json");

/** SKEP_TOKEN, else what `skep login` kept for this server. */
export function tokenFor(url: string): string | undefined {
  if (process.env["SKEP_TOKEN"]) return process.env["SKEP_TOKEN"];
  try {
    const kept = JSON.parse(readFileSync(credentialsPath(), "utf8")) as Record<string, { access_token?: string }>;
    return kept[url]?.access_token;
  } catch {
    return undefined;
  }
}

/**
 * The server that the user means: --url or SKEP_URL, else the one on the data folder.
 * @throws Problem 503 `no_server` with what to do.
 */
export async function findServer({ url, data }: { url?: string | undefined; data: string }): Promise<Client> {
  const named = url ?? process.env["SKEP_URL"];
  const found = named ? named.replace(/\/+$/, "") : (await runningServer(data))?.url;
  if (!found)
    throw new Problem(
      503,
      "no_server",
      "No server is running here. Start one with: skep serve, or name one with --url.",
    );
  return createClient(found, tokenFor(found));
}

export function createClient(url: string, token?: string): Client {
  const headers = (): Record<string, string> => (token ? { Authorization: `Bearer ${token}` } : {});
  const reach = async (path: string, init: RequestInit): Promise<Response> => {
    let answer: Response;
    try {
      answer = await fetch(`${url}${path}`, init);
    } catch (error) {
      if (init.signal?.aborted) throw error;
      throw new Problem(503, "no_server", `${url} does not answer. Is the server running?`);
    }
    if (!answer.ok) throw await problemOf(answer);
    return answer;
  };
  return {
    url,
    async call<T>(method: string, path: string, body?: unknown) {
      const json = body === undefined ? {} : { body: JSON.stringify(body) };
      const answer = await reach(path, {
        method,
        headers: { ...headers(), "Content-Type": "application/json" },
        ...json,
      });
      const text = await answer.text();
      return (text ? JSON.parse(text) : {}) as T;
    },
    async *events(path, signal) {
      let last = 0;
      let fails = 0;
      while (!signal.aborted) {
        try {
          const at: Record<string, string> = last > 0 ? { "Last-Event-ID": String(last) } : {};
          const answer = await reach(path, { headers: { ...headers(), ...at, Accept: "text/event-stream" }, signal });
          fails = 0;
          for await (const event of parseEvents(answer.body!)) {
            last = event.id ?? last;
            yield event;
          }
          return;
        } catch (error) {
          if (signal.aborted) return;
          const refused = error instanceof Problem && error.status < 500;
          if (refused || ++fails > 10) throw error;
          await Bun.sleep(Math.min(200 * 2 ** fails, 5_000));
        }
      }
    },
  };
}

async function problemOf(answer: Response): Promise<Problem> {
  const body = (await answer.json().catch(() => ({}))) as { code?: string; detail?: string };
  const hint = answer.status === 401 ? " Log in with: skep login, or set SKEP_TOKEN to a key of this server." : "";
  return new Problem(
    answer.status,
    body.code ?? "error",
    `${body.detail ?? `The server answered ${answer.status}.`}${hint}`,
  );
}

/** Events of a stream of our own frames; `gap` frames come with id undefined. */
async function* parseEvents(body: ReadableStream<Uint8Array>): AsyncGenerator<SkepEvent> {
  const decoder = new TextDecoder();
  let held = "";
  for await (const chunk of body) {
    held += decoder.decode(chunk, { stream: true });
    for (let end = held.indexOf("\n\n"); end >= 0; end = held.indexOf("\n\n")) {
      const data = held
        .slice(0, end)
        .split("\n")
        .find((line) => line.startsWith("data: "));
      held = held.slice(end + 2);
      if (data) yield JSON.parse(data.slice(6)) as SkepEvent;
    }
  }
}
