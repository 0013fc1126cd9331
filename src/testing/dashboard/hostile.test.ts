/**
 * A19: hostile text in every place that a user, an agent, a repository or another server can fill. On the page that
 * shows it, it must remain text. The server's own description lists the fields, so that none is forgotten.
 */
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Browser } from "playwright-core";
import { escapeUnseen } from "../../web/ui/visible.ts";
import { PASSWORD, setupAdmin } from "../accounts.ts";
import { hasBrowser, openBrowser } from "../browser.ts";
import { type CodeHostFake, startCodeHost } from "../code-host.ts";
import { createModelServer, type ModelServer } from "../model-server.ts";
import { startServer, type TestServer } from "../server.ts";
import { createSourceTree, type SourceTree } from "../source-tree.ts";
import { type ApiDocument, NOT_SHOWN, textFields } from "./hostile-fields.ts";
import { createMarks, marksIn } from "./hostile-marks.ts";
import { furnishHostile } from "./hostile-seed.ts";
import { hostileModels, hostileRepository } from "./hostile-sources.ts";
import { visit } from "./visitor.ts";

setDefaultTimeout(600_000);
const VISITORS = 3;

test("characters that turn text around or cannot be seen are shown by name; other text stays as it is", () => {
  expect(escapeUnseen("photo_\u202Egpj.exe")).toBe("photo_[U+202E]gpj.exe");
  expect(escapeUnseen("\u2066a\u2069 \u001b[31m \u0007 \u009b")).toBe("[U+2066]a[U+2069] ␛[31m ␇ [U+009B]");
  for (const text of ["a\tb\r\nc", "שלום, עולם", "👩‍💻 é 日本", "\u200fa\u200e"]) expect(escapeUnseen(text)).toBe(text);
});

describe.skipIf(!hasBrowser())("hostile text", () => {
  const folder = mkdtempSync(join(tmpdir(), "skep-hostile-"));
  const marks = createMarks();
  let [server, browser]: [TestServer?, Browser?] = [];
  let [host, models, repository]: [CodeHostFake?, ModelServer?, SourceTree?] = [];
  let document: ApiDocument;
  let pages: string[];
  beforeAll(async () => {
    const env = { AUTH_ENABLED: "true", RATE_LIMIT: "0", ...hostileModels(folder, marks) };
    repository = createSourceTree(hostileRepository(marks));
    repository.git("commit", "-q", "--allow-empty", "-m", "second");
    [server, browser, host, models] = await Promise.all([
      ...([startServer({ env }), openBrowser(), startCodeHost({ kind: "gitea" }), createModelServer()] as const),
    ]);
    models.next({
      kind: "status",
      status: 400,
      body: { error: { message: marks.text("model: error of a provider", { max: 300 }) } },
    });
    const { token } = await setupAdmin(server);
    document = (await server.request<ApiDocument>("GET", "/openapi.json")).body;
    pages = await furnishHostile({ server, token, marks, document, host, models, repository });
  });
  afterAll(async () => {
    await browser?.close();
    await Promise.all([server?.remove(), host?.stop(), models?.stop()]);
    repository?.remove();
    rmSync(folder, { recursive: true, force: true });
  });

  test("every field of the API that takes text of one's own has some, or says why no page shows it", () => {
    const filled = new Set(marks.places.values());
    const empty = textFields(document).filter((field) => !filled.has(field));
    const why = (field: string) => NOT_SHOWN.find(([, fields]) => fields.test(field));
    expect(empty.filter((field) => !why(field))).toEqual([]);
    const used = new Set([...empty, ...marks.places.values()].map(why));
    expect(NOT_SHOWN.filter((one) => !used.has(one)).map(([reason]) => reason)).toEqual([]);
  });

  test("each is shown on some page as text; nothing runs, asks elsewhere or breaks the policy, nothing is hidden or turned around", async () => {
    const seen = new Set<string>();
    const found: string[] = [];
    const left = [...new Set(pages)];
    const look = async () => {
      const { page, open, waitUntilSettled, close, faults } = await visit(browser!, server!.url);
      page.on("dialog", (dialog) => {
        found.push(`${page.url()} opens a dialog: ${dialog.message()}`);
        void dialog.dismiss();
      });
      await page.goto(server!.url);
      const login = { email: "admin@example.test", password: PASSWORD, session: "cookie" };
      await page.evaluate(
        `fetch("/v1/auth/login", { method: "POST", headers: { "content-type": "application/json" }, body: ${JSON.stringify(JSON.stringify(login))} })`,
      );
      const note = async (path: string) => {
        const { text, fields, raw, markup, title } = (await page.evaluate(LOOK)) as Looked;
        for (const mark of marksIn(`${text}\n${fields}`)) seen.add(mark);
        for (const one of [...markup, ...raw.map((hidden) => `hides ${JSON.stringify(hidden)}`)])
          found.push(`${path}: ${one}`);
        if (!title.includes("Skep")) found.push(`${path} has the title ${title}`);
      };
      for (let path = left.shift(); path !== undefined; path = left.shift()) {
        await open(path).catch((error: Error) => {
          throw new Error(`${path}: ${error.message}`);
        });
        await waitUntilSettled();
        await page.evaluate(UNFOLD);
        await waitUntilSettled();
        await note(path);
        const edit = page
          .getByRole("main")
          .getByRole("button", { name: /^(Edit|Change the connection|Change)$/ })
          .first();
        if (!(await edit.isVisible())) continue;
        await edit.click();
        await waitUntilSettled();
        await note(path);
      }
      await close();
      found.push(...faults.filter((fault) => !/40[149]|422/.test(fault)));
    };
    await Promise.all(Array.from({ length: VISITORS }, look));
    expect(found).toEqual([]);
    const arrived = new Set([...seen].map((mark) => marks.places.get(mark)));
    const isShown = (place: string) => !NOT_SHOWN.some(([, fields]) => fields.test(place));
    const lost = [...new Set(marks.places.values())].filter((place) => !arrived.has(place) && isShown(place));
    expect(lost).toEqual([]);
  });
});

interface Looked {
  text: string;
  fields: string;
  /** Texts that contain invisible characters. */
  raw: string[];
  /** Elements that none of our pages creates. */
  markup: string[];
  title: string;
}

const UNFOLD = `for (const one of document.querySelectorAll("main details:not([open]) > summary")) one.click()`;

/** Collects everything that the page shows. */
const LOOK = `(() => {
  const texts = [];
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (walker.nextNode()) texts.push(walker.currentNode);
  const shown = texts.filter(({ parentElement }) => !parentElement.closest("textarea"));
  const hidden = /[\\u0000-\\u0008\\u000b\\u000c\\u000e-\\u001f\\u007f-\\u009f\\u202a-\\u202e\\u2066-\\u2069]/;
  const fields = [...document.querySelectorAll("input, textarea")].map(({ value }) => value);
  const attributes = [...document.querySelectorAll("[title], [aria-label]")].map((one) => one.title + " " + one.ariaLabel);
  return {
    text: document.body.textContent,
    fields: [...fields, ...attributes].join("\\n"),
    raw: shown.map(({ data }) => data).filter((data) => hidden.test(data)).map((data) => data.slice(0, 80)),
    markup: [...document.querySelectorAll("body img:not(.cm-widgetBuffer), body iframe, body script, main b:not([class]), a[href^='javascript' i], a[href^='data:' i], form[action]")]
      .filter(({ src }) => !/^(blob:|data:image)/.test(src ?? ""))
      .map((one) => "has " + one.outerHTML.slice(0, 120)),
    title: document.title,
  };
})()`;
