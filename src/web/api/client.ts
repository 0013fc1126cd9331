/** The pages' API client. It uses the same origin, the session cookie, and types from the server's OpenAPI document. */
import createClient from "openapi-fetch";
import createHooks from "openapi-react-query";
import type { components, paths } from "../../api/schema.gen.ts";
import { retryRead } from "./again.ts";
import { takeFirst } from "./first-answers.ts";

export type Schemas = components["schemas"];
export type Problem = Schemas["Problem"];

/** Base path of this site: "/" or "/skep/". */
export const BASE = document.documentElement.dataset["base"] ?? "/";

/** Turns a path into an address of this site: `/v1/runs` below the site's own prefix. */
export const siteUrl = (path: string): string => BASE + path.replace(/^\//, "");

/** Whether the page was loaded from the loopback address, which is reachable only on the server's own machine. */
export const onItsMachine = (): boolean => ["localhost", "127.0.0.1", "[::1]"].includes(location.hostname);

/** The problem that is shown when the server does not answer at all. */
export const createUnreachableProblem = (): Problem => ({
  type: "about:blank",
  title: "No answer",
  status: 0,
  instance: "",
  request_id: "",
  detail: "The server does not answer. It may be restarting, or the connection is gone.",
  code: "unreachable",
});

const SESSION_ENDED = "skep-session-ended";
export const onSessionEnd = (act: () => void): (() => void) => {
  addEventListener(SESSION_ENDED, act);
  return () => removeEventListener(SESSION_ENDED, act);
};

async function read(request: Request): Promise<Response> {
  const first = await takeFirst(request.url)?.catch(() => undefined);
  return first ?? retryRead(() => fetch(request), request.signal);
}

export const client = createClient<paths>({
  baseUrl: BASE.replace(/\/$/, ""),
  credentials: "same-origin",
  async fetch(request: Request) {
    try {
      // A request that changes something is sent only once: after a failure, nobody knows whether it arrived.
      const answer = await (request.method === "GET" ? read(request) : fetch(request));
      if (answer.status === 401 && !request.url.includes("/v1/auth/login")) dispatchEvent(new Event(SESSION_ENDED));
      return answer;
    } catch (error) {
      if (request.signal.aborted) throw error;
      throw createUnreachableProblem();
    }
  },
});

/** Hooks over the client: `api.useQuery("get", "/v1/runs/{id}", { params: { path: { id } } })`. */
export const api = createHooks(client);

/**
 * Request options for a form with files. The cast is needed because the OpenAPI document types the body as an object.
 */
export const toMultipart = (form: FormData) => ({ body: form as never, bodySerializer: () => form });

/** Waits for a call of `client` and returns its data. @throws the problem in the answer. */
export async function must<T>(call: Promise<{ data?: T; error?: unknown }>): Promise<T> {
  const { data, error } = await call;
  if (error) throw error;
  return data as T;
}

/** Turns any thrown value into a problem that can be shown. */
export function problemOf(error: unknown): Problem {
  if (typeof error === "object" && error !== null && "detail" in error && "code" in error) return error as Problem;
  return {
    ...createUnreachableProblem(),
    code: "unexpected",
    title: "Unexpected",
    detail: error instanceof Error ? error.message : String(error),
  };
}

/** The problem's message about one field of the request body. */
export function fieldError(error: unknown, name: string): string | undefined {
  if (!error) return undefined;
  return problemOf(error).errors?.find(({ pointer }) => pointer.replace(/^\//, "") === name)?.message;
}
