import { BUN, ODD_SERVER } from "../mcp/image.ts";
import type { Hostile } from "./hostile-marks.ts";
import { furnishConnections, furnishPapers } from "./hostile-papers.ts";
import { type Bad, createSender, type HostileDeps, type Send } from "./hostile-sender.ts";
import { waitUntil } from "./seed.ts";

/** @returns the pages that show the hostile texts. */
export async function furnishHostile(deps: HostileDeps): Promise<string[]> {
  const send = createSender(deps);
  const bad = (max?: number, more: Hostile = {}) => deps.marks.text("", { ...more, ...(max ? { max } : {}) });
  const team = await furnishTeam(send, bad, deps);
  await startToolServer(send, bad, deps);

  const project = await furnishProject(send, bad, deps);
  const all = await Promise.all([
    furnishRuns(send, bad, project),
    furnishTalks(send, bad, deps, project.id),
    furnishPapers(send, bad),
    furnishConnections(send, bad, deps, project.id),
  ]);
  return [...team, ...project.pages, ...all.flat()];
}

async function furnishTeam(send: Send, bad: Bad, { models }: HostileDeps): Promise<string[]> {
  await send("POST", "/v1/agents", {
    id: "hostile",
    name: bad(256),
    emoji: bad(16),
    role: bad(256),
    description: bad(),
    prompt: bad(),
    model: "demo/scripted",
    permissions: [{ deny: { tool: "fetch", matches: bad(200) } }],
  });
  await send("POST", "/v1/agents", { id: "worker", prompt: "You work.", model: "demo/scripted" });
  const skill = { name: "hostile", description: bad(), content: bad(), tags: [bad(100)] };
  await send("POST", "/v1/skills", skill);
  await send("PUT", "/v1/settings/providers/custom-evil", {
    kind: "openai-compatible",
    base_url: `${models.origin}/v1`,
    name: bad(256),
    api_key: "sk-evil-1234567890",
    enabled: true,
    models: [{ id: "plain" }, { id: bad(250, { tight: true }), name: bad(256) }],
  });
  await send("POST", "/v1/users", { email: "hostile@example.test", display_name: bad(256, { name: true }) });
  await send("POST", "/v1/auth/api-keys", { name: bad(256) });
  await send("POST", "/v1/auth/oidc", {
    slug: "evil",
    name: bad(256),
    issuer: models.origin,
    client_id: bad(256),
    client_secret: "secret-of-evil",
    scopes: ["openid"],
    role_claim: bad(256),
    admin_values: [bad(256)],
    button: { label: bad(64) },
  });
  await send("POST", "/v1/secrets", { name: "HOSTILE", description: bad(), value: "tok-1234567890abcdef" });
  await send("PUT", "/v1/admin/tts-settings", {
    enabled: true,
    provider: "espeak-ng",
    voice_id: bad(250),
    model: bad(250),
  });
  await send("PUT", "/v1/agents/hostile/tts-settings", { enabled: true, voice_id: bad(250), model: bad(250) });
  const script = (name: string) => [{ path: name, content: btoa("exit 0") }];
  const tried = await send("POST", "/v1/evals", {
    name: bad(200),
    oracle: true,
    tasks: [{ name: "one", instruction: "Solve it.", tests: script("test.sh"), solution: script("solve.sh") }],
  });
  return [
    "/evals",
    `/evals/${tried.id}`,
    "/agents",
    "/agents/hostile",
    ...["config", "tools", "secrets", "voice"].map((tab) => `/agents/hostile?tab=${tab}`),
    "/skills",
    "/skills/hostile",
    "/providers",
    "/providers?provider=custom-evil",
    "/users",
    "/users?tab=sign-on",
    "/account",
    "/secrets",
    "/voice",
    "/settings",
    "/settings?tab=models",
    "/system?tab=audit",
    "/system?tab=requests",
    "/usage",
  ];
}

async function startToolServer(send: Send, bad: Bad, { marks }: HostileDeps): Promise<void> {
  await send("POST", "/v1/mcp", {
    id: "odd",
    name: bad(256),
    description: bad(),
    transport: "stdio",
    command: BUN,
    agents: ["*"],
    args: [ODD_SERVER, `--words=${marks.text("tool server: its words")}`],
  });
  await waitUntil(async () => (await send<{ status: string }>("GET", "/v1/mcp/odd")).status === "running");
}

