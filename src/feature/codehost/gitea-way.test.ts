/** The whole cycle with Gitea's API and webhooks, in the form that Gitea and Forgejo use. */
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from "bun:test";
import { createHmac } from "node:crypto";
import { type CodeHostFake, signWebhook, startCodeHost, WEBHOOK_SECRET } from "../../testing/code-host.ts";
import { framesOf, framesUntil } from "../../testing/event-reader.ts";
import { DONE, type MeteredServer, MODEL, startMeteredServer } from "../../testing/metered-server.ts";
import { reply } from "../../testing/model-server.ts";
import type { Project } from "../projects/model.ts";
import type { RunComment } from "../reviews/comment-model.ts";
import type { Run } from "../runs/model.ts";
import type { Task } from "../tasks/model.ts";
import type { Delivery, WebhookAnswer } from "./model.ts";

setDefaultTimeout(300_000);

let host: CodeHostFake;
let metered: MeteredServer;
let project: Project;
beforeAll(async () => {
  host = await startCodeHost({ kind: "gitea" });
  metered = await startMeteredServer({ ...host.env(), PUBLIC_URL: "http://127.0.0.1:1" });
  host.permissions.set("alice", "write");
  await must("POST", "/v1/agents", { id: "worker", prompt: "You work.", model: MODEL });
  const steps = [{ id: "work", agent: "worker", input: "{{ task_description }}\n{{ human_context }}" }];
  await must("POST", "/v1/pipelines", { id: "fix", name: "fix", steps });
  project = await must<Project>("POST", "/v1/projects", { name: "shop", repository: host.clone });
  await event("workspace_changed", ({ data }) => data["project_id"] === project.id);
  const rule = { name: "labels", event: "issue_labeled", label: "agent" };
  await must("POST", "/v1/codehost/rules", { ...rule, project_id: project.id, pipeline_id: "fix" });
});
afterAll(async () => {
  await metered.remove();
  await host.stop();
});

async function must<T = Record<string, unknown>>(method: string, path: string, body?: unknown): Promise<T> {
  const answer = await metered.call<T>(method, path, body);
  if (answer.status >= 300) throw new Error(`${method} ${path}: ${answer.status} ${JSON.stringify(answer.body)}`);
  return answer.body;
}
type Frame = { data: Record<string, unknown> };
const event = async (kind: string, fits: (frame: Frame) => boolean) =>
  framesUntil(framesOf(metered.server, `/v1/events/stream?after=0&kinds=${kind}`, metered.admin.token), fits);
const inside = ({ data }: Frame) => data["data"] as Record<string, unknown>;

const userOf = (login: string) => ({
  id: 7,
  login,
  full_name: "",
  email: `${login}@noreply.localhost`,
  username: login,
});
const repository = () => ({ id: 3, owner: userOf("octo"), name: "shop", full_name: host.repository, private: true });
const send = (name: string, payload: object, headers: (body: string) => Record<string, string>) => {
  const body = JSON.stringify({ ...payload, repository: repository(), at: name });
  return metered.server.request<WebhookAnswer>("POST", "/v1/codehost/webhooks", { body, headers: headers(body) });
};
/** @param type which Gitea adds to distinguish the outcomes of a review. */
async function deliver(name: string, payload: object, type = name): Promise<Delivery> {
  const answer = await send(name, payload, (body) => ({
    ...signWebhook("gitea", name, body),
    "X-Gitea-Event-Type": type,
  }));
  expect([name, answer.status]).toEqual([name, 202]);
  const { id } = answer.body;
  await event("codehost_delivery", (one) => inside(one)["delivery_id"] === id && inside(one)["state"] !== "queued");
  const { items } = await must<{ items: Delivery[] }>("GET", "/v1/codehost/deliveries?limit=200");
  return items.find((one) => one.id === id)!;
}

