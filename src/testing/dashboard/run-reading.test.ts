/** Reading a run: long lists, a phone, order and queue, what was cut, and what a log-out leaves. */
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Browser } from "playwright-core";
import { PASSWORD, setupAdmin } from "../accounts.ts";
import { becomes } from "../attacks/waiting.ts";
import { hasBrowser, openBrowser } from "../browser.ts";
import { framesOf, framesUntil } from "../event-reader.ts";
import { startServer, type TestServer } from "../server.ts";
import { typeInto } from "./keyboard.ts";
import { complete, say } from "./script.ts";
import { PHONE, visit } from "./visitor.ts";

setDefaultTimeout(300_000);

const STEPS = 120;
/**
 * How soon a page asks for what was said, in ms. It is read from the source, because the module cannot be loaded here.
 */
const AFTER_CALL_MS = Number(
  /AFTER_CALL_MS = (\d+);/.exec(readFileSync(join(import.meta.dir, "../../web/page/run/words.ts"), "utf8"))![1],
);
const LAST_WORDS = "These are my last words.";
/** Works until the run's folder contains a file, then says one thing and ends. */
const HELD = [
  say("I wait.", "bash", { command: "until [ -e go ]; do sleep 0.1; done" }),
  { ...complete({}, "Done."), text: LAST_WORDS },
];
const NEEDLE = "needle in the middle";
/** Longer than a page of the log shows, but shorter than what is kept. */
const LONG = `i=0; while [ $i -lt 600 ]; do echo "line $i of the output"; i=$((i+1)); done; echo '${NEEDLE}'; i=0; while [ $i -lt 600 ]; do echo "more $i of the output"; i=$((i+1)); done`;

