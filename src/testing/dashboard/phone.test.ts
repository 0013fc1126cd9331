/** In a browser: a bot is connected, a chat is linked to it, and this device receives what the server pushes. */
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import type { Browser } from "playwright-core";
import { hasBrowser, openBrowser } from "../browser.ts";
import { openFakeMatrix } from "../messengers/matrix.ts";
import { openPushService } from "../messengers/push-service.ts";
import { startServer, type TestServer } from "../server.ts";
import { typeInto } from "./keyboard.ts";
import { PHONE, visit } from "./visitor.ts";

setDefaultTimeout(300_000);

describe.skipIf(!hasBrowser())("answers from the phone", () => {
  const fake = openFakeMatrix();
  const { service, subscription } = openPushService();
  let server: TestServer;
  let browser: Browser;
  beforeAll(async () => {
    [server, browser] = await Promise.all([startServer({ env: { NOTIFY_ALLOW: "127.0.0.1" } }), openBrowser()]);
  });
  afterAll(async () => {
    await browser?.close();
    await server?.remove();
    await Promise.all([fake.close(), service.close()]);
  });

  test("a bot is connected, and a chat linked by the code that the page shows once", async () => {
    const { page, close, open, faults, axe, overflow } = await visit(browser, server.url);
    await open("/notifications?tab=messengers");
    await page.getByRole("button", { name: "Connect a bot" }).click();
    await page.getByLabel("Messenger", { exact: true }).selectOption("matrix");
    await typeInto(page.getByLabel("Name", { exact: true }), "home");
    await typeInto(page.getByLabel("Token of the bot"), String(fake.access["token"]));
    await typeInto(page.getByLabel("Address of the server"), String(fake.access["server"]));
    await page.getByRole("button", { name: "Connect", exact: true }).click();
    const table = page.getByRole("table", { name: "Messengers" });
    await table.getByText("home", { exact: true }).waitFor();
    // Messages that were written before the bot was connected are not meant for it.
    for (let state: unknown; state !== "connected"; await Bun.sleep(20)) {
      const { items } = (await server.request<{ items: { state: string }[] }>("GET", "/v1/messengers")).body;
      state = items[0]?.state;
    }
    expect(await axe()).toEqual([]);
    await open("/notifications?channel=new");
    await page.getByLabel("Kind").selectOption("messenger");
    await typeInto(page.getByLabel("Name", { exact: true }), "room");
    await page.getByRole("button", { name: "Add", exact: true }).click();
    const dialog = page.getByRole("dialog", { name: "Link a chat" });
    const text = (await dialog.getByText(/^\/link /).textContent()) ?? "";
    expect(await axe()).toEqual([]);
    fake.say({ chat: "!a:example.test", sender: "@me:example.test" }, text);
    expect((await fake.sent.next()).text).toContain("Linked");
    await dialog.getByRole("button", { name: "I have sent it" }).click();
    await page.getByRole("dialog", { name: "room" }).getByRole("button", { name: "Send a test" }).click();
    expect((await fake.sent.next()).text).toContain("Test of a notification channel");
    await page.setViewportSize(PHONE);
    expect(await overflow()).toBeLessThanOrEqual(0);
    expect(faults).toEqual([]);
    await close();
  });

  test("this device is notified: what is pushed is shown by the worker, and opens the page of the question", async () => {
    const { page, close, open, faults } = await visit(browser, server.url, { permissions: ["notifications"] });
    // No push service can be reached here. The browser's own service would return such a subscription.
    const { url, p256dh, auth } = subscription;
    await page.addInitScript(
      `PushManager.prototype.subscribe = async () => ({ toJSON: () => (${JSON.stringify({ endpoint: url, keys: { p256dh, auth } })}) });`,
    );
    await open("/notifications");
    await page.getByRole("button", { name: "Notify this device" }).click();
    await page.getByRole("button", { name: "Stop on this device" }).waitFor();
    const [worker] = page.context().serviceWorkers();
    expect(worker?.url()).toBe(`${server.url}/service-worker.js`);
    const { items } = (
      await server.request<{ items: { id: string; kind: string }[] }>("GET", "/v1/notification-channels")
    ).body;
    const channel = items.find(({ kind }) => kind === "push");
    await server.request("POST", `/v1/notification-channels/${channel?.id}/test`);
    const { said } = await service.next();
    const pushed = JSON.stringify({ ...said, path: "/inbox" });
    // Records what the worker asks the browser for. Whether a notification is displayed here is not up to the worker.
    const opened = await worker!.evaluate(`(async () => {
      const shown = [];
      const opened = [];
      self.registration.showNotification = async (title, options) => void shown.push({ title, ...options, close() {} });
      Clients.prototype.matchAll = async () => [];
      Clients.prototype.openWindow = async (url) => void opened.push(url);
      const send = (kind, more) => {
        const work = [];
        self.dispatchEvent(Object.assign(new Event(kind), { waitUntil: (one) => work.push(one), ...more }));
        return Promise.all(work);
      };
      await send("push", { data: { json: () => JSON.parse(${JSON.stringify(pushed)}) } });
      const [notification] = shown;
      await send("notificationclick", { notification });
      await send("notificationclick", { notification: { ...notification, data: { path: "https://elsewhere.example/" } } });
      return [notification.title, ...opened];
    })()`);
    expect(opened).toEqual(["Test of a notification channel", `${server.url}/inbox`, `${server.url}/`]);
    await page.getByRole("button", { name: "Stop on this device" }).click();
    await page.getByRole("button", { name: "Notify this device" }).waitFor();
    const after = (await server.request<{ items: { kind: string }[] }>("GET", "/v1/notification-channels")).body.items;
    expect(after.map(({ kind }) => kind)).toEqual(["messenger"]);
    expect(faults).toEqual([]);
    await close();
  });
});