test("issue labelled → run → pull request → review → another attempt → merged → task done", async () => {
  const number = host.newNumber();
  const issue = {
    title: "Prices are wrong",
    body: "Too low.",
    user: "alice",
    labels: ["agent"],
    state: "open",
  } as const;
  host.issues.set(number, { ...issue, labels: ["agent"] });
  const write = (content: string) => reply({ toolCalls: [{ name: "write", input: { path: "price.txt", content } }] });
  metered.models.next(write("10\n"), reply(DONE), write("12\n"), reply(DONE));
  const labels = [{ id: 1, name: "agent", color: "e11d21", description: "", url: "" }];
  const shown = { id: 90, number, user: userOf("alice"), title: issue.title, body: issue.body, labels, state: "open" };
  const labelled = { action: "label_updated", number, issue: shown, sender: userOf("alice"), commit_id: "" };
  const { state, run_id } = await deliver("issues", labelled, "issue_label");
  expect([state, run_id]).toEqual(["done", expect.stringMatching(/^run_/)]);
  const pull = await host.until(() => [...host.pulls.keys()].at(-1));
  expect(host.pulls.get(pull)).toMatchObject({ head: `run/${run_id}`, base: "main", state: "open" });
  await host.until(() => host.comments.get(number)?.find(({ body }) => body.includes(`#${pull}`)));

  host.reviewComments.set(pull, [
    { id: 2, user: "alice", body: "Not yet.", path: null, line: null },
    { id: 1, user: "alice", body: "Make it 12.", path: "price.txt", line: 1 },
  ]);
  const at = { number: pull, pull_request: { id: 91, number: pull, user: userOf("alice"), merged: false } };
  const review = { type: "pull_request_review_rejected", content: "Not yet." };
  const reviewed = { action: "reviewed", ...at, review, sender: userOf("alice"), requested_reviewer: null };
  const said = await deliver("pull_request_rejected", reviewed, "pull_request_review_rejected");
  expect(said).toMatchObject({ state: "done", run_id, detail: expect.stringContaining("Another attempt follows") });
  await host.until(
    () => Bun.spawnSync(["git", "-C", host.bare, "show", `run/${run_id}:price.txt`]).stdout.toString() === "12\n",
  );
  const { items } = await must<{ items: RunComment[] }>("GET", `/v1/runs/${run_id}/comments`);
  expect(items).toContainEqual(expect.objectContaining({ codehost_login: "alice", path: "price.txt", line: 1 }));

  host.merge(pull);
  expect(await deliver("pull_request", { action: "closed", ...at, sender: userOf("alice") })).toMatchObject({ run_id });
  expect(await must<Run>("GET", `/v1/runs/${run_id}`)).toMatchObject({ merged_into: "main" });
  const tasks = await must<{ items: Task[] }>("GET", `/v1/projects/${project.id}/tasks`);
  expect(tasks.items.map(({ status }) => status)).toEqual(["done"]);
});

test("a push fetches the project; Forgejo's signature alone counts where it is sent", async () => {
  const commit = host.commit("pushed.txt", "pushed\n");
  const pushed = {
    ref: "refs/heads/main",
    before: "0".repeat(40),
    after: commit,
    commits: [],
    pusher: userOf("alice"),
  };
  expect(await deliver("push", pushed)).toMatchObject({ state: "done", detail: `${project.id} is fetched` });
  const forgejo = (secret: string) => (body: string) => ({
    ...signWebhook("gitea", "push", body),
    "X-Forgejo-Signature": createHmac("sha256", secret).update(body).digest("hex"),
  });
  expect((await send("one", pushed, forgejo("another-secret"))).status).toBe(401);
  expect((await send("two", pushed, forgejo(WEBHOOK_SECRET))).status).toBe(202);
});

test("deliveries out of order and late do nothing wrong: what counts is what the host says now", async () => {
  const late = host.newNumber();
  host.issues.set(late, { title: "x", body: "", user: "alice", labels: ["agent"], state: "closed" });
  const shown = { id: 92, number: late, user: userOf("alice"), labels: [{ name: "agent" }], state: "open" };
  const labelled = { action: "label_updated", number: late, issue: shown, sender: userOf("alice") };
  expect(await deliver("issues", labelled, "issue_label")).toMatchObject({ state: "ignored", detail: "It is closed." });
  const [pull] = [...host.pulls.keys()];
  const reopened = { action: "closed", number: pull, pull_request: { number: pull }, sender: userOf("alice") };
  const open = host.pulls.get(pull!)!;
  Object.assign(open, { state: "open", merged: false });
  expect(await deliver("pull_request", reopened)).toMatchObject({ detail: "The pull request is open again." });
});
