/** Hostile text in what a team writes, and in the services that it is connected to. */
import { signWebhook, WEBHOOK_SECRET } from "../code-host.ts";
import type { Bad, HostileDeps, Send } from "./hostile-sender.ts";
import { waitUntil } from "./seed.ts";

export async function furnishPapers(send: Send, bad: Bad): Promise<string[]> {
  const vault = "/v1/memory/vaults/hostile/entries";
  const entry = await send("POST", vault, { title: bad(200), content: bad(), tags: [bad(50, { tight: true })] });
  const linked = await send("POST", vault, {
    title: bad(200),
    content: `[[${entry.id}]] [[${bad(60, { name: true })}]]`,
  });
  const document = await send("POST", "/v1/ingest/document", {
    title: bad(300),
    content: `# ${bad(200)}\n\n${bad()}\n\n## ${bad(200)}\n\nEnd.`,
    media_type: "text/markdown",
  });
  const html = await send("POST", "/v1/ingest/document", {
    title: bad(300),
    content: `<h1>${bad(20)}</h1><p>${bad()}</p>`,
    media_type: "text/html",
  });
  const transcript = await send<{ document_id: string }>("POST", "/v1/ingest/transcript", {
    title: bad(300),
    participants: [bad(200)],
    tags: [bad(50, { tight: true })],
    segments: [{ speaker: bad(200), text: bad(), at: bad(40) }],
  });
  const form = new FormData();
  form.set("name", bad(256));
  const line = ["shop.example.test", "FALSE", "/", "TRUE", "4102444800", "session", "abc"].join("\t");
  form.set("file", new File([`# Netscape HTTP Cookie File\n${line}\n`], "cookies.txt"));
  const cookies = await send("POST", "/v1/browser/cookies", form);
  const papers = [document.id, html.id];
  for (const id of papers)
    await waitUntil(async () => (await send<{ status: string }>("GET", `/v1/documents/${id}`)).status !== "processing");
  return [
    "/memory",
    "/memory/hostile",
    "/memory/hostile?tab=links",
    "/memory?q=alert",
    ...[entry.id, linked.id].map((id) => `/memory/hostile?entry=${encodeURIComponent(id)}`),
    "/documents",
    "/documents?q=alert",
    ...papers.map((id) => `/documents/${id}`),
    `/documents/${transcript.document_id}`,
    "/cookies",
    `/cookies?set=${cookies.id}`,
  ];
}

export async function furnishConnections(send: Send, bad: Bad, deps: HostileDeps, project: string): Promise<string[]> {
  const { host, marks, models, server } = deps;
  await send("POST", "/v1/mcp", {
    id: "away",
    name: bad(256),
    transport: "http",
    url: `${models.origin}/mcp`,
    enabled: false,
    headers: { "X-A": "plain" },
    oauth: { client_id: bad(), issuer: models.origin },
  });
  await send("POST", "/v1/mcp", {
    id: "local",
    transport: "stdio",
    command: bad(),
    args: [bad()],
    env: { A: bad() },
    enabled: false,
  });
  await send("PUT", "/v1/codehost/connection", {
    kind: "gitea",
    url: host.origin,
    token: "pat-token-0451",
    webhook_secret: WEBHOOK_SECRET,
  });
  const rule = { project_id: project, pipeline_id: "feature", event: "issue_opened" };
  const hosted = await send("POST", "/v1/projects", { name: "hosted", repository: host.clone });
  await send("POST", "/v1/codehost/rules", { ...rule, project_id: hosted.id, name: bad(256) });
  await send("POST", "/v1/codehost/rules", {
    ...rule,
    project_id: hosted.id,
    name: bad(256),
    event: "issue_labeled",
    label: bad(250),
    enabled: false,
  });
  const number = host.newNumber();
  const login = "alice";
  host.permissions.set(login, "write");
  host.issues.set(number, {
    title: marks.text("code host: title"),
    body: marks.text("code host: body"),
    user: login,
    labels: ["agent"],
    state: "open",
  });
  const body = JSON.stringify({
    action: "opened",
    issue: { number },
    repository: { full_name: host.repository },
    sender: { login },
  });
  await server.request("POST", "/v1/codehost/webhooks", { body, headers: signWebhook("gitea", "issues", body) });
  let run: string | null = null;
  await waitUntil(async () => {
    const { items } = await send<{ items: { run_id: string | null }[] }>("GET", "/v1/codehost/deliveries");
    run = items[0]?.run_id ?? null;
    return run !== null;
  });
  models.get("/hook", {}, 500);
  const channel = await send("POST", "/v1/notification-channels", {
    kind: "webhook",
    name: bad(256),
    url: `${models.origin}/hook`,
    on: ["failed"],
  });
  await send("POST", `/v1/notification-channels/${channel.id}/test`).catch(() => {});

  await send("POST", "/v1/messengers", {
    kind: "telegram",
    name: bad(100),
    token: "1:hostile",
    enabled: false,
  });

  return [
    "/tool-servers",
    "/tool-servers/odd",
    "/tool-servers/away",
    "/tool-servers/local",
    "/code-host",
    "/code-host?tab=rules",
    "/code-host?tab=deliveries",
    "/code-host?tab=repositories",
    "/notifications",
    `/notifications?channel=${channel.id}`,
    "/notifications?tab=notices",
    "/notifications?tab=messengers",
    "/setup",
    `/runs/${run}`,
  ];
}
