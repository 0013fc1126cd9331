/** Roles in projects outside of HTTP requests: work that was running when its user's membership ended. */
import { afterAll, expect, setDefaultTimeout, test } from "bun:test";
import { type Caller, LOCAL_ADMIN } from "../../http/caller.ts";
import { users } from "../../store/tables/accounts.ts";
import { createRigs, type Rig } from "../../testing/engine-rig.ts";
import { createHandModel } from "../../testing/hand-model.ts";
import { addAccount } from "../../testing/rig-account.ts";

setDefaultTimeout(300_000);
const rigs = createRigs();
afterAll(rigs.close);

const PIPELINE = 'id: one\nname: one\nsteps:\n  - id: one\n    agent: worker\n    input: "{{ task_description }}"\n';

function makeAccount(rig: Rig, id: string): Caller {
  addAccount(rig, id);
  return { kind: "user", admin: false, userId: id, projects: rig.access };
}

async function startRig() {
  const model = createHandModel();
  const rig = await rigs.startRig({ pipelines: { one: PIPELINE }, models: model });
  const { projects, tasks, runs, members } = rig.services;
  const [ann, ben] = ["usr_ann", "usr_ben"].map((id) => makeAccount(rig, id)) as [Caller, Caller];
  const project = projects.create({ name: "pond", access: "members" }, ann);
  members.add(project.id, { user: "usr_ben@example.test" }, ann);
  const task = tasks.create(project.id, { title: "A task", status: "ready" }, ben);
  const start = () => runs.create({ pipeline_id: "one", task_description: "Go", project_name: "pond" }, ben);
  return { rig, model, members, tasks, project, task, ann, ben, start };
}
const endOf = (rig: Rig, runId: string) => rig.event(({ kind, run_id }) => kind === "run_failed" && run_id === runId);
const codeOf = (rig: Rig, runId: string) =>
  rig.store.statement<string>("SELECT error ->> 'code' FROM executions WHERE run_id = ?").pluck().get(runId);

test("a tool call of work whose user is no member any more is not made, and the work ends", async () => {
  const { rig, model, members, tasks, project, task, ann, start } = await startRig();
  const { id } = start();
  const call = await model.next();
  members.remove(project.id, "usr_ben", ann);
  call.reply([{ tool: "claim_task", input: { task_id: task.id } }]);
  await endOf(rig, id);
  expect(tasks.get(project.id, task.id).assigned_agent).toBeNull();
  expect(codeOf(rig, id)).toBe("project_closed");
  expect(model.calls).toHaveLength(1);
});

test("no model is called for who became a viewer meanwhile; made a contributor again, they may restart", async () => {
  const { rig, model, members, project, ann, ben, start } = await startRig();
  const { id } = start();
  const call = await model.next();
  members.set(project.id, "usr_ben", "viewer", ann);
  call.reply("Words, and no end.");
  await endOf(rig, id);
  expect([codeOf(rig, id), model.calls.length]).toEqual(["project_closed", 1]);
  expect(() => start()).toThrow("This takes the role contributor");
  expect(() => rig.services.runs.restart(id, {}, ben)).toThrow("This takes the role contributor");
  members.set(project.id, "usr_ben", "contributor", ann);
  rig.services.runs.restart(id, {}, ben);
  (await model.next()).reply([{ tool: "complete", input: { outputs: {}, summary: "Done." } }]);
  await rig.event(({ kind, run_id }) => kind === "run_complete" && run_id === id);
});

test("work of an administrator keeps an administrator's rights in a project where they are a viewer", async () => {
  const { rig, members, project, ann } = await startRig();
  const roleOfBen = () => rig.access.within(project.id).roleOf("usr_ben", project.id);
  members.set(project.id, "usr_ben", "viewer", ann);
  expect(roleOfBen()).toBe("viewer");
  rig.store.write(() => rig.store.rows(users).update({ role: "admin" }, { id: "usr_ben" }));
  expect(roleOfBen()).toBe("maintainer");
  members.remove(project.id, "usr_ben", ann);
  expect(roleOfBen()).toBe("maintainer");
});

test("the last owner stays, a personal project takes no member, and who inherits an account owns its projects", async () => {
  const { rig, members, project, ann, ben } = await startRig();
  expect(() => members.remove(project.id, "usr_ann", ann)).toThrow("only owner");
  expect(() => members.set(project.id, "usr_ann", "viewer", ann)).toThrow("only owner");
  expect(() => members.open(project.id, "personal", ann)).toThrow("other members");
  members.remove(project.id, "usr_ben", ben);
  expect(members.open(project.id, "personal", ann)).toEqual({ access: "personal", role: "owner" });
  expect(() => members.add(project.id, { user: "usr_ben@example.test" }, ann)).toThrow("personal");
  expect(rig.services.projects.exists(project.id, ben)).toBe(false);
  rig.store.write(() => rig.access.handOver("usr_ann", "usr_ben"));
  expect(rig.access.roleOf("usr_ben", project.id)).toBe("owner");
});

test("an account that is deleted while its project is made gets a sentence", async () => {
  const { rig } = await startRig();
  const gone: Caller = { kind: "user", admin: false, userId: "usr_gone", projects: rig.access };
  expect(() => rig.services.projects.create({ name: "late" }, gone)).toThrow("was deleted meanwhile");
  expect(rig.services.projects.byName("late", LOCAL_ADMIN)).toBeUndefined();
});

test("a membership that is undone with its transaction was never there", async () => {
  const { rig, project } = await startRig();
  expect(() =>
    rig.store.write(() => {
      rig.access.put({ project_id: project.id, user_id: "usr_ben", role: "owner" });
      expect(rig.access.roleOf("usr_ben", project.id)).toBe("owner");
      throw new Error("undone");
    }),
  ).toThrow("undone");
  expect(rig.access.roleOf("usr_ben", project.id)).toBe("contributor");
});
