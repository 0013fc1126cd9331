/**
 * The app of a step, in a container without a network, shown in a person's browser. Nothing of it reaches beyond its
 * own origin.
 */
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { type Account, logIn, makeUser, PASSWORD, setupAdmin } from "../../testing/accounts.ts";
import { hasBrowser, openBrowser } from "../../testing/browser.ts";
import { skep } from "../../testing/command.ts";
import { typeInto } from "../../testing/dashboard/keyboard.ts";
import { dockerForTests, testImage } from "../../testing/docker-image.ts";
import { framesOf, framesUntil } from "../../testing/event-reader.ts";
import { startServer, type TestServer } from "../../testing/server.ts";
import type { Preview, PreviewTicket } from "./model.ts";

setDefaultTimeout(300_000);
const docker = await dockerForTests(process.env);

/** An app that shows the request it gets, and answers with headers that would act outside its origin. */
const APP = `mkdir -p site/cgi-bin; echo '<h1>Hello from the app</h1>' > site/index.html
cat > site/cgi-bin/env <<'END'
#!/bin/sh
printf 'Content-Type: text/plain\\r\\nSet-Cookie: far=1; Domain=preview.localhost\\r\\nClear-Site-Data: "*"\\r\\n\\r\\n'
env
END
chmod +x site/cgi-bin/env; ls /sys/class/net; httpd -p 127.0.0.1:3000 -h site`;

