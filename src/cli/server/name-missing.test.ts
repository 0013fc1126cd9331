/** What a command says about something that does not exist. */
import { expect, test } from "bun:test";
import { nameMissing } from "./name-missing.ts";

const AGENT = "There is no such agent.";

test("what is not there is named where the question named one of its kind", () => {
  expect(nameMissing(AGENT, { path: "/v1/skills?agent_id=nobody" })).toBe("There is no agent nobody.");
  expect(nameMissing(AGENT, { path: "/v1/swarm", body: '{"agent_id":"nobody"}' })).toBe("There is no agent nobody.");
  const entry = { path: "/v1/memory/vaults/scribe/entries/lessons%2Fone" };
  expect(nameMissing("There is no such memory entry.", entry)).toBe("There is no memory entry lessons/one.");
  expect(nameMissing(AGENT, { path: "/v1/agents/50%" })).toBe("There is no agent 50%.");
  const hinted = `${AGENT} Did you mean scribe?`;
  expect(nameMissing(hinted, { path: "/v1/agents/scrib/tools" })).toBe("There is no agent scrib. Did you mean scribe?");
});

test("nothing is named where the question named none of the kind, or several, or is about something else", () => {
  for (const [detail, path, body] of [
    [AGENT, "/v1/skills/release", undefined],
    [AGENT, "/v1/agents/scribe/messages", '{"agent_id":"nobody"}'],
    [AGENT, "/v1/agents", "[1]"],
    ["There is no such invitation.", "/v1/invitations/accept", '{"token":"skin_x"}'],
    ["There is no such index job of this project.", "/v1/projects/p/index/j", undefined],
    ["The agent is off.", "/v1/agents/scribe", undefined],
  ] as const)
    expect(nameMissing(detail, { path, body })).toBe(detail);
});

test("a name from a file is no longer than a line, and nothing that a terminal acts on", () => {
  const name = `\u001b[31m${"x".repeat(500)}\nand more`;
  const said = nameMissing(AGENT, { path: "/v1/swarm", body: JSON.stringify({ agent_id: name }) });
  expect(said).toMatch(/^There is no agent x{79}…\.$/);
});
