/** `skep tasks` as a person types it, in the folder of a project and outside of it. */
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { skep, temporaryFolder } from "../../testing/command.ts";
import { startServer, type TestServer } from "../../testing/server.ts";
import { boardLines } from "./task-board.ts";

setDefaultTimeout(300_000);

const folder = temporaryFolder();
const repository = join(folder.path, "bell");
const elsewhere = join(folder.path, "elsewhere");
let server: TestServer;
beforeAll(async () => {
  for (const path of [repository, elsewhere]) mkdirSync(path);
  const git = (...args: string[]) =>
    Bun.spawnSync(["git", "-c", "user.name=A", "-c", "user.email=a@example.test", ...args], { cwd: repository });
  git("init", "-q", "-b", "main");
  git("commit", "-q", "--allow-empty", "-m", "Begin");
  const script = file("script.yml", "version: 1\ndefault:\n  - tool_calls: [{tool: complete, input: {outputs: {}}}]\n");
  server = await startServer({ env: { ALLOW_LOCAL_REPOSITORIES: "true", DEMO_SCRIPT: script } });
});
afterAll(async () => {
  await server.remove();
  folder.remove();
});

const cli = (args: readonly string[], cwd = elsewhere) => skep([...args, "--data", server.data], { cwd });
async function runCommand(cwd: string, ...args: string[]): Promise<string> {
  const { code, stdout, stderr } = await cli(args, cwd);
  expect([args.join(" "), stderr, code]).toEqual([args.join(" "), "", 0]);
  return stdout;
}
const tasks = (...args: string[]) => runCommand(repository, "tasks", ...args);
const json = async (...args: string[]) => JSON.parse(await tasks(...args, "--json"));
async function expectRefusal(cwd: string, ...args: string[]): Promise<string> {
  const { code, stderr } = await cli(["tasks", ...args], cwd);
  expect([args.join(" "), code]).not.toEqual([args.join(" "), 0]);
  expect(stderr.trimEnd().split("\n")).toHaveLength(1);
  return stderr;
}
function file(name: string, text: string): string {
  const path = join(folder.path, name);
  writeFileSync(path, text);
  return path;
}

