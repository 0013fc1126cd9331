/** Each wire protocol as a case with a model port on the fake server, for tests of the model adapter. */
import { expect } from "bun:test";
import { createCatalogue } from "../adapter/model/catalogue.ts";
import type { ModelLimits } from "../adapter/model/limits.ts";
import { createModelPort, type ResolvedProvider } from "../adapter/model/model-port.ts";
import { systemClock } from "../core/clock.ts";
import type { ModelPort, ModelReply, ModelRequest } from "../engine/model.ts";
import { createModelServer, type ModelServer } from "./model-server.ts";

export const CANARY_KEY = "sk-canary-4f9a8b7c6d5e4f3a2b1c";

interface WireCase {
  wire: string;
  model: string;
  /** Base path, as in the provider's real address. */
  base: string;
  path: string;
}

export const CHAT: WireCase = {
  wire: "chat completions",
  model: "custom-lab/m1",
  base: "/v1",
  path: "/v1/chat/completions",
};
export const RESPONSES: WireCase = { wire: "responses", model: "openai/gpt-5", base: "/v1", path: "/v1/responses" };
export const ANTHROPIC: WireCase = {
  wire: "anthropic",
  model: "anthropic/claude-sonnet-4-5",
  base: "/v1",
  path: "/v1/messages",
};
export const GOOGLE: WireCase = {
  wire: "google",
  model: "google/gemini-2.5-flash",
  base: "/v1beta",
  path: "/v1beta/models/gemini-2.5-flash:streamGenerateContent?alt=sse",
};
export const OLLAMA: WireCase = { wire: "ollama", model: "ollama/qwen3", base: "/v1", path: "/api/chat" };
export const WIRE_CASES: readonly WireCase[] = [CHAT, RESPONSES, ANTHROPIC, GOOGLE, OLLAMA];

const TOOL = {
  name: "write",
  description: "Writes a file",
  parameters: { type: "object", properties: { path: { type: "string" } }, required: ["path"] },
};

export const requestFor = (one: WireCase, more: Partial<ModelRequest> = {}): ModelRequest => ({
  model: one.model,
  system: "You are terse.",
  messages: [{ role: "user", parts: [{ type: "text", text: "Hi" }] }],
  tools: [TOOL],
  thinkingLevel: "off",
  scope: { agentId: "a", sessionId: "s" },
  signal: new AbortController().signal,
  ...more,
});

export const textOf = (answer: ModelReply): string =>
  answer.parts.map((part) => (part.type === "text" ? part.text : "")).join("");

export interface PortFixture {
  server: ModelServer;
  /** Log lines, as JSON. */
  logged: string[];
  /** A port whose provider is the fake server. Its back-off takes only a few milliseconds. */
  port(one: WireCase, limits?: Partial<ModelLimits>): ModelPort;
  /** A port with that configuration, or with a key store that throws that error. */
  portWith(found: ResolvedProvider | Error | undefined, limits?: Partial<ModelLimits>): ModelPort;
  call(one: WireCase, limits?: Partial<ModelLimits>, more?: Partial<ModelRequest>): Promise<ModelReply>;
  /** Fails if the key, or most of it, appears in these values or in the log. */
  expectNoKey(...values: unknown[]): void;
}

export async function createPortFixture(): Promise<PortFixture> {
  const server = await createModelServer();
  const logged: string[] = [];
  const portWith: PortFixture["portWith"] = (found, limits = {}) =>
    createModelPort({
      keys: { resolve: async () => (found instanceof Error ? Promise.reject(found) : found) },
      prices: createCatalogue({ clock: systemClock }),
      clock: systemClock,
      scripted: { call: () => Promise.reject(new Error("not scripted")) },
      log: { warn: (fields, message) => void logged.push(JSON.stringify({ ...fields, message })) },
      limits: { backoffMs: 2, backoffMaxMs: 4, ...limits },
    });
  const port: PortFixture["port"] = (one, limits) =>
    portWith({ apiKey: CANARY_KEY, source: "instance", baseUrl: `${server.origin}${one.base}` }, limits);
  return {
    server,
    logged,
    port,
    portWith,
    call: (one, limits, more) => port(one, limits).call(requestFor(one, more)),
    expectNoKey(...values) {
      expect(JSON.stringify(values)).not.toContain(CANARY_KEY.slice(0, 12));
      expect(logged.join("\n")).not.toContain(CANARY_KEY.slice(0, 12));
    },
  };
}
