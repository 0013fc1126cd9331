/**
 * JSON from outside has only one reader, which limits its size. Other places that parse JSON are listed here with the
 * reason.
 */
import { expect, test } from "bun:test";
import { filesOf, textOf } from "./source-files.ts";

const OTHERS: Readonly<Record<string, string>> = {
  "core/json-reader.ts": "the reader",
  "core/own-json.ts": "what this program wrote",
  "feature/dashboard/installed.ts": "the browser's worker, of what this server pushed",
};

/** The dashboard is left out: browsers read only what this server answers. */
const product = filesOf("**/*.{ts,tsx}").filter((file) => !/^(testing|web)\//.test(file) && !file.endsWith(".d.ts"));
const code = (file: string) => textOf(file).replace(/\/\*[\s\S]*?\*\/|^\s*\/\/.*$/gm, "");

test("no file parses JSON of others by itself", () => {
  const reading = product.filter((file) => /\bJSON\.parse\b|\.json\(\)/.test(code(file)));
  expect(reading.sort()).toEqual(Object.keys(OTHERS).sort());
});

test("every answer of a server outside passes through what bounds it", () => {
  /**
   * These may fetch: the server's own health, the local engine, downloads to disk, and those that limit the answer
   * themselves.
   */
  const asking = filesOf("adapter/**/*.ts").filter((file) => /\bawait fetch\(/.test(code(file)));
  expect(asking.sort()).toEqual([
    "adapter/codehost/host-fetch.ts",
    "adapter/docker.ts",
    "adapter/kubernetes/client.ts",
    "adapter/mcp/oauth.ts",
    "adapter/model/endpoint.ts",
    "adapter/model/ollama.ts",
    "adapter/oidc/bounded-fetch.ts",
    "adapter/oidc/probe.ts",
    "adapter/sandbox/docker/agent-image.ts",
    "adapter/speech/speech-fetch.ts",
  ]);
});
