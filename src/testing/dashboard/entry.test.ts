/** Getting in: the first administrator, log-in with a second factor, an ended session, and what a user does not see. */
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { Browser, Page } from "playwright-core";
import { type Account, makeUser, PASSWORD, steadyStep, totp } from "../accounts.ts";
import { becomes } from "../attacks/waiting.ts";
import { hasBrowser, openBrowser } from "../browser.ts";
import { createModelServer, type ModelServer, reply } from "../model-server.ts";
import { startServer, type TestServer } from "../server.ts";
import { pressTo, readFocus, typeInto, unfoldNavigation } from "./keyboard.ts";
import { pagesOfTheDashboard } from "./rights.ts";
import { visit } from "./visitor.ts";

setDefaultTimeout(300_000);
const ADMIN = "admin@example.test";

describe.skipIf(!hasBrowser())("getting into the dashboard", () => {
  let server: TestServer;
  let browser: Browser;
  let model: ModelServer;
  let administrator: Account;
  beforeAll(async () => {
    [model, server, browser] = await Promise.all([
      createModelServer(),
      startServer({
        env: { AUTH_ENABLED: "true", RATE_LIMIT: "0", TRUSTED_PROXIES: "10.1.2.3", ALLOW_HOST_SHELL: "true" },
      }),
      openBrowser(),
    ]);
  });
  afterAll(async () => {
    await browser?.close();
    await server?.remove();
    await model?.stop();
  });

  const logIn = async (page: Page, email: string, password = PASSWORD) => {
    await typeInto(page.getByLabel("E-mail"), email);
    await typeInto(page.getByLabel("Password"), password);
    await page.getByRole("button", { name: "Log in" }).click();
  };
  const nameHere = async (page: Page) => (await readFocus(page)).name;
  /** @returns what was wrong with the focus on the way. */
  const logInByKeyboard = async (page: Page, email: string): Promise<string[]> => {
    await becomes(() => nameHere(page), "E-mail");
    await page.keyboard.type(email);
    const wrong = await pressTo(page, "Tab", "Password", 3);
    await page.keyboard.type(PASSWORD);
    await page.keyboard.press("Enter");
    return wrong;
  };
  /** Faults without the statuses that a log-in page causes and browsers record. */
  const listUnexpected = (faults: string[]) =>
    faults.filter((fault) => !/40[13]|422|Opener-Policy|skep\.example\.test/.test(fault));

  test("the first start leads to the first administrator, with the token that the server printed", async () => {
    const { page, close, axe, faults } = await visit(browser, server.url);
    await page.goto(server.url);
    await page.getByRole("heading", { name: "Welcome to Skep" }).waitFor();
    expect(await axe()).toEqual([]);
    // By keyboard only: the first field has the focus, and a wrong token is overwritten in its place.
    await becomes(() => nameHere(page), "E-mail");
    await page.keyboard.type(ADMIN);
    const wrong = await pressTo(page, "Tab", "Password", 4);
    await page.keyboard.type(PASSWORD);
    wrong.push(...(await pressTo(page, "Tab", "Setup token", 4)));
    await page.keyboard.type("skst_wrong");
    // A connection that is lost and restored leaves the typed text.
    const asked = page.waitForResponse((answer) => answer.url().endsWith("/v1/auth/me"));
    await page.context().setOffline(true);
    await page.context().setOffline(false);
    await asked;
    await page.keyboard.press("Enter");
    await page.getByRole("alert").waitFor();
    await becomes(() => nameHere(page), "Setup token");
    await page.keyboard.press("Control+a");
    await page.keyboard.type(readFileSync(join(server.data, "setup-token"), "utf8").trim());
    await page.keyboard.press("Enter");
    expect(wrong).toEqual([]);
    await page.getByRole("heading", { name: "Set up", level: 1 }).waitFor();
    await page.getByText(`You are logged in as ${ADMIN}`).waitFor();
    const cookies = await page.context().cookies();
    expect(cookies.map(({ httpOnly, sameSite }) => [httpOnly, sameSite])).toEqual([[true, "Strict"]]);
    expect(await page.evaluate("JSON.stringify({ ...localStorage, ...sessionStorage })")).not.toMatch(/eyJ|skst_/);
    await page.getByLabel("Provider").selectOption("openai");
    await page.getByText("Another address").click();
    await typeInto(page.getByLabel("Address"), `${model.origin}/v1`);
    model.get("/v1/models", { error: { message: "Incorrect API key" } }, 401);
    await typeInto(page.getByLabel("API key"), "sk-refused");
    await page.getByRole("button", { name: "Test", exact: true }).click();
    await page.getByRole("alert").getByText("It does not work").waitFor();
    model.get("/v1/models", { data: [{ id: "gpt-large" }, { id: "gpt-small" }] });
    const outputs = { summary: "An empty folder.", file: "HELLO.md", verdict: "approved", feedback: "" };
    model.next(
      reply({ text: "I look around.", toolCalls: [{ name: "complete", input: { outputs, summary: "Done." } }] }),
    );
    await typeInto(page.getByLabel("API key"), "sk-right");
    await page.getByRole("button", { name: "Test", exact: true }).click();
    await page.getByRole("status").getByText("It works").waitFor();
    expect(await axe()).toEqual([]);
    await page.getByRole("button", { name: "Use OpenAI" }).click();
    await page.getByRole("status").getByText("Ready: OpenAI").waitFor();
    await page.getByRole("button", { name: "Start the example" }).click();
    const example = page.getByRole("region", { name: "The example" });
    await example.getByText("It is done.").waitFor();
    await page.getByRole("heading", { name: "3. A first run (done)" }).waitFor();
    await example.getByRole("link", { name: "Open the run" }).click();
    await page.waitForURL(/\/runs\/run_/);
    const { access_token: token } = (
      await server.request<{ access_token: string }>("POST", "/v1/auth/login", {
        body: { email: ADMIN, password: PASSWORD },
      })
    ).body;
    administrator = { id: "", email: ADMIN, token, refresh: "" };
    await close();
    expect(listUnexpected(faults)).toEqual([]);
  });

  test("a second factor is set up and asked for; an ended session asks again over the page, which keeps what was typed", async () => {
    const { page, close, open, axe, faults } = await visit(browser, server.url);
    const warning = page.getByText("This page came over plain http");
    // The same server under a name that does not belong to this machine.
    await page.route("http://skep.example.test/**", async (route) => {
      const { pathname, search } = new URL(route.request().url());
      await route.fulfill({ response: await route.fetch({ url: server.url + pathname + search }) });
    });
    await page.goto("http://skep.example.test/");
    await page.getByRole("heading", { name: "Log in" }).waitFor();
    await warning.waitFor();
    await page.goto(`${server.url}/account`);
    await page.getByLabel("E-mail").waitFor();
    expect(await warning.count()).toBe(0);
    await logIn(page, ADMIN, "not the password");
    await page.getByRole("alert").waitFor();
    await logIn(page, ADMIN);
    await page.getByRole("heading", { name: "My account" }).waitFor();
    await page.getByRole("button", { name: "Switch on" }).click();
    const code = page.locator("code").filter({ hasText: /^[A-Z2-7]{16,}$/ });
    await code.waitFor();
    const secret = (await code.textContent()) ?? "";
    await steadyStep();
    await typeInto(page.getByLabel("The code it shows"), totp(secret, -1));
    await page.getByRole("button", { name: "Confirm" }).click();
    await page.getByText("Keep these recovery codes").waitFor();
    const recovery = (await page.locator("pre").allInnerTexts()).join(" ").trim().split(/\s+/);
    await page.context().clearCookies();
    await page.goto(server.url);
    await logIn(page, ADMIN);
    // Pasted in two groups, as an authenticator shows it.
    const shown = page.getByLabel("Code of your authenticator");
    await shown.focus();
    await steadyStep();
    await page.keyboard.insertText(totp(secret).replace(/^(...)/, "$1 "));
    await page.getByRole("button", { name: "Verify" }).click();
    await page.getByRole("heading", { name: "Home" }).waitFor();
    await open("/runs?status=failed");
    await page.context().clearCookies();
    await page
      .getByRole("button", { name: /Local|Admin|admin/ })
      .first()
      .waitFor();
    await page.getByLabel("State").selectOption("waiting");
    await page.getByRole("heading", { name: "Log in again" }).waitFor();
    expect(await axe()).toEqual([]);
    await page.keyboard.press("Escape");
    const logInAgain = async () => {
      await logIn(page, ADMIN);
      await page.getByRole("button", { name: "Use a recovery code" }).click();
      await typeInto(page.getByLabel("Recovery code"), recovery.shift()!);
      await page.getByRole("button", { name: "Verify" }).click();
      await page.getByRole("heading", { name: "Log in again" }).waitFor({ state: "detached" });
    };
    await logInAgain();
    await page.getByRole("heading", { name: "Runs", level: 1 }).waitFor();
    expect(page.url()).toContain("/runs?status=waiting");
    await open("/agents/engineer");
    const box = page.getByLabel("Instructions");
    await typeInto(box, "Half a thought.");
    await page.context().clearCookies();
    await page.getByRole("button", { name: "Save" }).click();
    await page.getByRole("heading", { name: "Log in again" }).waitFor();
    await logInAgain();
    expect(await box.inputValue()).toBe("Half a thought.");
    await page.getByText("Your log-in had ended, so this was not done.").waitFor();
    await page.getByRole("button", { name: "Save" }).click();
    await page.getByText("Saved").first().waitFor();
    await close();
    expect(listUnexpected(faults)).toEqual([]);
  });

  test("a user sees no page of administrators, and the API refuses as well", async () => {
    const { page, close, open, waitUntilSettled, faults } = await visit(browser, server.url);
    const user = await makeUser(server, administrator, "user@example.test");
    const own = await belongings(server, user);
    await page.goto(server.url);
    expect(await logInByKeyboard(page, "user@example.test")).toEqual([]);
    await page.getByRole("heading", { name: "Home" }).waitFor();
    const navigation = page.getByRole("navigation", { name: "Main" });
    await unfoldNavigation(page);
    const names = (await navigation.getByRole("link").allTextContents()).map((name) => name.trim());
    const { admins, all } = pagesOfTheDashboard();
    expect(admins.length).toBeGreaterThan(5);
    for (const { title } of admins) expect([title, names.includes(title)]).toEqual([title, false]);
    for (const { path } of admins) {
      await open(path.replace(/:\w+/g, "any"));
      await page.getByRole("heading", { name: "Not found" }).waitFor();
    }
    // Visits every other page as this user, with this user's data. No page may request what only an administrator may
    // see.
    const asked = new Set<string>();
    page.on("response", (answer) => answer.status() === 403 && asked.add(`${page.url()}: ${answer.url()}`));
    const others = all.filter((one) => !admins.includes(one)).map(({ path }) => own[path] ?? path);
    expect(others.filter((path) => path.includes(":"))).toEqual([]);
    const tabs = ["config", "tools", "runs", "secrets", "voice"].map((tab) => `/agents/engineer?tab=${tab}`);
    for (const path of [...others, ...tabs]) {
      await open(path);
      await waitUntilSettled();
    }
    expect([...asked]).toEqual([]);
    await open("/setup");
    await page.getByText("Only an administrator sets a server up").waitFor();
    const refused = [
      "admin/users",
      "settings",
      "admin/audit",
      "admin/containers",
      "admin/tts-settings",
      "settings/providers",
      "mcp",
    ];
    for (const path of refused)
      expect([path, await page.evaluate(`fetch("/v1/${path}").then(({ status }) => status)`)]).toEqual([path, 403]);
    await open("/agents/engineer");
    await waitUntilSettled();
    expect(await page.getByRole("button", { name: "Save" }).count()).toBe(0);
    await close();
    expect(listUnexpected(faults)).toEqual([]);
  });
});

