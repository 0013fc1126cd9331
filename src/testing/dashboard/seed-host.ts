/** A connected code host for the dashboard's pages: a project for its repository, rules, and a delivery. */
import { type CodeHostFake, signWebhook, WEBHOOK_SECRET } from "../code-host.ts";
import type { TestServer } from "../server.ts";

/** Environment for the server. */
export const HOST_ENVIRONMENT = { FETCH_ALLOW: "127.0.0.1" };

export async function furnishCodeHost(server: TestServer, host: CodeHostFake): Promise<void> {
  const send = async (method: string, path: string, body: unknown): Promise<{ id: string }> => {
    const answer = await server.request<{ id: string }>(method, path, { body });
    if (answer.status >= 400) throw new Error(`${method} ${path}: ${answer.status} ${JSON.stringify(answer.body)}`);
    return answer.body;
  };
  await send("PUT", "/v1/codehost/connection", {
    kind: "gitea",
    url: host.origin,
    token: "pat-token-0451",
    webhook_secret: WEBHOOK_SECRET,
  });
  const project = await send("POST", "/v1/projects", { name: "shop on the host", repository: host.clone });
  const rule = { project_id: project.id, pipeline_id: "feature" };
  await send("POST", "/v1/codehost/rules", {
    ...rule,
    name: "Labelled issues",
    event: "issue_labeled",
    label: "agent",
  });
  await send("POST", "/v1/codehost/rules", {
    ...rule,
    name: "Asked for in a comment",
    event: "issue_comment",
    command: "/skep",
    permission: "admin",
    bots: ["renovate[bot]"],
    enabled: false,
  });
  const number = host.newNumber();
  host.issues.set(number, { title: "Too low", body: "", user: "stranger", labels: ["agent"], state: "open" });
  const body = JSON.stringify({
    action: "opened",
    issue: { number },
    repository: { full_name: host.repository },
    sender: { login: "stranger" },
  });
  await server.request("POST", "/v1/codehost/webhooks", { body, headers: signWebhook("gitea", "issues", body) });
}
