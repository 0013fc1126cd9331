/** The history that an agent reads: its own runs, for its execution's user. */
import { afterEach, expect, test } from "bun:test";
import type { Caller } from "../../http/caller.ts";
import { createRigs } from "../../testing/engine-rig.ts";
import { createHandModel } from "../../testing/hand-model.ts";
import { OPEN_PROJECTS } from "../../testing/open-projects.ts";

const rigs = createRigs();
afterEach(rigs.close);

const PIPELINE = "id: one\nname: One\nsteps:\n  - { id: work, agent: worker, input: Work }\n";
const user = (userId: string): Caller => ({ kind: "user", admin: false, projects: OPEN_PROJECTS, userId });
const administrator: Caller = { kind: "user", admin: true, projects: OPEN_PROJECTS, userId: "usr_admin" };
const local: Caller = { kind: "local", admin: true, projects: OPEN_PROJECTS };

test("an agent reads the runs of the user it works for and of no other user it worked for", async () => {
  const model = createHandModel();
  const rig = await rigs.startRig({ pipelines: { one: PIPELINE }, models: model });
  const { runs } = rig.services;
  const create = (caller: Caller) => runs.create({ pipeline_id: "one", task_description: "it" }, caller).id;
  const read: Record<string, string[]> = {};
  const ids: Record<string, string> = {};
  for (const [name, caller] of Object.entries({
    nobody: local,
    a: user("usr_a"),
    admin: administrator,
    b: user("usr_b"),
  })) {
    const id = create(caller);
    ids[name] = id;
    (await model.next()).reply([{ tool: "get_run_history", input: {} }]);
    const asked = await model.next();
    const [result] = asked.request.messages.flatMap((one) => (one.role === "tool" ? one.results : []));
    read[name] = [...new Set(result?.output.match(/run_[0-9a-z]{26}/g))];
    const session = rig.services.sessions.live().find(({ run_id }) => run_id === id)!;
    const execution = { id: "exe_x", sessionId: session.id, agentId: "worker", userId: session.user_id ?? undefined };
    const history = runs.views.history(
      {},
      { limit: 50, after: null },
      { kind: "execution", admin: false, projects: OPEN_PROJECTS, execution },
    ).items;
    expect(history.map(({ run_id }) => run_id)).toEqual(read[name]);
    asked.reply([{ tool: "complete", input: { summary: "done" } }]);
    await rig.waitForEnd(id);
  }
  expect(read).toEqual({
    nobody: [ids["nobody"]!],
    a: [ids["a"]!, ids["nobody"]!],
    admin: [ids["admin"]!, ids["nobody"]!],
    b: [ids["b"]!, ids["nobody"]!],
  });
});
