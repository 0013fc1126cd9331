/** How a step is shown under its name, and which skills events report for it. */
import { afterEach, expect, test } from "bun:test";
import type { Caller } from "../../http/caller.ts";
import { createRigs } from "../../testing/engine-rig.ts";
import { createHandModel } from "../../testing/hand-model.ts";
import { OPEN_PROJECTS } from "../../testing/open-projects.ts";

const rigs = createRigs();
afterEach(rigs.close);
const caller: Caller = { kind: "local", admin: true, projects: OPEN_PROJECTS };

test("a for_each step read by its name gives its aggregate; an item is read by its id", async () => {
  const model = createHandModel();
  const each =
    "id: each\nname: Each\nsteps:\n  - id: all\n    agent: worker\n    for_each: [1, 2]\n    max_parallel: 1\n";
  const pipelines = { each: `${each}    input: "{{ item }}"\n    outputs: [n]\n` };
  const rig = await rigs.startRig({ pipelines, models: model });
  const { id } = rig.create("each");
  for (const n of [10, 20]) (await model.next()).reply([{ tool: "complete", input: { outputs: { n }, summary: "s" } }]);
  await rig.waitForEnd(id);
  const { views } = rig.services.runs;
  for (const attempt of [undefined, 1]) {
    expect(views.step(id, "all", attempt, caller)).toMatchObject({ index: null, outputs: { n: [10, 20] } });
    expect(views.output(id, "all", attempt, caller)).toMatchObject({ outputs: { n: [10, 20] } });
  }
  const item = rig.steps(id).find(({ item_index }) => item_index === 1)!;
  expect(views.step(id, item.id, undefined, caller)).toMatchObject({ index: 1, outputs: { n: 20 } });
});

test("events name only the skills that were put in: not one that is switched off", async () => {
  const model = createHandModel();
  const pipeline = "id: one\nname: One\nsteps:\n  - { id: work, agent: worker, input: Work, skills: [kept, off] }\n";
  const rig = await rigs.open({ pipelines: { one: pipeline }, models: model });
  const { skills } = rig.services;
  const skill = (name: string, enabled: boolean) =>
    skills.create({ name, description: "d", content: `Text of ${name}.`, enabled });
  skill("kept", true);
  skill("off", false);
  await rig.start();
  const { id } = rig.create("one");
  const { request, reply } = await model.next();
  expect(request.system).toContain("Text of kept.");
  expect(request.system).not.toContain("Text of off.");
  const event = rig.events().find(({ data }) => String(data["title"]).startsWith("skills put in"));
  expect(event?.data).toMatchObject({ title: "skills put in: kept", skills: ["kept"] });
  reply([{ tool: "complete", input: { summary: "s" } }]);
  await rig.waitForEnd(id);
});
