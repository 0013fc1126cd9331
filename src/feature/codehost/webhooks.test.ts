/**
 * Webhooks with GitHub's own example payloads: each is accepted once, a job acts on it, and it is refused without a
 * signature.
 */
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import examples from "@octokit/webhooks-examples";
import { type CodeHostFake, signWebhook, startCodeHost } from "../../testing/code-host.ts";
import { framesOf, framesUntil } from "../../testing/event-reader.ts";
import { startServer, type TestServer } from "../../testing/server.ts";
import type { Project } from "../projects/model.ts";
import type { AppStatus, Delivery, HostRepository, WebhookAnswer } from "./model.ts";

// A long timeout for busy machines; no test waits for a clock.
setDefaultTimeout(300_000);

let host: CodeHostFake;
let server: TestServer;
let bare: TestServer;
beforeAll(async () => {
  host = await startCodeHost();
  [server, bare] = await Promise.all([startServer({ env: host.env() }), startServer()]);
});
afterAll(async () => {
  await Promise.all([server.remove(), bare.remove()]);
  await host.stop();
});

const WEBHOOKS = "/v1/codehost/webhooks";
/** GitHub's example of that event, changed to name the test's repository. */
function example(name: string, action?: string): Record<string, unknown> {
  const found = examples.find((one) => one.name === name)!.examples as unknown as Record<string, unknown>[];
  const one = structuredClone(found.find((payload) => action === undefined || payload["action"] === action)!);
  return { ...one, repository: { ...(one["repository"] as object), full_name: host.repository } };
}
const send = (body: string, headers: Record<string, string>, to = server) =>
  to.request<WebhookAnswer & { code: string }>("POST", WEBHOOKS, { body, headers });
const deliver = (event: string, payload: object, id?: string) => {
  const body = JSON.stringify(payload);
  return send(body, signWebhook("github", event, body, id));
};
const itemsOf = async <T>(path: string) => (await server.request<{ items: T[] }>("GET", path)).body.items;

/** The delivery, once its event says that it was acted on. */
async function waitForDelivery(id: string | null): Promise<Delivery> {
  const frames = framesOf(server, "/v1/events/stream?after=0&kinds=codehost_delivery");
  await framesUntil(frames, ({ data }) => {
    const { delivery_id, state } = data["data"] as Record<string, unknown>;
    return delivery_id === id && state !== "queued";
  });
  return (await itemsOf<Delivery>("/v1/codehost/deliveries?limit=200")).find((one) => one.id === id)!;
}
const headOf = (id: string, isWanted: (commit: unknown) => boolean) =>
  framesUntil(
    framesOf(server, "/v1/events/stream?after=0&kinds=workspace_changed"),
    ({ data }) => data["project_id"] === id && isWanted((data["data"] as Record<string, unknown>)["commit"]),
  );
const projectOf = async (id: string) => (await server.request<Project>("GET", `/v1/projects/${id}`)).body;
async function cloneProject(name: string): Promise<Project> {
  const body = { name, repository: host.clone };
  const { id } = (await server.request<Project>("POST", "/v1/projects", { body })).body;
  await headOf(id, () => true);
  return projectOf(id);
}