async function furnishProject(send: Send, bad: Bad, { repository }: HostileDeps) {
  const name = bad(250, { name: true });
  const { id } = await send("POST", "/v1/projects", {
    name,
    description: bad(),
    repository: repository.root,
    check: bad(2_000),
    scip_path: bad(400, { name: true }),
  });
  const path = `/v1/projects/${id}`;
  const waitForClone = (address: string) =>
    waitUntil(async () => {
      const { workspace } = await send<{ workspace: { state: string } }>("GET", address);
      return workspace.state !== "cloning";
    });
  await waitForClone(path);
  // An environment's check replaces that of the project, so use another project.
  const { id: other } = await send("POST", "/v1/projects", { name: "other", repository: repository.root });
  await waitForClone(`/v1/projects/${other}`);
  await send("PUT", `/v1/projects/${other}/environment`, {
    definition: { setup: bad(2_000, { name: true }), check: bad(2_000, { name: true }) },
  });
  const index = await send("POST", `${path}/knowledge-graph/index`, {});
  await send("PUT", `${path}/vision`, { vision: bad() });
  const { columns } = await send<{ columns: { id: string }[] }>("GET", path);
  await send("PUT", path, { columns: columns.map((one, at) => (at ? one : { ...one, name: bad(60) })) });
  const { id: task } = await send("POST", `${path}/tasks`, {
    title: bad(500),
    description: bad(),
    tags: [bad(50, { tight: true })],
    metadata: { note: bad() },
  });
  await send("POST", `${path}/tasks/${task}/transition`, { status: "ready", note: bad(2_000), force: true });
  await send("POST", `${path}/tasks/import`, { tasks: [{ key: bad(100), title: bad(500), description: bad() }] });
  await waitUntil(async () => {
    const { finished_at } = await send<{ finished_at: string | null }>(
      "GET",
      `${path}/knowledge-graph/index/${index.id}`,
    );
    return finished_at !== null;
  });
  const graph = `/projects/${id}/graph`;
  const pages = [
    "/projects",
    `/projects/${id}`,
    `/projects/${other}`,
    "/board",
    `/board?project=${id}`,
    `/projects/${id}/tasks/${task}`,
    `/projects/${id}/policy`,
    `${graph}?tab=symbols&q=first`,
    `${graph}?tab=symbols&symbol=first`,
    ...["map", "changes", "clusters", "flows"].map((tab) => `${graph}?tab=${tab}`),
  ];
  return { id, name, pages };
}

