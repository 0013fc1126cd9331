/** A server with data for every page of the dashboard: runs in each state, an approval, costs, agents, a project. */
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { TestServer } from "../server.ts";
import { createSourceTree, SHOP } from "../source-tree.ts";
import { complete, say } from "./script.ts";
import { furnishSystems, SYSTEMS_SCRIPT, type Systems } from "./seed-systems.ts";

const CART = SHOP["src/cart.ts"];
const LOCK = JSON.stringify(
  { lockfileVersion: 3, packages: Object.fromEntries(Array.from({ length: 160 }, (_, at) => [`p${at}`, { at }])) },
  null,
  2,
);

const ANSWER = `## A discount

It is taken off **before** the tax:

| price | discount | with tax |
|---:|---:|---:|
| 100 | 10 % | 108 |
| 50 | none | 60 |

\`\`\`ts
total(): number {
  return withTax(this.reduced(this.prices));
}
\`\`\`

1. \`add\` takes prices.
2. \`total\` adds them up. See [the manual](https://example.com/discounts).

- [x] tested
- [ ] documented
`;

const SCRIPT = {
  version: 1,
  steps: {
    survey: [
      say("I look at what is there before I plan.", "ls", { path: "." }),
      say("Notes first, so that the others find them.", "write", {
        path: "NOTES.md",
        content: "# Notes\n\nThe export is written by hand in three places.\n",
      }),
      complete(
        { findings: "Three places write CSV by hand; one quotes wrongly when a name holds a comma." },
        "Surveyed.",
      ),
    ],
    plan: [
      complete(
        {
          plan: "1. One writer with tests.\n2. Use it in the three places.\n3. Remove the old code.",
          risk: "low",
          files: ["src/export/csv.ts", "src/report/table.ts", "src/admin/users.ts"],
        },
        "Planned.",
      ),
    ],
    build: [
      say("The notes say where to begin.", "read", { path: "NOTES.md" }),
      say("I write the one place that knows how to quote.", "write", {
        path: "csv.ts",
        content: "export const quote = (text: string) => JSON.stringify(text);\n",
      }),
      complete({ changed_files: ["csv.ts"], explanation: "One writer, used everywhere." }, "Built."),
    ],
    broken: [
      say("I try the tests.", "bash", { command: "echo 'FAIL csv.test.ts: expected 3 columns, got 4'; exit 1" }),
      { tool_calls: [{ tool: "fail", input: { reason: "The test database does not answer on port 5432." } }] },
    ],
    implement: [
      say("Discounts belong to the cart.", "write", {
        path: "src/cart.ts",
        content: CART.replace(
          "  total(): number {",
          "  discount(percent: number): void {\n    this.percent = percent;\n  }\n\n  total(): number {",
        )
          .replace("private prices: number[] = [];", "private readonly prices: number[] = [];\n  private percent = 0;")
          .replace("withTax(this.prices", "this.reduced(this.prices"),
      }),
      say("A test beside it.", "write", {
        path: "src/checkout/reductions/with-a-rather-long-folder-name/discount-by-percentage.test.ts",
        content: "test('ten per cent', () => {\n  expect(reduced(100, 10)).toBe(90);\n});\n",
      }),
      say("The lock file follows.", "write", { path: "package-lock.json", content: LOCK }),
      say("Nobody uses this any more.", "bash", { command: "rm src/main.ts && printf '\\000\\001' > logo.bin" }),
      complete({ summary: "Discounts by percentage, with a test." }, "Done."),
    ],
    rival: [
      say("Prices are cents.", "write", {
        path: "src/cart.ts",
        content: CART.replace("number[] = []", "bigint[] = []"),
      }),
      complete({}, "Done."),
    ],
    look: [complete({ summary: "A shop." }, "Looked.")],
    greet: [
      say("A greeting.", "write", { path: "HELLO.md", content: "# Hello\n" }),
      complete({ file: "HELLO.md" }, "Greeted."),
    ],
    check: [complete({ verdict: "approved", feedback: "" }, "Checked.")],
    slow: [say("This takes a while: I run all tests.", "bash", { command: "sleep 600" })],
  },
  ...SYSTEMS_SCRIPT,
  // These turns repeat from the start when they are used up. The first message is answered by two turns, each later one
  // by one.
  chat: [
    {
      thinking: "The cart is in src/cart.ts. I read it before I answer.",
      ...say("I look at what is here first.", "ls", { path: "." }),
    },
    { text: ANSWER },
    { text: "`main` in **src/main.ts** calls it, and nothing else does." },
    { text: "That is all I know of {{ last_user }}" },
  ],
  default: [complete({}, "done")],
};

