/**
 * The powers of an agent that another one started: by spawn_executor, in a swarm, two levels down, under a limited
 * routine.
 */
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from "bun:test";
import { createProcessSandboxes } from "../../adapter/sandbox/process/driver.ts";
import type { SandboxDriver, SandboxSpec } from "../../engine/sandbox.ts";
import { LOCAL_ADMIN } from "../../http/caller.ts";
import { createRigs, type Rig } from "../../testing/engine-rig.ts";
import { createHandModel, type HandCall, type HandModel } from "../../testing/hand-model.ts";

setDefaultTimeout(300_000);
const rigs = createRigs();
afterAll(rigs.close);

const near = createProcessSandboxes({ allowHostShell: true });
const specs: SandboxSpec[] = [];
const sandboxes: SandboxDriver = {
  ...near,
  start(spec, signal) {
    specs.push(spec);
    return near.start(spec, signal);
  },
};
const file = (lines: string) => `---\nname: N\n${lines}\n---\nYou work.`;
const TEAM = "tools: [ls, spawn_executor, swarm_execute, recall]";
const agents = {
  open: file("network: bridge"),
  closed: file(`network: none\n${TEAM}`),
  trusting: file(`network: none\n${TEAM}\nstarts_in_full: [open]`),
  middle: file("network: bridge\nstarts_in_full: ['*']"),
};
let model: HandModel;
let rig: Rig;
beforeAll(async () => {
  model = createHandModel();
  rig = await rigs.startRig({ pipelines: {}, agents, models: model, sandboxes });
  const { secrets } = rig.services;
  for (const [name, ids] of [
    ["FOR_OPEN", ["open"]],
    ["FOR_BOTH", ["open", "closed"]],
  ] as const) {
    secrets.create({ name, value: `value of ${name}` }, LOCAL_ADMIN);
    for (const id of ids) secrets.grant(name, id, LOCAL_ADMIN);
  }
});

async function begin(agent_id: string, tools?: string[]): Promise<HandCall> {
  const { sessions } = rig.services;
  const { id } = sessions.open({ kind: "pulse", agent_id, tools });
  sessions.queue(id, { input: "Go on", timeout_seconds: 600 });
  return model.next(id);
}
const spawn = (from: HandCall, agent_id: string): Promise<HandCall> => {
  from.reply([{ tool: "spawn_executor", input: { agent_id, prompt: "Do it" } }]);
  return model.next();
};
/** The agent's tools, and the network and secrets of its sandbox. */
async function powersOf(call: HandCall) {
  const { sessionId } = call.request.scope;
  call.reply([{ tool: "ls", input: {} }]);
  const next = await model.next(sessionId);
  const spec = specs.find((one) => one.sessionId === sessionId);
  const secrets = Object.keys(spec?.env ?? {}).filter((name) => name.startsWith("FOR_"));
  rig.services.sessions.end(rig.services.sessions.find(sessionId)?.root_id ?? sessionId);
  return { network: spec?.network, secrets, tools: next.request.tools.map(({ name }) => name) };
}

test("an agent started by a person has its own powers", async () => {
  const { network, secrets, tools } = await powersOf(await begin("open"));
  expect({ network, secrets }).toEqual({ network: "bridge", secrets: ["FOR_BOTH", "FOR_OPEN"] });
  expect(tools).toContain("bash");
});

test("spawn_executor starts no network, tools or secrets that the agent has not itself", async () => {
  const { network, secrets, tools } = await powersOf(await spawn(await begin("closed"), "open"));
  expect({ network, secrets }).toEqual({ network: "none", secrets: ["FOR_BOTH"] });
  expect(tools.toSorted()).toEqual(["complete", "fail", "ls", "recall", "spawn_executor", "swarm_execute"]);
});

test("neither does a swarm, nor an agent between them that hands on in full", async () => {
  const from = await begin("closed");
  from.reply([{ tool: "swarm_execute", input: { tasks: [{ key: "a", prompt: "Do it", agent_id: "open" }] } }]);
  expect(await powersOf(await model.next())).toMatchObject({ network: "none", secrets: ["FOR_BOTH"] });
  const middle = await spawn(await begin("closed"), "middle");
  const { network, secrets, tools } = await powersOf(await spawn(middle, "open"));
  expect({ network, secrets }).toEqual({ network: "none", secrets: ["FOR_BOTH"] });
  expect(tools).not.toContain("bash");
});

test("unless the file of the agent says so, and then for those it names alone", async () => {
  const full = await powersOf(await spawn(await begin("trusting"), "open"));
  expect(full).toMatchObject({ network: "bridge", secrets: ["FOR_BOTH", "FOR_OPEN"] });
  expect(full.tools).toContain("bash");
  expect(await powersOf(await spawn(await begin("trusting"), "middle"))).toMatchObject({ network: "none" });
});

test("the tools that a routine is limited to bound what it starts, whatever the file says", async () => {
  const { tools } = await powersOf(await spawn(await begin("trusting", ["ls", "spawn_executor"]), "open"));
  expect(tools.toSorted()).toEqual(["complete", "fail", "ls", "spawn_executor"]);
});

test("a swarm that a person starts has the powers of the agents it names", async () => {
  const { swarm } = rig.services;
  const plan = { agent_id: "closed", tasks: [{ key: "a", prompt: "Do it", agent_id: "open" }] };
  swarm.execute(plan, LOCAL_ADMIN);
  expect(await powersOf(await model.next())).toMatchObject({ network: "bridge" });
});