async function furnishRuns(send: Send, bad: Bad, project: { id: string; name: string }): Promise<string[]> {
  // Text that looks like a template is treated as one and refused; the hostile texts contain none.
  const defaults = { model: "demo/scripted" };
  const step = (id: string) => ({ id, agent: "hostile", input: bad(), name: bad(200) });
  await send("POST", "/v1/pipelines", {
    id: "hostile",
    name: bad(256),
    description: bad(),
    defaults,
    inputs: { what: { description: bad(), required: true } },
    steps: [
      { ...step("talk"), outputs: ["findings"] },
      { id: "ok", name: bad(200), approval: { message: bad() } },
    ],
  });
  const failing = [
    step("tools"),
    step("fail"),
    step("unknown"),
    { id: "cmd", run: `echo '${bad(100)}'; exit 3`, name: bad(200) },
  ];
  for (const one of failing)
    await send("POST", "/v1/pipelines", { id: one.id, name: bad(256), defaults, steps: [one] });
  await send("POST", "/v1/pipelines", {
    id: "refused",
    name: bad(256),
    defaults: { model: "custom-evil/plain" },
    steps: [step("asked")],
  });
  const waitForStatus = (id: string, state: string) =>
    waitUntil(async () => {
      const { status, error } = await send<{ status: string; error: unknown }>("GET", `/v1/runs/${id}`);
      if (/succeeded|failed/.test(status) && status !== state) throw new Error(`${status}: ${JSON.stringify(error)}`);
      return status === state;
    });
  const start = async (pipeline_id: string, state: string, more: object = {}) => {
    const body = { pipeline_id, task_description: bad(), human_context: bad(), ...more };
    const { id } = await send("POST", "/v1/runs", body);
    await waitForStatus(id, state);
    return id;
  };
  const inputs = { what: bad() };
  const [waiting, answered, ...others] = await Promise.all([
    start("hostile", "waiting", { inputs, project_name: project.name }),
    start("hostile", "waiting", { inputs, project_name: project.name }),
    start("tools", "succeeded"),
    ...["fail", "unknown", "cmd"].map((id) => start(id, "failed")),

    start("refused", "failed"),
  ]);
  await send("POST", `/v1/runs/${answered}/approve`, { step_id: "ok", approved: true, comment: bad() });
  await waitForStatus(answered, "succeeded");
  const { items } = await send<{ items: { path: string }[] }>("GET", `/v1/runs/${answered}/diff`);
  await send("POST", `/v1/runs/${answered}/comments`, { path: items[0]!.path, line: 1, side: "new", body: bad() });
  const tasks = `/v1/projects/${project.id}/tasks`;
  const task = await send("POST", tasks, { title: "Asked in other words" });
  const asked = await send("POST", `${tasks}/${task.id}/execute`, { pipeline_id: "fail", task_description: bad() });
  await waitForStatus(asked.id, "failed");
  const handed = await send("POST", "/v1/spawn-executor/execute", { agent_id: "worker", prompt: bad() });
  await send("PATCH", "/v1/preferences", { "runs.filters": [{ name: bad(60), query: "status=failed" }] }).catch(
    () => {},
  );
  return [
    "/",
    "/runs",
    `/runs/new?pipeline=hostile`,
    "/pipelines",
    "/pipelines/hostile",
    `/runs/${waiting}`,
    `/runs/${waiting}?step=talk`,
    `/runs/${waiting}?step=ok`,
    `/runs/${answered}?step=ok`,
    ...["graph", "steps", "result", "changes"].map((tab) => `/runs/${answered}?tab=${tab}`),
    ...others.map((id) => `/runs/${id}?tab=steps`),
    `/runs/${asked.id}`,
    "/pipelines/refused",
    ...failing.map(({ id }) => `/pipelines/${id}`),
    "/activity",
    "/activity?tab=handed",
    `/activity?tab=handed&work=${handed.id}`,
    "/jobs",
    "/swarms",
  ];
}

async function furnishTalks(send: Send, bad: Bad, { server, token }: HostileDeps, project: string): Promise<string[]> {
  const chat = await send("POST", "/v1/chat/sessions", { agent_id: "hostile", title: bad(200), project_id: project });
  const form = new FormData();
  form.set("file", new File(["Text."], `${bad(100, { name: true })}.txt`, { type: "text/plain" }));
  const attachment = await send("POST", "/v1/attachments/upload", form);
  await send("POST", `/v1/chat/sessions/${chat.id}/message?stream=true`, {
    message: bad(),
    attachment_ids: [attachment.id],
  });
  const onboarding = await send("POST", "/v1/onboarding/sessions", {});
  await send("POST", `/v1/onboarding/sessions/${onboarding.id}/message?stream=true`, {
    message: bad(200, { name: true }),
  });
  const routine = await send("POST", "/v1/pulse-routines/hostile", {
    name: bad(100),
    description: bad(1_000),
    instructions: bad(),
    schedule: "0 9 * * mon",
    enabled: false,
  });
  const swarm = await send("POST", "/v1/swarm/execute", {
    agent_id: "hostile",
    tasks: [{ key: "one", title: bad(200), prompt: bad() }],
  });
  await waitUntil(
    async () => (await send<{ finished_at: string | null }>("GET", `/v1/swarm/${swarm.id}`)).finished_at !== null,
  );
  await server.request("GET", "/v1/status", { token });
  return [
    "/chat",
    `/chat/${chat.id}`,
    "/onboarding",
    `/onboarding/${onboarding.id}`,
    "/routines",
    "/routines?tab=calendar",
    `/routines/hostile/${routine.id}`,
    `/swarms/${swarm.id}`,
  ];
}