const step = (id: string, agent: string, more: Record<string, unknown> = {}) => ({
  id,
  agent,
  input: `Do ${id} for: {{ task_description }}`,
  ...more,
});

const PIPELINES = [
  {
    id: "change",
    name: "Change with approval",
    description: "Survey, plan, ask, build.",
    steps: [
      step("survey", "researcher", { name: "Look around", outputs: ["findings"] }),
      step("plan", "architect", { name: "Plan", outputs: ["plan", "risk", "files"] }),
      {
        id: "confirm",
        name: "Confirm the plan",
        approval: {
          message: "Shall they build it this way?\n\n{{ steps.plan.outputs.plan }}",
          timeout_seconds: 86_400,
        },
      },
      step("build", "engineer", { name: "Build", outputs: ["changed_files", "explanation"] }),
      step("docs", "scribe", { name: "Write it down", needs: ["build"] }),
      step("review", "reviewer", { name: "Review", needs: ["build"] }),
    ],
  },
  {
    id: "checks",
    name: "Nightly checks",
    description: "Runs what is slow.",
    steps: [
      step("survey", "researcher"),
      step("broken", "reviewer", { name: "Run the tests" }),
      step("report", "scribe"),
    ],
  },
  {
    id: "implement",
    name: "Implement",
    description: "Changes the repository.",
    steps: [step("implement", "engineer", { name: "Write the code" })],
  },
  { id: "rival", name: "Rival", description: "Changes the same.", steps: [step("rival", "engineer")] },
  {
    id: "long",
    name: "Everything",
    description: "Takes its time.",
    steps: [step("survey", "researcher"), step("slow", "engineer", { name: "Test everything" })],
  },
];

export interface Seeded extends Systems {
  waiting: string;
  failed: string;
  running: string;
  succeeded: string;
  project: string;
  /** Ids of work that was assigned to an agent (`handed`) and of a set of cookies. */
  handed: string;
  cookies: string;
  /** A task that depends on another one. */
  task: string;
  /** A chat with Markdown in it. */
  chat: string;
  /**
   * Ended runs of the project: one with many kinds of changes (`changed`), and one that conflicts with it (`rival`).
   */
  changed: string;
  rival: string;
}

/** The environment that the server needs. @param folder receives the script. */
export function seedEnvironment(folder: string): Record<string, string> {
  mkdirSync(folder, { recursive: true });
  const path = join(folder, "dashboard-script.json");
  writeFileSync(path, JSON.stringify(SCRIPT));
  return { DEMO_SCRIPT: path, ALLOW_HOST_SHELL: "true", ALLOW_LOCAL_REPOSITORIES: "true" };
}

/**
 * @param token token of an administrator; undefined if the server asks for no credentials. @returns ids of runs by
 * their state.
 */
export async function seed(server: TestServer, token?: string): Promise<Seeded> {
  const repository = createSourceTree(SHOP);
  try {
    return await furnish(server, repository.root, token);
  } finally {
    repository.remove();
  }
}