/** Creates one of everything that has its own page, as a user. @returns the addresses by page. */
async function belongings(server: TestServer, { token }: Account): Promise<Record<string, string>> {
  const post = async <T>(path: string, body: object) => {
    const answer = await server.request<T>("POST", path, { token, body });
    if (answer.status >= 300) throw new Error(`${path} answered ${answer.status}: ${JSON.stringify(answer.body)}`);
    return answer.body;
  };
  const create = async (path: string, body: object) => (await post<{ id: string }>(path, body)).id;
  const project = await create("/v1/projects", { name: "mine" });
  const task = await create(`/v1/projects/${project}/tasks`, { title: "Mine" });
  const routine = { name: "Mine", instructions: "Look", schedule: "0 9 * * *" };
  const swarm = { agent_id: "scribe", tasks: [{ key: "one", prompt: "Look" }] };
  const text = { title: "Mine", content: "# Mine\n\nBees dance.\n" };
  const script = (path: string) => [{ path, content: btoa("exit 0") }];
  const tried = { name: "one", instruction: "Solve it.", tests: script("test.sh"), solution: script("solve.sh") };
  return {
    "/evals/:id": `/evals/${await create("/v1/evals", { name: "Mine", oracle: true, tasks: [tried] })}`,
    "/changes/:id": `/changes/${await create("/v1/chat/sessions", { agent_id: "scribe", project_id: project })}`,
    "/projects/:id": `/projects/${project}`,
    "/projects/:id/graph": `/projects/${project}/graph`,
    "/projects/:id/policy": `/projects/${project}/policy`,
    "/join/:token": `/join/${(await post<{ token: string }>(`/v1/projects/${project}/invitations`, {})).token}`,
    "/projects/:id/members": `/projects/${project}/members`,
    "/projects/:id/tasks/:tid": `/projects/${project}/tasks/${task}`,
    "/runs/:id": `/runs/${await create("/v1/runs", { pipeline_id: "hello", task_description: "Greet" })}`,
    "/chat/:id": `/chat/${await create("/v1/chat/sessions", { agent_id: "scribe" })}`,
    "/routines/:agent/:id": `/routines/scribe/${await create("/v1/pulse-routines/scribe", routine)}`,
    "/swarms/:id": `/swarms/${await create("/v1/swarm/execute", swarm)}`,
    "/documents/:id": `/documents/${await create("/v1/ingest/document", text)}`,
    "/onboarding/:id": `/onboarding/${await create("/v1/onboarding/sessions", {})}`,
    "/pipelines/:id": "/pipelines/hello",
    "/agents/:id": "/agents/engineer",
    "/skills/:name": "/skills/debugging",
    "/memory/:agent": "/memory/engineer",
  };
}
