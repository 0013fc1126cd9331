/**
 * Presses what a page offers, each button once: something must follow, and what the server refuses must be said.
 * Nothing changes on the server: what the page sends to change something is answered here, with a refusal.
 */
import type { Page } from "playwright-core";
import type { Visitor } from "./visitor.ts";

/** Detail of the problem that every change is answered with. */
const REFUSAL = "Refused, to see whether the page says so.";

/** How long a button may take to do something before it counts as dead. */
const DEAD_AFTER_MS = 5_000;

/** Presses of one page at most: what needs more has rows that are not recognized as such. */
const MOST_PRESSES = 150;

/** The page on which the navigation is pressed as well. */
const FRAMED = "/jobs";

/** Installed before the page's own scripts: answers changes with the refusal and writes down what a press did. */
const WATCH = `(() => {
  const buttons = { seen: null, wake: () => {}, refused: [] };
  window.buttons = buttons;
  const saw = (what) => { buttons.seen ??= what; buttons.wake(); };
  const fetched = window.fetch;
  window.fetch = async (input, init) => {
    const request = new Request(input, init);
    const path = new URL(request.url).pathname;
    saw("request");
    if (request.method === "GET") return fetched(request);
    buttons.refused.push(request.method + " " + path);
    const problem = { type: "about:blank", title: "Refused", status: 409, code: "refused", detail: ${JSON.stringify(REFUSAL)}, instance: path, request_id: "none" };
    return new Response(JSON.stringify(problem), { status: 409, headers: { "Content-Type": "application/problem+json" } });
  };
  for (const name of ["pushState", "replaceState"]) {
    const go = history[name].bind(history);
    history[name] = (...all) => { saw("address"); return go(...all); };
  }
  // A time that passes and a log that grows are no answer to a press, unless it was there.
  const apart = (node) => {
    const part = (node.nodeType === 1 ? node : node.parentElement)?.closest("time, [role=log]");
    return part && !part.contains(document.querySelector("[data-pressed]"));
  };
  new MutationObserver((list) => list.some(({ target }) => !apart(target)) && saw("change"))
    .observe(document, { subtree: true, childList: true, characterData: true, attributes: true });
  addEventListener("invalid", () => saw("validation"), true);
  addEventListener("toggle", () => saw("toggle"), true);
  addEventListener("scroll", () => saw("scroll"), true);
  addEventListener("focusin", ({ target }) => target.closest("[data-pressed]") || saw("focus"), true);
  const clear = CanvasRenderingContext2D.prototype.clearRect;
  CanvasRenderingContext2D.prototype.clearRect = function (...box) { saw("drawing"); return clear.apply(this, box); };
  const choose = HTMLInputElement.prototype.click;
  HTMLInputElement.prototype.click = function () { saw("file chooser"); if (this.type !== "file") choose.call(this); };
})()`;

/** The next thing to press in what lies on top (menu, dialog or page), marked with \`data-press\`. */
const NEXT = (within: string, done: readonly string[]) => `(() => {
  const done = new Set(${JSON.stringify(done)});
  document.querySelector("[data-press]")?.removeAttribute("data-press");
  const menu = document.querySelector("[role=menu]:popover-open");
  const dialog = [...document.querySelectorAll("dialog:modal")].at(-1);
  const top = menu ?? dialog ?? document.querySelector("${within}");
  const name = (one) => (one.getAttribute("aria-label") ?? (one.textContent.trim() || one.title)).replace(/\\s+/g, " ").trim();
  const layer = menu ? "menu of " + name(document.getElementById(menu.getAttribute("aria-labelledby"))) : (dialog?.getAttribute("aria-label") ?? "");
  const rows = {};
  for (const one of top.querySelectorAll("button, [role=button], [role=menuitem], [role=tab], summary")) {
    if (one.disabled || one.getAttribute("aria-disabled") === "true" || one.closest("[inert], .cm-editor, .sr-only, fieldset:disabled")) continue;
    if (["aria-pressed", "aria-selected", "aria-checked"].some((state) => one.getAttribute(state) === "true")) continue;
    if (!one.checkVisibility({ visibilityProperty: true, opacityProperty: true, contentVisibilityAuto: true })) continue;
    // Of rows alike and of what is numbered, the first two.
    const row = one.closest("tr, li, article, .react-flow__node, details");
    const icon = one.querySelector("svg")?.getAttribute("class") ?? "";
    if (name(one) === "Copied") continue;
    const kind = one.tagName + one.className + icon + (row && !menu ? "" : name(one).replace(/\\d+/g, "#"));
    rows[kind] = (rows[kind] ?? 0) + 1;
    if (!menu && rows[kind] > 2) continue;
    const key = layer + " › " + name(one).slice(0, 60);
    if (done.has(key)) continue;
    one.setAttribute("data-press", "");
    return { key, layer };
  }
  return { key: null, layer };
})()`;