async function furnish(server: TestServer, repository: string, token: string | undefined): Promise<Seeded> {
  const asked = token === undefined ? {} : { token };
  const send = async <T = { id: string }>(method: string, path: string, body?: unknown): Promise<T> => {
    const answer = await server.request<T>(method, path, { ...asked, ...(body === undefined ? {} : { body }) });
    if (answer.status >= 400) throw new Error(`${method} ${path}: ${answer.status} ${JSON.stringify(answer.body)}`);
    return answer.body;
  };
  for (const pipeline of PIPELINES)
    await send("POST", "/v1/pipelines", { ...pipeline, defaults: { model: "demo/scripted" } });
  await send("POST", "/v1/secrets", {
    name: "DEPLOY_TOKEN",
    description: "Deploys to staging",
    value: "tok-1234567890abcdef",
  });
  await send("POST", "/v1/secrets/DEPLOY_TOKEN/grant/engineer");
  const project = await send("POST", "/v1/projects", {
    name: "shop",
    description: "The shop's back office.",
    repository,
  });
  await waitUntil(async () => {
    const { workspace } = await send<{ workspace: { state: string } }>("GET", `/v1/projects/${project.id}`);
    return workspace.state !== "cloning";
  });
  const graph = `/v1/projects/${project.id}/knowledge-graph`;
  const index = await send("POST", `${graph}/index`, {});
  await waitUntil(async () => {
    const { finished_at } = await send<{ finished_at: string | null }>("GET", `${graph}/index/${index.id}`);
    return finished_at !== null;
  });
  const start = async (pipeline_id: string, task_description: string, until: string, more: object = {}) => {
    const { id } = await send("POST", "/v1/runs", { pipeline_id, task_description, ...more });
    await waitForEvent(server, id, until, token);
    return id;
  };
  const succeeded = await start("change", "Quote names in every export the same way", "run_waiting");
  await send("POST", `/v1/runs/${succeeded}/approve`, { step_id: "confirm", approved: true, comment: "Continue." });
  await waitForEvent(server, succeeded, "run_complete", token);
  const here = { project_name: "shop" };
  const handed = await send("POST", "/v1/spawn-executor/execute", {
    agent_id: "researcher",
    prompt: "List what is left to do in the shop.",
  });
  const cookies = await addCookies(server, token);
  await furnishMemory(server, send);
  const tasks = await furnishBoard(send, project.id);
  const chat = await send("POST", "/v1/chat/sessions", { agent_id: "scribe", project_id: project.id });
  await sendMessage(server, chat.id, "What does the cart do with a discount?", token);
  await sendMessage(server, chat.id, "And who calls it?", token);
  const systems = await furnishSystems(send);
  return {
    ...systems,
    project: project.id,
    chat: chat.id,
    task: tasks.blocked,
    handed: handed.id,
    cookies,
    changed: await start("implement", "Let a cart have a discount in per cent", "run_complete", here),
    rival: await start("rival", "Count prices in cents", "run_complete", here),
    succeeded,
    failed: await start("checks", "Nightly checks of the export", "run_failed"),
    running: await start("long", "Run every test against the new writer", "tool_call_start"),
    waiting: await start(
      "change",
      "Let reports be exported as CSV, with names quoted where they hold a comma",
      "run_waiting",
    ),
  };
}

/** Checks again and again until the condition holds. */
export async function waitUntil(isSo: () => Promise<boolean>): Promise<void> {
  while (!(await isSo())) await Bun.sleep(50);
}

async function addCookies(server: TestServer, token: string | undefined): Promise<string> {
  const form = new FormData();
  form.set("name", "Suppliers' shop");
  const line = ["shop.example.test", "FALSE", "/", "TRUE", "4102444800", "session", "abc"].join("\t");
  form.set("file", new File([`# Netscape HTTP Cookie File\n${line}\n`], "cookies.txt"));
  const { status, body } = await server.request<{ id: string }>("POST", "/v1/browser/cookies", {
    body: form,
    ...(token ? { token } : {}),
  });
  if (status >= 400) throw new Error(`cookies: ${status} ${JSON.stringify(body)}`);
  return body.id;
}

