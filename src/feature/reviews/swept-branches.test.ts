import { afterEach, expect, test } from "bun:test";
import { LOCAL_ADMIN } from "../../http/caller.ts";
import { createRigs } from "../../testing/engine-rig.ts";

const rigs = createRigs();
afterEach(rigs.close);

test("a merged branch is swept once it is old enough; what was not merged stays, and the diff of both is still there", async () => {
  const rig = await rigs.startRig({
    pipelines: { p: "id: p\nname: P\nsteps:\n  - { id: add, run: 'echo $RANDOM$$ > new.txt' }\n" },
    env: { ALLOW_HOST_SHELL: "true" },
  });
  const { projects, reviews } = rig.services;
  const project = projects.create({ name: "shop" }, LOCAL_ADMIN);
  const run = async () => rig.waitForEnd(rig.create("p", "do it", { project_name: "shop" }).id);
  const [taken, kept] = [await run(), await run()];
  await reviews.merge(taken.id, { strategy: "squash" }, LOCAL_ADMIN);
  const listUnmerged = async () => projects.branches.listUnmerged(project.id);
  const files = async (id: string) =>
    (await reviews.diff(id, { limit: 10, after: null }, LOCAL_ADMIN)).items.map(({ path }) => path);
  const branchOf = (id: string) =>
    Bun.spawnSync(["git", "--git-dir", rig.repositoryOf(project.id), "rev-parse", "--verify", `run/${id}`]).exitCode ===
    0;
  await projects.branches.sweepMerged(Date.parse(taken.finished_at!) - 1);
  expect([branchOf(taken.id), branchOf(kept.id)]).toEqual([true, true]);
  await projects.branches.sweepMerged(Date.now() + 1_000);
  expect([branchOf(taken.id), branchOf(kept.id)]).toEqual([false, true]);
  expect([await files(taken.id), await files(kept.id)]).toEqual([["new.txt"], ["new.txt"]]);
  expect(await listUnmerged()).toEqual([`run/${kept.id}`]);
});
