/** Everything that changes something over the API can also be done on a page of the dashboard. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { Glob } from "bun";
import { createProgram } from "../../cli/commands.ts";
import { startServer, type TestServer } from "../server.ts";

const WEB = resolve(import.meta.dir, "../../web");

/** Operations for which no page has a control, and why. */
const WITHOUT: Record<string, string> = {
  "POST /v1/phone-answers": "a button of an ntfy message calls it",
  "POST /v1/auth/refresh": "for programs with tokens; pages have a cookie",
  "POST /v1/auth/oidc/{slug}/callback": "browsers come back by GET",
  "POST /v1/internal/tts/synthesize": "called by a plain request, since it answers sound",
  "POST /v1/codehost/webhooks": "the code host calls it",
  "POST /v1/events/ticket": "for readers of the stream without a cookie",
  "PATCH /v1/mcp/{id}/status": "an engine elsewhere says it; pages switch a server on and off",
  "POST /v1/waitlist": "for a page of the operator's own; a log-in page that anybody fills would be a mailbox",
  "POST /v1/projects/{id}/knowledge-graph/ask": "it changes nothing; for agents, editors and the command line",
  "POST /v1/projects/{id}/knowledge-graph/scip": "a file that a build makes where it runs: skep graph import-scip",
  "DELETE /v1/projects/{id}/knowledge-graph/scip": "as above",
  "DELETE /v1/projects/{id}/setup": "for disks that are full; images go by themselves: skep projects setup --clear",
  "POST /v1/projects/{id}/export": "called by a plain request, since it answers a file",
  "POST /v1/evals": "tasks are folders: skep eval",
  "POST /v1/projects/{id}/tool-servers": "what a repository proposes: skep mcp proposed",
  "POST /v1/runs/{id}/comments": "pages use /v1/changes, for runs as for all work on branches",
  "DELETE /v1/runs/{id}/comments/{comment_id}": "as above",
  "POST /v1/runs/{id}/merge": "as above",
  "POST /mcp": "for MCP clients",
  "DELETE /mcp": "for MCP clients",
};

const escapePattern = (text: string): string => text.replace(/[{}./]/g, "\\$&");

let server: TestServer;
beforeAll(async () => {
  server = await startServer();
});
afterAll(() => server.remove());

test("every operation that changes something is called by a page, or is listed here with the reason why not", async () => {
  const { body } = await server.request<{ paths: Record<string, Record<string, unknown>> }>("GET", "/openapi.json");
  const files = [...new Glob("**/*.{ts,tsx}").scanSync(WEB)].filter((file) => !/\.(gen|test)\./.test(file));
  const sources = files.map((file) => readFileSync(join(WEB, file), "utf8"));
  /** Paths with one variable part: `client.DELETE(`/v1/history/${kind}/{id}``. */
  const patterns = sources.flatMap((text) =>
    [...text.matchAll(/client\s*\.([A-Z]+)\(\s*`([^`]+)`/g)].map(
      ([, method, path]) =>
        `${method} ${path!
          .split(/\$\{\w+\}/)
          .map(escapePattern)
          .join("[a-z-]+")}`,
    ),
  );
  /** `client.POST("/v1/…"`, or with a constant for the path. */
  const isCalled = (method: string, path: string) =>
    patterns.some((pattern) => new RegExp(`^${pattern}$`).test(`${method} ${path}`)) ||
    sources.some((text) => {
      const names = [...text.matchAll(/const (\w+) = ("[^"]+")/g)].filter(([, , value]) => value === `"${path}"`);
      return [`"${path}"`, ...names.map(([, name]) => name!)].some((argument) =>
        new RegExp(`(client\\s*\\.${method}\\(|"${method.toLowerCase()}",)\\s*${escapePattern(argument)}(?!\\w)`).test(
          text,
        ),
      );
    });
  const missing = Object.entries(body.paths).flatMap(([path, operations]) =>
    Object.keys(operations)
      .map((name) => name.toUpperCase())
      .filter((method) => ["POST", "PUT", "PATCH", "DELETE"].includes(method) && !isCalled(method, path))
      .map((method) => `${method} ${path}`),
  );
  expect(missing.sort()).toEqual(Object.keys(WITHOUT).sort());
});

test("the command line that a page names is one of skep's", async () => {
  const program = createProgram(() => {});
  const files = [...new Glob("**/*.tsx").scanSync(WEB)];
  const lines = files.flatMap((file) => {
    const text = readFileSync(join(WEB, file), "utf8");
    // As a whole attribute or as a branch of one; variable parts count as a word.
    return [...text.matchAll(/(?:cli|line)=[^>]*?["'`](skep[^"'`\n$]*)/g)].map(([, line]) => ({ file, line: line! }));
  });
  expect(lines.length).toBeGreaterThan(40);
  const unknown = lines.filter(({ line }) => {
    let command: typeof program | undefined = program;
    for (const word of line.trim().split(/\s+/).slice(1)) {
      const next: typeof program | undefined = command?.commands.find((one) => one.name() === word);
      if (next) command = next;
      // The word is an option, or an argument of the command.
      else if (word.startsWith("--")) {
        if (!command?.options.some(({ long }) => long === word.split("=")[0])) return true;
      } else if (command === program) return true;
    }
    return false;
  });
  expect(unknown).toEqual([]);
});