describe.skipIf(!docker)("the app of a step", () => {
  let server: TestServer;
  let owner: Account;
  let other: Account;
  let run: string;
  let preview: Preview;
  let activity: string[];
  const ask = <T>(method: string, path: string, { token }: Account, body?: unknown) =>
    server.request<T>(method, path, { token, body });
  const changes = (...states: string[]) =>
    framesUntil(
      framesOf<{ kind: string; data: Record<string, unknown> }>(
        server,
        `/v1/events/stream?after=0&run_id=${run}`,
        owner.token,
      ),
      ({ data: { kind, data } }) => kind === "preview_changed" && states.includes(String(data["state"])),
    );
  const ticketOf = async (who: Account) =>
    await ask<PreviewTicket>("POST", `/v1/runs/${run}/previews/${preview.id}/tickets`, who);
  /** Requests an address of a preview. Names below localhost are this machine. */
  const go = (url: string, headers: Record<string, string> = {}) => {
    const { host, port, pathname, search } = new URL(url);
    return fetch(`http://127.0.0.1:${port}${pathname}${search}`, {
      redirect: "manual",
      headers: { Host: host, ...headers },
    });
  };
  const enter = async (who: Account) => {
    const { body } = await ticketOf(who);
    const answer = await go(body.url);
    return { origin: new URL(body.url).origin, answer, cookie: answer.headers.getSetCookie()[0]!.split(";")[0]! };
  };
  beforeAll(async () => {
    server = await startServer({
      env: { SANDBOX: "docker", AGENT_IMAGE: await testImage(docker!), AUTH_ENABLED: "true" },
    });
    const admin = await setupAdmin(server);
    [owner, other] = [await makeUser(server, admin, "o@x.test"), await makeUser(server, admin, "n@x.test")];
    const steps = [
      { id: "app", run: APP, preview: { port: 3000, path: "/?first", screenshots: ["/"] } },
      { id: "look", approval: { message: "Look at it." } },
      { id: "after", run: "ls site" },
    ];
    const made = await ask("POST", "/v1/pipelines", admin, { id: "p", name: "P", steps });
    expect(made.status).toBe(201);
    // If a busy engine cannot pause the container, it ends with its step, and so does its app.
    for (let tries = 3; tries > 0; tries--) {
      const body = { pipeline_id: "p", task_description: "Show it" };
      run = (await ask<{ id: string }>("POST", "/v1/runs", owner, body)).body.id;
      const read = await changes("kept", "closed");
      activity = read.filter(({ data }) => data.kind === "activity").map(({ data }) => String(data.data["title"]));
      if (read.at(-1)?.data.data["state"] === "kept") break;
    }
    const list = await ask<{ items: Preview[] }>("GET", `/v1/runs/${run}/previews`, owner);
    preview = list.body.items[0]!;
  });
  afterAll(() => server.remove());

  test("is kept after its step, and reached with a ticket that counts once, by who may read the run", async () => {
    expect(preview).toMatchObject({ run_id: run, step_id: "app", port: 3000, path: "/?first" });
    expect(preview.kept_until).not.toBeNull();
    const output = await ask<{ structured: { output: string } }>("GET", `/v1/steps/${run}/app/output`, owner);
    expect(output.body.structured.output).toBe("lo");
    expect(activity).toEqual(["No screenshot of /: the image has no browser; add Chromium to it."]);
    for (const [method, path] of [
      ["GET", ""],
      ["POST", `/${preview.id}/tickets`],
      ["DELETE", `/${preview.id}`],
    ])
      expect((await ask(method!, `/v1/runs/${run}/previews${path}`, other)).status).toBe(404);
    const { body, status } = await ticketOf(owner);
    expect(status).toBe(201);
    const stranger = `${new URL(body.url).origin}/`.replace(/\/\/\w+/, "//0123456789abcdef0123");
    for (const url of [`${new URL(body.url).origin}/`, stranger]) expect((await go(url)).status).toBe(404);
    const entered = await go(body.url);
    expect([entered.status, entered.headers.get("location")]).toEqual([303, "/?first"]);
    expect(entered.headers.getSetCookie()).toEqual([
      expect.stringMatching(/^skep_preview=\S{43}; Path=\/; HttpOnly; SameSite=Lax$/),
    ]);
    expect((await go(body.url)).status).toBe(404);
    const shown = await skep(["preview", run, "--data", server.data], { env: { SKEP_TOKEN: owner.token } });
    expect(shown.stdout).toMatch(/^http:\/\/[0-9a-f]{20}\.preview\.localhost:\d+\/\.skep\/open\?ticket=\S+\n$/);
  });

  test("is never sent the server's cookies, sets none for others, and no page of another preview asks for it", async () => {
    const { origin, cookie } = await enter(owner);
    const canary = "canary-of-a-session";
    const answer = await go(`${origin}/cgi-bin/env`, { Cookie: `skep_session=${canary}; ${cookie}; theme=dark` });
    const seen = await answer.text();
    expect(seen).toContain("HTTP_COOKIE=theme=dark\n");
    expect(seen).not.toContain(canary);
    expect(seen).not.toContain(cookie.split("=")[1]!);
    expect(answer.headers.getSetCookie()).toEqual([]);
    expect(answer.headers.get("clear-site-data")).toBeNull();
    expect(answer.headers.get("content-security-policy")).toBe("frame-ancestors 'self'");
    const elsewhere = { Cookie: cookie, Origin: "http://other.preview.localhost" };
    expect((await go(`${origin}/`, elsewhere)).status).toBe(403);
    // The API refuses requests from the preview's pages, whatever credentials they bring.
    for (const [method, path] of [
      ["GET", "/v1/runs"],
      ["POST", `/v1/runs/${run}/cancel`],
    ] as const) {
      const refused = await server.request(method, path, { token: owner.token, headers: { Origin: origin } });
      expect(refused.body).toMatchObject({ status: 403, code: "foreign_origin" });
    }
    const there = await go(`${server.url}/v1/runs`, { Host: new URL(origin).host, Cookie: cookie });
    expect(there.status).toBe(421);
  });

  test.skipIf(!hasBrowser())("opens from the run's page in a browser, whose log-in its page cannot use", async () => {
    const browser = await openBrowser();
    try {
      const context = await browser.newContext();
      const page = await context.newPage();
      await page.goto(`${server.url}/runs/${run}`);
      await typeInto(page.getByLabel("E-mail"), "o@x.test");
      await typeInto(page.getByLabel("Password"), PASSWORD);
      await page.getByRole("button", { name: "Log in" }).click();
      const opening = context.waitForEvent("page");
      await page.getByRole("button", { name: "Open the preview" }).click();
      const tab = await opening;
      await tab.getByRole("heading", { name: "Hello from the app" }).waitFor();
      expect(new URL(tab.url()).host).toMatch(/^[0-9a-f]{20}\.preview\.localhost:\d+$/);
      const cookies = await context.cookies();
      const session = cookies.find(({ name }) => name === "skep_session")!;
      const tried = await tab.evaluate<{ cookie: string; opener: boolean; read: string; cancel: string; env: string }>(
        `(async () => {
          const attempt = async (path, init) => {
            try {
              return (await fetch("${server.url}" + path, { credentials: "include", ...init })).type;
            } catch {
              return "refused";
            }
          };
          return {
            cookie: document.cookie,
            opener: window.opener === null,
            read: await attempt("/v1/runs", {}),
            cancel: await attempt("/v1/runs/${run}/cancel", { method: "POST" }),
            blind: await attempt("/v1/runs/${run}/cancel", { method: "POST", mode: "no-cors" }),
            env: await (await fetch("/cgi-bin/env")).text(),
          };
        })()`,
      );
      expect(tried).toMatchObject({ cookie: "", opener: true, read: "refused", cancel: "refused" });
      expect(tried.env).toContain("REQUEST_METHOD=GET");
      expect(tried.env).not.toContain(session.value);
      const after = await ask<{ status: string }>("GET", `/v1/runs/${run}`, owner);
      expect(after.body.status).toBe("waiting");
    } finally {
      await browser.close();
    }
  });

  test("ends for a visitor whose log-in ended, and for all when work begins in its files", async () => {
    const { origin, cookie } = await enter(owner);
    expect((await go(`${origin}/`, { Cookie: cookie })).status).toBe(200);
    await ask("POST", "/v1/auth/logout", owner);
    expect((await go(`${origin}/`, { Cookie: cookie })).status).toBe(404);
    owner = await logIn(server, "o@x.test");
    const again = await enter(owner);
    const approved = await ask("POST", `/v1/runs/${run}/approve`, owner, { step_id: "look", approved: true });
    expect(approved.status).toBe(200);
    await changes("closed");
    expect((await go(`${origin}/`, { Cookie: again.cookie })).status).toBe(404);
    expect((await ticketOf(owner)).status).toBe(404);
  });
});