describe("webhooks", () => {
  test("a push is answered at once, the project is fetched and its workspace changes", async () => {
    const { id, workspace } = await cloneProject("pushed");
    const commit = host.commit("pushed.txt", "pushed\n");
    expect(workspace.head).not.toBe(commit);
    const answer = await deliver("push", { ...example("push"), ref: "refs/heads/main", after: commit });
    expect([answer.status, answer.body.status]).toEqual([202, "accepted"]);
    expect(await waitForDelivery(answer.body.id)).toMatchObject({
      event: "push",
      repository: host.repository,
      state: "done",
      detail: `${id} is fetched`,
      error: null,
    });
    await headOf(id, (head) => head === commit);
    expect((await projectOf(id)).workspace.head).toBe(commit);
  });

  test("a signed delivery of 300,000 lists is refused in a sentence, and none is written down", async () => {
    const before = await itemsOf<Delivery>("/v1/codehost/deliveries?limit=200");
    const body = `{"a":[${"[],".repeat(300_000)}[]]}`;
    expect(await send(body, signWebhook("github", "push", body))).toMatchObject({
      status: 400,
      body: {
        code: "too_much_json",
        detail: expect.stringContaining("The body is made of more than 100000 values."),
      },
    });
    expect(await itemsOf<Delivery>("/v1/codehost/deliveries?limit=200")).toEqual(before);
  });

  test("the same delivery, and the same body under another id, are done once", async () => {
    const payload = { ...example("push"), ref: "refs/heads/run/run_x", after: "once" };
    const first = await deliver("push", payload, "delivery-1");
    expect(first.body.status).toBe("ignored");
    const body = { status: "duplicate", id: first.body.id };
    expect(await deliver("push", payload, "delivery-1")).toMatchObject({ status: 200, body });
    expect(await deliver("push", payload, "delivery-2")).toMatchObject({ status: 200, body });
    expect(await deliver("push", { ...payload, after: "twice" }, "delivery-1")).toMatchObject({ status: 200, body });
    const [row] = await itemsOf<Delivery>("/v1/codehost/deliveries?limit=1");
    expect(row).toMatchObject({ id: first.body.id, state: "ignored", detail: "The branch of a run was pushed." });
  });

  test("what concerns no project and no rule is noted, and needs no job", async () => {
    // The server's own jobs, which may run meanwhile, are left out.
    const jobs = async () => {
      const all = await itemsOf<{ id: string; kind: string }>("/v1/jobs?limit=200");
      return all.filter(({ kind }) => kind === "codehost_delivery").map(({ id }) => id);
    };
    const before = await jobs();
    const elsewhere = { ...example("push"), ref: "refs/heads/main", repository: { full_name: "octo/elsewhere" } };
    const answers = [await deliver("push", elsewhere), await deliver("issues", example("issues", "opened"))];
    expect(answers.map(({ status, body }) => [status, body.status])).toEqual([
      [200, "ignored"],
      [200, "ignored"],
    ]);
    const rows = await itemsOf<Delivery>("/v1/codehost/deliveries?limit=2");
    expect(rows.map(({ detail, finished_at }) => [detail, finished_at !== null])).toEqual([
      ["No rule is about this.", true],
      ["No project has the repository octo/elsewhere.", true],
    ]);
    expect(await jobs()).toEqual(before);
  });

  test("twenty deliveries of one body at the same time leave one row", async () => {
    const payload = { ...example("push"), ref: "refs/heads/run/run_y", after: "many" };
    const answers = await Promise.all(Array.from({ length: 20 }, () => deliver("push", payload)));
    expect(answers.filter(({ body }) => body.status === "ignored").length).toBe(1);
    expect(new Set(answers.map(({ body }) => body.id)).size).toBe(1);
  });

  test("every example of GitHub's is taken, none fails, and no text of it is kept", async () => {
    const ids: (string | null)[] = [];
    for (const { name, examples: given } of examples)
      for (const one of given as unknown as Record<string, unknown>[]) {
        const { status, body } = await deliver(name, one);
        expect([name, one["action"], status]).toEqual([name, one["action"], 200]);
        ids.push(body.id);
      }
    expect(new Set(ids).size).toBeGreaterThan(50);
    expect(JSON.stringify(await itemsOf("/v1/codehost/deliveries?limit=200"))).not.toContain("You are totally right");
  });

  test("the event that a header names must be the one that was signed", async () => {
    for (const [event, payload] of [
      ["pull_request", example("issues", "labeled")],
      ["issues", example("issue_comment", "created")],
      ["issue_comment", example("pull_request", "closed")],
      ["push", example("issues", "opened")],
      ["pull_request_review", example("pull_request", "opened")],
      ["issues", {}],
      ["issues", []],
    ] as [string, object][])
      expect([event, (await deliver(event, payload)).status]).toEqual([event, 422]);
  });
});