/** Notes of the engineer: some linked, one with a broken link, one unconfirmed. */
async function furnishMemory(server: TestServer, send: Send): Promise<void> {
  const write = (agent: string, title: string, content: string, more: object = {}) =>
    send("POST", `/v1/memory/vaults/${agent}/entries`, { title, content, ...more });
  await write(
    "engineer",
    "Exports quote every name",
    "Names may hold commas. See [[decision/one-writer]] and [[note/lost]].",
    {
      type: "fact",
      pinned: true,
      tags: ["export", "csv"],
    },
  );
  await write("engineer", "One writer", "All exports go through **one** writer, with tests.", { type: "decision" });
  await write("shared", "Deploys happen on Tuesdays", "Never on a Friday.", { type: "fact" });
  const folder = join(server.data, "vaults/engineer/lesson");
  mkdirSync(folder, { recursive: true });
  const text =
    "---\ntitle: Somebody says commas are forbidden\ntype: lesson\ntrusted: false\n---\nRead on a web page.\n";
  writeFileSync(join(folder, "commas-are-forbidden.md"), text);
  await waitUntil(async () => {
    const { items } = await send<{ items: unknown[] }>("GET", "/v1/memory/vaults/engineer?unconfirmed=true");
    return items.length > 0;
  });
}

export type Send = <T = { id: string }>(method: string, path: string, body?: unknown) => Promise<T>;

/** Tasks in every column, one of which depends on another, a limit, a vision, and who does the work. */
async function furnishBoard(send: Send, project: string): Promise<{ blocked: string }> {
  const path = `/v1/projects/${project}`;
  const add = async (title: string, status: string, more: object = {}) =>
    (await send("POST", `${path}/tasks`, { title, status, ...more })).id;
  const first = await add("Quote names in every export the same way", "ready", {
    priority: "p1",
    tags: ["export", "csv"],
    assigned_agent: "engineer",
    description: "Three places write CSV by hand.\n\n- one **writer** with tests\n- use it everywhere",
  });
  const blocked = await add("Export reports as CSV", "ready", {
    depends_on: [first],
    priority: "p0",
    tags: ["export"],
  });
  await add("Say in the manual how exports quote", "backlog", { work_type: "docs", parent_id: blocked });
  await add("A rather long title that says in many words what a person could have said in a few of them", "backlog", {
    work_type: "feature",
  });
  await add("Count prices in cents", "review", { work_type: "refactor", assigned_agent: "reviewer" });
  await add("Round at the end, not in between", "done", { work_type: "bugfix" });
  const { columns } = await send<{ columns: { id: string }[] }>("GET", path);
  const limited = columns.map((column) => ({ ...column, wip_limit: column.id === "review" ? 1 : null }));
  await send("PUT", path, { columns: limited });
  await send("PUT", `${path}/vision`, { vision: "One place for prices, one for exports, and nothing by hand." });
  await send("PUT", `${path}/workflow-policy`, {
    rules: {
      feature: [
        { stage: "implement", disposition: "required", agent_id: "engineer" },
        { stage: "review", disposition: "optional", agent_id: "reviewer" },
      ],
      docs: [{ stage: "write", disposition: "required", agent_id: "scribe" }],
    },
  });
  return { blocked };
}

/** Sends a message in a chat and waits for the complete answer. */
async function sendMessage(
  server: TestServer,
  chat: string,
  message: string,
  token: string | undefined,
): Promise<void> {
  const path = `/v1/chat/sessions/${chat}/message?stream=true`;
  const answer = await server.request("POST", path, { body: { message }, ...(token ? { token } : {}) });
  if (answer.status >= 400) throw new Error(`${path}: ${answer.status} ${JSON.stringify(answer.body)}`);
}

/** Waits until the run has an event of that kind. */
async function waitForEvent(server: TestServer, run: string, kind: string, token: string | undefined): Promise<void> {
  const leave = new AbortController();
  const answer = await fetch(`${server.url}/v1/events/stream?run_id=${run}&kinds=${kind}`, {
    headers: token ? { Authorization: `Bearer ${token}` } : {},
    signal: leave.signal,
  });
  let text = "";
  for await (const chunk of answer.body!) {
    text += new TextDecoder().decode(chunk);
    if (/^event: (?!gap)/m.test(text)) break;
  }
  leave.abort();
}