describe("skep tasks", () => {
  test("means the only project, that of the folder you are in, or the one that is named", async () => {
    expect(await expectRefusal(elsewhere)).toContain("skep projects add");
    expect((await cli(["projects", "add", "."])).stderr).toContain(". is not a git repository");
    expect(await runCommand(repository, "projects", "add", ".")).toStartWith("bell: cloned");
    expect(await runCommand(elsewhere, "tasks")).toContain("skep tasks create");
    await runCommand(elsewhere, "projects", "add", "other");
    expect(await expectRefusal(elsewhere)).toMatch(/--project: (bell, other|other, bell)\./);
    expect(await expectRefusal(elsewhere, "--project", "nothing")).toContain("There is no project nothing");
    await runCommand(elsewhere, "tasks", "create", "Elsewhere", "--project", "other");
    expect((await json()).items).toEqual([]);
    expect(await runCommand(elsewhere, "tasks", "--project", "other")).toContain("Elsewhere");
    expect(await runCommand(elsewhere, "tasks", "elsewhere", "--project", "other")).toContain("backlog");
  });

  test("makes, shows, changes and deletes a task", async () => {
    const flags = ["--priority", "p1", "--type", "feature", "--agent", "engineer", "--tags", "ui,css"];
    const made = await json(
      "create",
      "Add a dark mode",
      ...flags,
      "--estimate",
      "1.5",
      "--description",
      "As at night.",
    );
    expect(made).toMatchObject({ status: "backlog", priority: "p1", work_type: "feature", estimate_hours: 1.5 });
    expect(made).toMatchObject({ assigned_agent: "engineer", tags: ["ui", "css"], description: "As at night." });
    const notes = file("notes.md", "Two\nlines\n");
    await tasks("create", "Switch", "--depends", "Add a dark", "--parent", made.id, "--file", notes);
    expect(await json("Switch")).toMatchObject({
      depends_on: [made.id],
      parent_id: made.id,
      description: "Two\nlines\n",
    });
    await tasks("edit", "Switch", "--title", "A switch", "--depends", "", "--priority", "p0", "--parent", "");
    expect(await json("A switch")).toMatchObject({ depends_on: [], priority: "p0", parent_id: null });
    expect(await tasks("--priority", "p0")).toMatch(/^TASK.*\nA switch/);
    expect((await json("--tag", "ui")).items).toHaveLength(1);
    expect((await json("--search", "dark")).items).toHaveLength(1);
    expect(await tasks("delete", "A switch")).toBe("deleted task A switch\n");
    expect(await expectRefusal(repository, "A switch")).toContain("There is no task A switch");
    expect(await expectRefusal(repository, "create", "X", "--estimate", "soon")).toContain("--estimate takes hours");
    expect(await expectRefusal(repository, "create", "X", "--agent", "nobody")).toContain("no such agent");
  });

  test("moves tasks over the board, claims them, and keeps what happened", async () => {
    const first = await json("create", "First", "--status", "ready");
    await tasks("create", "Second", "--status", "ready");
    await tasks("move", "Second", "--before", "First");
    expect((await json("--ready")).items.map(({ title }: { title: string }) => title)).toEqual(["Second", "First"]);
    expect(await expectRefusal(repository, "move", "First")).toContain("--to STATUS");
    expect(await tasks("claim", "First", "engineer")).toContain("in_progress");
    expect(await expectRefusal(repository, "claim", first.id, "reviewer")).toContain("engineer holds the task until");
    expect(await tasks("claim", "First", "engineer", "--release")).toMatch(/status +ready/);
    expect(await tasks("transition", "First", "review", "--note", "Look at it.")).toMatch(/next +backlog, ready/);
    expect(await expectRefusal(repository, "transition", "First", "somewhere")).toContain("The board has the statuses");
    await tasks("move", "First", "--to", "done");
    const history = await tasks("history", "First");
    for (const words of [
      /moved +ready → review +local +Look at it\./,
      /released +in_progress → ready/,
      /created +ready/,
    ])
      expect(history).toMatch(words);
  });

  test("tells tasks of one title apart by their ids", async () => {
    const [one] = [await json("create", "Twin"), await json("create", "Twin")];
    expect(await expectRefusal(repository, "Twin")).toContain(one.id);
    expect((await json(one.id.slice(-8))).id).toBe(one.id);
    for (const { id } of (await json("--search", "Twin")).items) await tasks("delete", id);
  });

  test("imports tasks from YAML and JSON, with keys for what depends on what", async () => {
    const list = "- {key: a, title: Imported one}\n- {title: Imported two, depends_on: [a], agent: x}\n";
    expect(await tasks("import", file("tasks.yml", list))).toBe("2 tasks are on the board.\n");
    const [two] = (await json("--search", "Imported two")).items;
    expect(two.depends_on).toHaveLength(1);
    const bad = { tasks: [{ title: "Imported three" }, { title: "Imported four", assigned_agent: "nobody" }] };
    const { code, stdout } = await cli(["tasks", "import", file("bad.json", JSON.stringify(bad))], repository);
    expect([code, stdout]).toEqual([1, expect.stringContaining("1 were refused:\n  Imported four: ")]);
    expect(await expectRefusal(repository, "import", file("broken.yml", "- {a"))).toContain("neither JSON nor YAML");
    expect(await expectRefusal(repository, "import", file("empty.yml", "a: b"))).toContain("has no list of tasks");
    expect(await expectRefusal(repository, "import", join(folder.path, "nowhere"))).toContain("There is no file");
  });

  test("has agents do a task by the project's policy, and shows the plan for it", async () => {
    expect(await tasks("policy")).toContain("No policy");
    const rules = { docs: [{ stage: "write", disposition: "required", agent_id: "engineer" }] };
    expect(await tasks("policy", file("policy.json", JSON.stringify({ rules })))).toMatch(
      /docs +write +required +engineer/,
    );
    expect(await tasks("policy", "--wait-for-merge", "yes")).toContain("until its work is merged");
    expect(await expectRefusal(repository, "policy", "--wait-for-merge", "perhaps")).toContain("takes yes or no");
    await tasks("create", "Write it down", "--type", "docs");
    expect(await tasks("plan", "Write it down")).toMatch(/now +write/);
    const run = await json("execute", "Write it down");
    expect(run.task_id).toMatch(/^task_/);
    expect(await tasks("Write it down")).toContain(run.id);
    await cli(["cancel", run.id]);
  });

  test("draws the board, with the limits of its columns and what is not shown", async () => {
    const columns = await json("columns");
    columns[0].wip_limit = 3;
    expect(await tasks("columns", file("columns.json", JSON.stringify(columns)))).toMatch(
      /backlog +Backlog +backlog +3/,
    );
    const board = await tasks("board", "--cards", "1");
    expect(board).toMatch(/^Backlog \d+\/3 +Ready \d+ +In progress \d+ +Review \d+ +Done \d+\n-+/);
    expect(board).toMatch(/and \d more/);
    expect((await json("board")).columns.map(({ id }: { id: string }) => id)).toContain("in_progress");
    expect(await tasks("columns", "--standard")).not.toContain("LIMIT");
    expect(await expectRefusal(repository, "board", "--cards", "0")).toContain("--cards takes");
  });
});

test("a board's columns are side by side where there is room, else below each other; long titles are cut", () => {
  const task = {
    title: "A rather long title that goes on and on and on",
    priority: "p0",
    status: "ready",
    id: "task_123456",
  };
  const column = (id: string) => ({ id, name: id, statuses: ["ready"], wip_limit: null, count: 2, tasks: [task] });
  const wide = boardLines([column("one"), column("two")], 60);
  expect(wide[0]).toMatch(/^one 2 +two 2$/);
  expect(wide.slice(2, 4)).toEqual([
    "A rather long title that goes  A rather long title that goes",
    "on and on and on               on and on and on",
  ]);
  expect(Math.max(...wide.map((line) => line.length))).toBeLessThanOrEqual(60);
  const narrow = boardLines([column("one"), column("two")], 30);
  expect(narrow.filter((line) => /^(one|two) 2$/.test(line))).toEqual(["one 2", "two 2"]);
});