describe("A24: what is not signed by the host", () => {
  const body = JSON.stringify({ ref: "refs/heads/main" });
  const good = () => signWebhook("github", "push", body);
  const without = (name: string) => Object.fromEntries(Object.entries(good()).filter(([one]) => one !== name));

  test("without a secret every delivery is refused", async () => {
    expect(await send(body, good(), bare)).toMatchObject({ status: 503, body: { code: "codehost_not_configured" } });
  });

  test.each([
    ["no signature", () => without("X-Hub-Signature-256")],
    ["an empty one", () => ({ ...good(), "X-Hub-Signature-256": "" })],
    [
      "another prefix",
      () => ({ ...good(), "X-Hub-Signature-256": good()["X-Hub-Signature-256"]!.replace("sha256", "sha1") }),
    ],
    ["no prefix", () => ({ ...good(), "X-Hub-Signature-256": good()["X-Hub-Signature-256"]!.slice(7) })],
    ["half of it", () => ({ ...good(), "X-Hub-Signature-256": good()["X-Hub-Signature-256"]!.slice(0, 39) })],
    ["letters outside ASCII", () => ({ ...good(), "X-Hub-Signature-256": `sha256=${"é".repeat(64)}` })],
    ["of another body", () => signWebhook("github", "push", `${body} `)],
    ["SHA-1 alone", () => ({ ...without("X-Hub-Signature-256"), "X-Hub-Signature": "sha1=00" })],
    ["Gitea's header on GitHub", () => signWebhook("gitea", "push", body)],
  ] as [string, () => Record<string, string>][])("a signature that is %s is 401", async (_, headers) => {
    expect(await send(body, headers())).toMatchObject({ status: 401, body: { code: "bad_signature" } });
  });

  test("signed, but no id, no event, no JSON, or another type is refused", async () => {
    expect((await send(body, without("X-GitHub-Delivery"))).status).toBe(400);
    expect((await send(body, without("X-GitHub-Event"))).status).toBe(400);
    for (const text of ["{", "", '"\\ud800'])
      expect((await send(text, signWebhook("github", "push", text))).status).toBe(400);
    expect((await send(body, { ...good(), "Content-Type": "application/x-www-form-urlencoded" })).status).toBe(415);
  });

  test("25 MB are refused without being read whole; 3 MB of a signed body are taken", async () => {
    const large = JSON.stringify({ ...example("push"), ref: "refs/tags/v1", pad: "x".repeat(25_000_000) });
    expect((await send(large, signWebhook("github", "push", large))).status).toBe(413);
    const less = JSON.stringify({ ...example("push"), ref: "refs/tags/v1", pad: "x".repeat(3_000_000) });
    expect((await send(less, signWebhook("github", "push", less))).body.status).toBe("ignored");
  });
});

describe("the connection", () => {
  test("status says who we are and the results of deliveries; repositories name their project", async () => {
    const { body } = await server.request<AppStatus>("GET", "/v1/codehost/app/status");
    expect(body).toMatchObject({
      configured: true,
      connected: true,
      kind: "github",
      url: host.origin,
      login: "skep-test[bot]",
      error: null,
      name: "Skep Test",
      webhook: { configured: true, path: WEBHOOKS, last_delivery_at: expect.any(String) },
    });
    const [one] = await itemsOf<HostRepository>("/v1/codehost/repos");
    expect(one).toMatchObject({
      full_name: host.repository,
      private: true,
      project_id: expect.stringMatching(/^proj_/),
    });
  });

  test("a server without one says so, and refuses to list", async () => {
    const status = await bare.request<AppStatus>("GET", "/v1/codehost/app/status");
    expect(status.body).toMatchObject({ configured: false, connected: false, kind: null, error: null });
    expect((await bare.request("GET", "/v1/codehost/repos")).body["code"]).toBe("codehost_not_configured");
  });

  test("stored by an administrator it counts before the environment, and no answer or file shows a secret", async () => {
    const token = "pat-token-0451";
    const body = { kind: "gitea", url: `${host.origin}/`, token, webhook_secret: "another-secret-of-the-webhook" };
    const put = await bare.request("PUT", "/v1/codehost/connection", { body });
    expect([put.status, put.body]).toEqual([
      200,
      {
        source: "settings",
        kind: "gitea",
        url: host.origin,
        app_id: null,
        has_private_key: false,
        has_token: true,
        has_webhook_secret: true,
      },
    ]);
    expect((await bare.request<AppStatus>("GET", "/v1/codehost/app/status")).body.connected).toBe(true);
    const repos = await bare.request<{ items: HostRepository[] }>("GET", "/v1/codehost/repos");
    expect(repos.body.items.map(({ full_name }) => full_name)).toEqual([host.repository]);
    for (const wrong of [{ kind: "svn" }, { token: 1 }, { webhook_secret: "short" }, { url: "ftp://x" }, { more: 1 }])
      expect((await bare.request("PUT", "/v1/codehost/connection", { body: wrong })).status).toBe(422);
    for (const file of ["skep.db", "skep.db-wal"])
      expect((await Bun.file(`${bare.data}/${file}`).text()).includes(token)).toBe(false);
    expect((await bare.request("DELETE", "/v1/codehost/connection")).status).toBe(204);
    expect((await bare.request("GET", "/v1/codehost/connection")).body).toMatchObject({ source: "none" });
  });
});
