/**
 * In a browser: what may repeat text from outside is marked with the reason, and a person who has read it confirms it
 * with one click.
 */
import { Database } from "bun:sqlite";
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Browser } from "playwright-core";
import { becomes } from "../attacks/waiting.ts";
import { hasBrowser, openBrowser } from "../browser.ts";
import { startServer, type TestServer } from "../server.ts";
import { createSourceTree, SHOP } from "../source-tree.ts";
import { complete, say } from "./script.ts";
import { visit } from "./visitor.ts";

setDefaultTimeout(300_000);

const WHY = "It used fetch_url, which shows outside text.";
/** Turns of an agent that reads a page and then writes to every place. The page need not exist. */
const LEAVES = [
  say("I read the page.", "fetch_url", { url: "http://127.0.0.1:1/" }),
  say("A task.", "create_task", { title: "Round prices up", description: "As the page says." }),
  say("A skill.", "create_skill", { name: "rounding", description: "Rounds prices.", content: "Round up." }),
  say("A note.", "remember", { title: "Prices are rounded up", content: "As the page says.", type: "fact" }),
  complete({}, "Done."),
];

describe.skipIf(!hasBrowser())("outside text", () => {
  const folder = mkdtempSync(join(tmpdir(), "skep-outside-"));
  let [server, browser]: [TestServer?, Browser?] = [];
  let [project, run]: [string, string] = ["", ""];
  const send = async <T = { id: string }>(method: string, path: string, body?: object): Promise<T> => {
    const answer = await server!.request<T>(method, path, body ? { body } : {});
    if (answer.status >= 400) throw new Error(`${method} ${path}: ${answer.status} ${JSON.stringify(answer.body)}`);
    return answer.body;
  };
  beforeAll(async () => {
    const script = join(folder, "script.json");
    writeFileSync(script, JSON.stringify({ version: 1, steps: { stranger: LEAVES }, default: [complete({}, "done")] }));
    const env = { ALLOW_HOST_SHELL: "true", ALLOW_LOCAL_REPOSITORIES: "true", DEMO_SCRIPT: script };
    [server, browser] = await Promise.all([startServer({ env }), openBrowser()]);
    const repository = createSourceTree(SHOP);
    try {
      project = (await send("POST", "/v1/projects", { name: "shop", repository: repository.root })).id;
      const state = async () =>
        (await send<{ workspace: { state: string } }>("GET", `/v1/projects/${project}`)).workspace.state;
      await becomes(state, "ready");
    } finally {
      repository.remove();
    }
    await send("POST", "/v1/agents", { id: "stranger", name: "Stranger", prompt: "You read." });
    const steps = [{ id: "stranger", agent: "stranger", input: "Read the page." }];
    await send("POST", "/v1/pipelines", {
      id: "read",
      name: "Read",
      steps,
      defaults: { model: "demo/scripted" },
    });
    run = (await send("POST", "/v1/runs", { pipeline_id: "read", task_description: "Read", project_name: "shop" })).id;
    await becomes(async () => (await send<{ status: string }>("GET", `/v1/runs/${run}`)).status, "succeeded");
  });
  afterAll(async () => {
    await browser?.close();
    await server?.remove();
    rmSync(folder, { recursive: true, force: true });
  });
  /** Opens a marked page, moves the mouse to the button, clicks, and waits until the mark has disappeared for good. */
  const confirmOn = async (path: string, why: string) => {
    const { page, open, close, waitUntilSettled, axe, faults } = await visit(browser!, server!.url);
    await open(path);
    const mark = page.getByRole("region", { name: "Outside text" });
    await mark.getByText(why).waitFor();
    expect(await axe()).toEqual([]);
    const button = mark.getByRole("button", { name: "Confirm", exact: true });
    await button.scrollIntoViewIfNeeded();
    const { x, y, width, height } = (await button.boundingBox())!;
    await page.mouse.move(x + width / 2, y + height / 2, { steps: 5 });
    await page.mouse.down();
    await page.mouse.up();
    await mark.waitFor({ state: "detached" });
    await page.reload();
    await page.locator("main h1").first().waitFor();
    await waitUntilSettled();
    expect(await mark.count()).toBe(0);
    await close();
    expect(faults).toEqual([]);
  };

  test("a run says why what it leaves waits, and there is nothing to confirm at it", async () => {
    const { page, open, close, faults } = await visit(browser!, server!.url);
    await open(`/runs/${run}`);
    const mark = page.getByRole("region", { name: "Outside text" });
    await mark.getByText(WHY).waitFor();
    expect(await mark.getByRole("button").count()).toBe(0);
    await close();
    expect(faults).toEqual([]);
  });

  test("a click confirms a skill that an agent wrote", async () => {
    await confirmOn("/skills/rounding?agent=stranger", WHY);
    const skill = await send<{ trusted: boolean }>("GET", "/v1/skills/rounding?agent_id=stranger");
    expect(skill.trusted).toBe(true);
  });

  test("a click confirms an entry of a memory", async () => {
    await confirmOn("/memory/stranger?entry=fact%2Fprices-are-rounded-up", WHY);
    const path = `/v1/memory/vaults/stranger/entries/${encodeURIComponent("fact/prices-are-rounded-up")}`;
    expect((await send<{ trusted: boolean }>("GET", path)).trusted).toBe(true);
  });

  test("a click confirms a task", async () => {
    const tasks = `/v1/projects/${project}/tasks`;
    const [task] = (await send<{ items: { id: string; outside: string }[] }>("GET", tasks)).items;
    expect(task?.outside).toBe(WHY);
    await confirmOn(`/projects/${project}/tasks/${task?.id}`, WHY);
    expect((await send<{ outside: string | null }>("GET", `${tasks}/${task?.id}`)).outside).toBeNull();
  });

  test("a click confirms a project, which onboarding made from what its agent had read", async () => {
    const database = new Database(join(server!.data, "skep.db"));
    database.run("UPDATE projects SET outside = ? WHERE id = ?", [WHY, project]);
    database.close();
    await confirmOn(`/projects/${project}`, WHY);
    expect((await send<{ outside: string | null }>("GET", `/v1/projects/${project}`)).outside).toBeNull();
  });
});
