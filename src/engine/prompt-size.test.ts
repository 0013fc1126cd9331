/**
 * The size of what every call of an agent begins with, its instructions and tools, counted with a tokenizer that models
 * use (o200k).
 */
import { afterEach, expect, test } from "bun:test";
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { countTokens } from "gpt-tokenizer";
import { TOOL_SEARCH } from "../core/outside-table.ts";
import { LOCAL_ADMIN } from "../http/caller.ts";
import { createRigs } from "../testing/engine-rig.ts";
import { createHandModel, type HandCall } from "../testing/hand-model.ts";

const rigs = createRigs();
afterEach(rigs.close);

/** All shipped agents, whatever their names. */
const AGENTS = readdirSync(join(import.meta.dir, "../../agents")).filter((name) => !name.startsWith("_"));
/** An agent with only the four file tools: no memory, no skills, no graph. */
const FILES = "---\nname: Files\ntools: [read, write, edit, ls]\n---\nYou change files as you are told.";
/** An agent that names no tools, so it has those of every group. */
const EVERY = "---\nname: Every\n---\nYou do what you are told.";

async function open(agents: readonly string[], own: Record<string, string> = {}) {
  const model = createHandModel();
  const pipelines = Object.fromEntries(
    agents.map((agent) => [
      agent,
      `id: ${agent}\nname: One\nsteps:\n  - id: work\n    agent: ${agent}\n    input: Work\n`,
    ]),
  );
  const rig = await rigs.startRig({
    pipelines,
    agents: own,
    models: model,
    env: { SANDBOX: "process", ALLOW_HOST_SHELL: "true" },
  });
  return { rig, model };
}

const tokensOf = ({ request }: HandCall) => ({
  system: countTokens(request.system),
  tools: countTokens(JSON.stringify(request.tools)),
});
const end = (call: HandCall) => call.reply([{ tool: "complete", input: { summary: "done" } }]);

test("an agent with the file tools begins with at most 1,500 tokens, one with every group and each of the ten shipped ones with at most 3,000", async () => {
  expect(AGENTS).toHaveLength(10);
  const { rig, model } = await open(["files", "every", ...AGENTS], { files: FILES, every: EVERY });
  for (const agent of ["files", "every", ...AGENTS]) {
    const { id } = rig.create(agent);
    const call = await model.next();
    const { system, tools } = tokensOf(call);
    console.log(`${agent}: ${system} of instructions, ${tools} of ${call.request.tools.length} tools`);
    expect([agent, system + tools <= (agent === "files" ? 1_500 : 3_000)]).toEqual([agent, true]);
    end(call);
    await rig.waitForEnd(id);
  }
});

test("each interviewer begins with at most 3,000 tokens where interviewers work, in an onboarding", async () => {
  const { rig, model } = await open([]);
  rig.services.onboarding.create({ message: "A bird feeder that tells who comes." }, LOCAL_ADMIN);
  const sections: Record<string, object> = {
    intake: { name: "Feeder", summary: "It tells which birds come." },
    strategy: { problem: "Nobody knows.", goals: ["Birds are named"] },
    product: { features: [{ title: "Names", description: "Names each bird." }] },
    architecture: { approach: "One script.", pipeline_id: null, tasks: [{ key: "a", title: "T", description: "D" }] },
  };
  const interviewers = AGENTS.filter((name) => name.startsWith("interviewer-"));
  expect(interviewers).toHaveLength(4);
  const measured = new Map<string, number>();
  while (measured.size < interviewers.length) {
    const call = await model.next();
    const agent = interviewers.find((one) => one === call.request.scope.agentId)!;
    const phase = agent.replace("interviewer-", "");
    if (measured.has(agent)) {
      call.reply("The next one asks you.");
      continue;
    }
    const { system, tools } = tokensOf(call);
    console.log(`${agent}: ${system} of instructions, ${tools} of ${call.request.tools.length} tools`);
    measured.set(agent, system + tools);
    call.reply([
      { tool: "update_context", input: { [phase]: sections[phase] } },
      { tool: "finish_phase", input: {} },
    ]);
  }
  expect([...measured].filter(([, tokens]) => tokens > 3_000)).toEqual([]);
});

test("a tool that is not shown is found by words, shown from then on behind the others, and works", async () => {
  const { rig, model } = await open(["lead"]);
  const { id } = rig.create("lead");
  const first = await model.next();
  const namesOf = ({ request }: HandCall) => request.tools.map(({ name }) => name);
  expect(namesOf(first)).toContain(TOOL_SEARCH);
  expect(namesOf(first)).not.toContain("list_documents");
  expect(first.request.moreTools).toContain("list_documents");
  first.reply([{ tool: TOOL_SEARCH, input: { query: "which documents are there" } }]);
  const second = await model.next();
  expect(namesOf(second).slice(0, namesOf(first).length)).toEqual(namesOf(first));
  expect(namesOf(second)).toContain("list_documents");
  second.reply([{ tool: "list_documents" }]);
  const third = await model.next();
  expect(namesOf(third)).toEqual(namesOf(second));
  expect(JSON.stringify(third.request.messages.at(-1))).not.toContain("There is no tool");
  // A tool that was not searched for can be called, too.
  third.reply([{ tool: "read_document", input: { document_id: "none" } }]);
  const fourth = await model.next();
  expect(JSON.stringify(fourth.request.messages.at(-1))).not.toContain("There is no tool");
  expect(fourth.request.system).toBe(first.request.system);
  end(fourth);
  await rig.waitForEnd(id);
});
