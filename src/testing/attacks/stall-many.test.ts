/**
 * A31 and A39 for large numbers without hostility: runs and routines that begin together, files of a removed working
 * copy, memories that an editor adds, a large team's agents and skills. Others may wait only briefly.
 */
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from "bun:test";
import { existsSync, mkdirSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import Database from "better-sqlite3";
import { one, type StallRig, stallRig } from "./stall-rig.ts";
import { waitFor } from "./waiting.ts";

setDefaultTimeout(300_000);

const DONE = { status: 200 };
let rig: StallRig;
beforeAll(async () => {
  rig = await stallRig({ inProject: true });
  await rig.play({ name: "warm up", calls: one("ls", {}), says: /./ });
});
afterAll(() => rig?.stop());

const times = <T>(count: number, make: (i: number) => T): T[] => Array.from({ length: count }, (_, i) => make(i));

test("a hundred runs that are asked for at once", async () => {
  const work = { id: "work", agent: "stranger", input: "Do it." };
  await rig.must("POST", "/v1/pipelines", { id: "many", name: "Many", steps: [work] });
  const ask = () => rig.must("POST", "/v1/runs", { pipeline_id: "many", task_description: "go" });
  await rig.requestWithoutStall("100 runs", async () => {
    await Promise.all(times(100, ask));
    return DONE;
  });
});

test("a hundred routines that are due at once", async () => {
  const keepers = ["keeper-0", "keeper-1", "keeper-2"];
  for (const id of keepers) await rig.must("POST", "/v1/agents", { id, prompt: "You look.", pulse_enabled: true });
  const routine = (name: string) => ({
    name,
    instructions: "Look around.",
    schedule: "0 9 1 1 *",
  });
  const add = (name: string, i: number) => rig.must("POST", `/v1/pulse-routines/keeper-${i % 3}`, routine(name));
  for (let i = 0; i < 100; i++) await add(`r${i}`, i);
  const db = new Database(join(rig.server.data, "skep.db"));
  const due = db.prepare("UPDATE pulse_routines SET planned_at = ? WHERE name LIKE 'r%'");
  const left = db.prepare<[number], number>("SELECT count(*) FROM pulse_routines WHERE planned_at <= ?").pluck();
  let round = 0;
  try {
    await rig.requestWithoutStall("100 routines", async () => {
      due.run(Date.now());
      // Any change makes the scheduler ask what is due.
      await add(`s${round}`, round++);
      await waitFor(() => left.get(Date.now()) === 0, "the routines");
      return DONE;
    });
  } finally {
    db.close();
  }
});

test("the removal of a working copy of 20,000 files in 400 folders", async () => {
  const folders = times(400, (i) => `built/${i}`);
  const files = Object.fromEntries(folders.flatMap((folder) => times(50, (i) => [`${folder}/${i}`, ""] as const)));
  const workspaces = join(rig.server.data, "workspaces");
  await rig.requestWithoutStall("removal", async () => {
    await rig.play({
      name: "many files",
      files: { ".gitignore": "built/\n", ...files },
      calls: one("complete", { summary: "x" }),
      says: /./,
    });
    // Other cases of this file may still be creating working copies.
    await waitFor(
      () => !readdirSync(workspaces).some((name) => existsSync(join(workspaces, name, "built"))),
      "the removal",
    );
    return DONE;
  });
});

test("5,000 memories that appear in a vault", async () => {
  let round = 0;
  await rig.requestWithoutStall("a vault", async () => {
    const folder = join(rig.server.data, "vaults/stranger", `round-${round++}`);
    mkdirSync(folder, { recursive: true });
    for (let i = 0; i < 5_000; i++)
      writeFileSync(
        join(folder, `${i}.md`),
        `---\ntitle: Entry ${i}\n---\nThe word${i} of this entry, with some more.\n`,
      );
    for (;;) {
      const { items } = (await rig.must("GET", "/v1/memory/vaults")) as unknown as { items: { entries: number }[] };
      if ((items[0]?.entries ?? 0) >= round * 5_000) return DONE;
      await Bun.sleep(100);
    }
  });
});

test("lists of 1,500 skills and 1,000 agents, and a change of one of them", async () => {
  const agents = join(rig.server.data, "agents");
  for (let i = 0; i < 1_500; i++)
    writeFileSync(
      join(agents, "_skills", `s${i}.md`),
      `---\nname: s${i}\ndescription: what it is for\n---\nHow it is done.\n`,
    );
  for (let i = 0; i < 1_000; i++) {
    mkdirSync(join(agents, `a${i}`));
    writeFileSync(join(agents, `a${i}/AGENT.md`), `---\nname: A${i}\n---\nYou work.\n`);
  }
  // The first of these requests reads each file; afterwards all are known.
  for (const path of ["/v1/agents?limit=200", "/v1/skills?limit=200", "/v1/pipelines?limit=200", "/v1/search?q=a1"])
    expect(await rig.requestWithoutStall(path, () => rig.server.request("GET", path))).toBe(200);
  let round = 0;
  const put = (path: string, body: unknown) => rig.server.request("PUT", path, { body });
  const skill = () => put("/v1/skills/s7", { content: `Otherwise, ${round++}.` });
  const agent = () => put("/v1/agents/a7/config", { prompt: `You work, ${round++}.` });
  expect(await rig.requestWithoutStall("a skill", skill)).toBe(200);
  expect(await rig.requestWithoutStall("an agent", agent)).toBe(200);
  expect(existsSync(join(agents, "a7/AGENT.md"))).toBe(true);
});