/** Fills what a form needs, so that its button sends it. */
const FILL = `(() => {
  const form = document.querySelector("[data-press]")?.form;
  for (const one of form?.querySelectorAll(":invalid") ?? []) {
    const text = { email: "ada@example.org", url: "https://example.org/a", number: one.min || "1", date: "2030-01-01", time: "10:00" };
    const value = one.tagName === "SELECT" ? [...one.options].find(({ value }) => value)?.value : (text[one.type] ?? "sample-of-text");
    if (value === undefined || one.type === "checkbox" || one.type === "file") continue;
    const { set } = Object.getOwnPropertyDescriptor(Object.getPrototypeOf(one), "value");
    set.call(one, value);
    one.dispatchEvent(new Event(one.tagName === "SELECT" ? "change" : "input", { bubbles: true }));
  }
})()`;

/** From here on what happens is the work of the press. */
const ARM = `(() => {
  const { buttons } = window;
  const one = document.querySelector("[data-press]");
  one.removeAttribute("data-press");
  document.querySelector("[data-pressed]")?.removeAttribute("data-pressed");
  one.setAttribute("data-pressed", "");
  return new Promise((done) => requestAnimationFrame(() => setTimeout(() => {
    buttons.seen = null;
    buttons.refused = [];
    done();
  })));
})()`;

/** What the press did first, or null. */
const EFFECT = `new Promise((done) => {
  const { buttons } = window;
  const end = () => done(buttons.seen);
  if (buttons.seen) return end();
  const late = setTimeout(end, ${DEAD_AFTER_MS});
  buttons.wake = () => { clearTimeout(late); end(); };
})`;

interface Next {
  key: string | null;
  layer: string;
}

export interface Pressed {
  count: number;
  /** Of them, those that sent something. */
  sent: number;
  /** What was wrong, with the page and the button. */
  found: string[];
}

/** Makes a visitor's pages ready to be pressed; before its first page is opened. */
export const watchButtons = (page: Page) => page.addInitScript(WATCH);

/**
 * Opens a page and presses each of its buttons, those of the menus and dialogs that they open, too.
 * @param done what was pressed already, on other views of the same page; grows.
 */
export async function pressAll(visitor: Visitor, base: string, path: string, done: Set<string>): Promise<Pressed> {
  const { page } = visitor;
  // What is around every page is pressed on one of them.
  const within = path === FRAMED ? "body" : "main";
  const pressed: Pressed = { count: 0, sent: 0, found: [] };
  /** Who opened what lies on top, the last one last. */
  const openers: { key: string; layer: string }[] = [];
  await visitor.open(path);
  await visitor.settled();
  while (pressed.count < MOST_PRESSES) {
    const { key, layer } = (await page.evaluate(NEXT(within, [...done]))) as Next;
    if (layer === "" && page.url() !== base + path) {
      await page.evaluate(`history.pushState(null, "", ${JSON.stringify(base + path)})`);
      await page.locator("main h1").first().waitFor();
      await visitor.settled();
      continue;
    }
    while (openers.length > 0 && !openers.some((one) => one.layer === layer)) openers.pop();
    if (key === null) {
      const opener = openers.pop();
      if (!opener) return pressed;
      done.add(opener.key);
      await page.keyboard.press("Escape");
      await visitor.settled();
      continue;
    }
    const { top, refused } = await press(visitor, `${path}: ${key}`, pressed);
    if (top !== layer && top !== "") openers.push({ key, layer: top });
    else done.add(key);
    pressed.count++;
    if (refused) pressed.sent++;
  }
  pressed.found.push(`${path}: more than ${MOST_PRESSES} presses`);
  return pressed;
}

/** Presses what is marked. @returns what lies on top afterwards, and whether something was sent. */
async function press(
  { page, settled }: Visitor,
  name: string,
  { found }: Pressed,
): Promise<{ top: string; refused: boolean }> {
  await page.evaluate(FILL);
  await page.evaluate(ARM);
  await page.locator("[data-pressed]").click();
  if (!(await page.evaluate(EFFECT))) found.push(`nothing follows from ${name}`);
  await settled();
  const refused = (await page.evaluate("window.buttons.refused")) as string[];
  if (refused.length > 0) {
    const said = page.getByText(REFUSAL).filter({ visible: true }).first();
    await said.waitFor({ timeout: DEAD_AFTER_MS }).catch(() => {
      found.push(`${name} does not say that ${refused.join(", ")} was refused`);
    });
  }
  const { layer } = (await page.evaluate(NEXT("body", []))) as Next;
  return { top: layer, refused: refused.length > 0 };
}