describe.skipIf(!hasBrowser())("reading a run", () => {
  const folder = mkdtempSync(join(tmpdir(), "skep-reading-"));
  let [server, browser]: [TestServer?, Browser?] = [];
  let token: string;
  let run: string;
  const send = async <T = { id: string }>(method: string, path: string, body?: object): Promise<T> => {
    const answer = await server!.request<T>(method, path, { token, ...(body ? { body } : {}) });
    if (answer.status >= 400) throw new Error(`${method} ${path}: ${answer.status} ${JSON.stringify(answer.body)}`);
    return answer.body;
  };
  beforeAll(async () => {
    const script = join(folder, "script.json");
    writeFileSync(script, JSON.stringify({ version: 1, steps: { held: HELD }, default: [complete({}, "done")] }));
    const env = { AUTH_ENABLED: "true", RATE_LIMIT: "0", ALLOW_HOST_SHELL: "true", DEMO_SCRIPT: script };
    [server, browser] = await Promise.all([startServer({ env }), openBrowser()]);
    ({ token } = await setupAdmin(server));
    const steps = [
      { id: "long", run: LONG },
      ...Array.from({ length: STEPS }, (_, at) => ({ id: `s${at}`, run: "true", needs: ["long"] })),
      { id: "last", run: "false", needs: [`s${STEPS - 1}`] },
    ];
    await send("POST", "/v1/pipelines", { id: "many", name: "Many", steps });
    run = (await send("POST", "/v1/runs", { pipeline_id: "many", task_description: "Many steps" })).id;
    await becomes(async () => (await send<{ status: string }>("GET", `/v1/runs/${run}`)).status, "failed");
  });
  afterAll(async () => {
    await browser?.close();
    await server?.remove();
    rmSync(folder, { recursive: true, force: true });
  });
  const visitLoggedIn = async (options = {}) => {
    const visitor = await visit(browser!, server!.url, options);
    const data = { email: "admin@example.test", password: PASSWORD, session: "cookie" };
    await visitor.page.context().request.post(`${server!.url}/v1/auth/login`, { data });
    return visitor;
  };

  test("a click on a step far down a long list shows it, and the list scrolls by itself", async () => {
    const { page, open, close, faults } = await visitLoggedIn();
    await open(`/runs/${run}?step=s0`);
    const list = page.getByRole("list", { name: "Steps" });
    await page.getByRole("heading", { name: "s0", exact: true, level: 2 }).waitFor();
    const hidden = "(({ scrollHeight, clientHeight }) => scrollHeight - clientHeight)";
    expect(await page.evaluate(`${hidden}(document.querySelector("ol[aria-label=Steps]"))`)).toBeGreaterThan(1_000);
    await list.hover();
    await page.mouse.wheel(0, 20_000);
    await list.getByRole("button", { name: /\bs110\b/ }).click();
    const heading = page.getByRole("heading", { name: "s110", exact: true, level: 2 });
    await heading.waitFor();
    const box = await heading.boundingBox();
    expect(box && box.y >= 0 && box.y < 800).toBe(true);
    await close();
    expect(faults).toEqual([]);
  });

  test("what a step says last is in its log, though its end is known before the page has asked for it", async () => {
    const steps = [{ id: "held", agent: "engineer", input: "Wait." }];
    await send("POST", "/v1/pipelines", { id: "held", name: "Held", defaults: { model: "demo/scripted" }, steps });
    const { id } = await send("POST", "/v1/runs", { pipeline_id: "held", task_description: "Wait for it" });
    const frames = framesOf(server!, `/v1/events/stream?run_id=${id}&kinds=tool_call_start&after=0`, token);
    await framesUntil(frames, ({ event }) => event === "tool_call_start");
    const { page, open, close, faults } = await visitLoggedIn();
    // Imitates a slow page: what it wants to ask soon, it never asks.
    await page.addInitScript(`{
      const later = setTimeout;
      window.setTimeout = (act, ms, ...rest) => later(act, ms === ${AFTER_CALL_MS} ? 2 ** 31 - 1 : ms, ...rest);
    }`);
    await open(`/runs/${id}?step=held`);
    const log = page.getByRole("log", { name: "Log of the step" });
    await log.getByText("I wait.").waitFor();
    writeFileSync(join(server!.data, "workspaces", id, "go"), "");
    // The words are no longer shown as they arrive, but as a message.
    await page.locator("header").getByText("Succeeded").waitFor();
    await log.getByText(LAST_WORDS).waitFor();
    await close();
    expect(faults).toEqual([]);
  });

  test("on a phone a step is a screen: the list leads to it, going back leads to the list", async () => {
    const { page, open, close, faults, overflow } = await visitLoggedIn({ viewport: PHONE, hasTouch: true });
    await open(`/runs/${run}`);
    const list = page.getByRole("list", { name: "Steps" });
    await list.getByRole("button", { name: /\blast\b/ }).tap();
    const heading = page.getByRole("heading", { name: "last", exact: true, level: 2 });
    await heading.waitFor();
    await becomes(() => list.isVisible(), false);
    await becomes(async () => ((await heading.boundingBox())?.y ?? 9_999) < PHONE.height / 2, true);
    expect(await overflow()).toBeLessThanOrEqual(0);
    await page.getByRole("button", { name: "Step before" }).tap();
    await page.getByRole("heading", { name: `s${STEPS - 1}`, exact: true, level: 2 }).waitFor();
    await page.getByRole("button", { name: "All steps" }).tap();
    await list.waitFor();
    await close();
    expect(faults).toEqual([]);
  });

  test("the log is searched in what was cut, shows the place, and leads to the whole output", async () => {
    const { page, open, close, faults } = await visitLoggedIn();
    await open(`/runs/${run}?step=long`);
    await page.getByRole("log", { name: "Log of the step" }).locator("summary").first().waitFor();
    await typeInto(page.getByRole("searchbox", { name: "Search the log" }), NEEDLE);
    await page.getByRole("log").locator("pre").last().getByText(NEEDLE).waitFor();
    const link = page.getByRole("link", { name: "Open the whole output" });
    const href = await link.getAttribute("href");
    const whole = await server!.request<string>("GET", href ?? "", { token });
    expect(whole.headers.get("content-type")).toContain("text/plain");
    for (const part of ["line 599 of", NEEDLE, "more 0 of"]) expect(whole.body).toContain(part);
    expect((await server!.request("GET", href ?? "")).status).toBe(401);
    await close();
    expect(faults).toEqual([]);
  });

  test("waiting for earlier steps is no time in the queue", async () => {
    interface Row {
      step_id: string;
      queued_at: string;
      finished_at: string;
    }
    const { items } = await send<{ items: Row[] }>("GET", `/v1/steps/${run}?limit=200`);
    const of = (id: string) => items.find(({ step_id }) => step_id === id);
    expect((of("last")?.queued_at ?? "") >= (of(`s${STEPS - 1}`)?.finished_at ?? "9")).toBe(true);
  });

  test("a log-out empties every tab: nothing of the user is shown or kept", async () => {
    const { page, open, close } = await visitLoggedIn();
    await open("/");
    const other = await page.context().newPage();
    await other.goto(`${server!.url}/runs/new`);
    await other.getByLabel("Task").click();
    await other.keyboard.type("Private words");
    await other.goto(`${server!.url}/runs`);
    await other.getByText("Many steps").first().waitFor();
    await page.getByRole("button", { name: /admin/i }).last().click();
    await page.getByRole("menuitem", { name: "Log out" }).click();
    for (const tab of [page, other]) {
      await tab.getByLabel("E-mail").waitFor();
      expect(await tab.getByText("Many steps").count()).toBe(0);
      expect(await tab.evaluate("JSON.stringify({ ...sessionStorage, ...localStorage })")).not.toContain("Private");
    }
    await close();
  });
});
