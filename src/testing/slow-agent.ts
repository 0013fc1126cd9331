/**
 * An agent that is still at its first answer whenever a test looks. Stopping, canceling or queueing work then does not
 * depend on whether the server or the test is faster. Other agents play as usual.
 */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { BUILTIN_SCRIPT } from "../adapter/model/builtin-script.ts";
import type { TestServer } from "./server.ts";

export const SLOW = "slow";

/** Begins at once and continues for ten minutes. Later requests, and those after a stop, are answered at once. */
const TURNS = [
  { text: "One thing at a time. ".repeat(500), chunk: 1, delay_ms: 600_000 },
  ...Array.from({ length: 9 }, () => ({ text: "Done." })),
];

/** @returns the environment that a server needs to play this agent, and `remove` to clean up. */
export function slowAgentScript() {
  const folder = mkdtempSync(join(tmpdir(), "skep-slow-"));
  const script = join(folder, "script.json");
  writeFileSync(script, JSON.stringify({ ...BUILTIN_SCRIPT, agents: { ...BUILTIN_SCRIPT.agents, [SLOW]: TURNS } }));
  return { env: { DEMO_SCRIPT: script }, remove: () => rmSync(folder, { recursive: true, force: true }) };
}

/** Creates the agent. @param token token of an administrator. @throws Error with the answer if the server refuses. */
export async function makeSlowAgent(server: TestServer, token: string): Promise<void> {
  const body = { id: SLOW, prompt: "You take your time.", model: "demo/scripted" };
  const { status, body: said } = await server.request("POST", "/v1/agents", { token, body });
  if (status !== 201) throw new Error(`POST /v1/agents answered ${status}: ${JSON.stringify(said)}`);
}
