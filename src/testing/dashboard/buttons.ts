/**
 * Presses every button that a page offers once. Something must follow, and what the server refuses must be shown.
 * Nothing changes on the server: requests for changes are answered in the page, with a refusal.
 */
import type { Page } from "playwright-core";
import type { Visitor } from "./visitor.ts";

/** Detail of the problem with which every change is answered. */
const REFUSAL = "Refused, to see whether the page says so.";

/**
 * How long a button may take to have an effect, in ms: before a missed press is repeated, and then before it counts as
 * dead.
 */
const PATIENCE_MS = { first: 10_000, second: 20_000 };

/** Most presses on one page. A page that exceeds it has rows that were not recognized as such. */
const MOST_PRESSES = 150;

/**
 * How often in a row the page may have to be opened again without a press. A page that exceeds it leads elsewhere by
 * itself.
 */
const MOST_STRAYED = 3;

/** How often the position of the target is checked until it stands still. After that it is pressed where it is. */
const MOST_LOOKS = 20;

/** The page on which the navigation is pressed, too. */
const FRAMED = "/jobs";

/** Runs before the page's own scripts. It answers changes with the refusal and records the effects of a press. */
const WATCH = `(() => {
  const buttons = { seen: null, wake: () => {}, refused: [], reached: false };
  window.buttons = buttons;
  const saw = (what) => { buttons.seen ??= what; buttons.wake(); };
  // Polls, events and clocks ask and draw as well: what a press asks, draws or goes to begins in the press's own task.
  let pressing = false;
  const acts = (what) => pressing && saw(what);
  for (const name of ["pointerdown", "mousedown", "pointerup", "mouseup", "click", "submit"])
    addEventListener(name, () => { pressing = true; setTimeout(() => { pressing = false; }); }, true);
  addEventListener("click", ({ target }) => { if (target.closest("[data-pressed]")) buttons.reached = true; }, true);
  const fetched = window.fetch;
  window.fetch = async (input, init) => {
    const request = new Request(input, init);
    const path = new URL(request.url).pathname;
    acts("request");
    if (request.method === "GET") return fetched(request);
    buttons.refused.push(request.method + " " + path);
    const problem = { type: "about:blank", title: "Refused", status: 409, code: "refused", detail: ${JSON.stringify(REFUSAL)}, instance: path, request_id: "none" };
    return new Response(JSON.stringify(problem), { status: 409, headers: { "Content-Type": "application/problem+json" } });
  };
  for (const name of ["pushState", "replaceState"]) {
    const go = history[name].bind(history);
    history[name] = (...all) => { acts("address"); return go(...all); };
  }
  // A button may change later, as one that copies does; the time that it shows passes anyway.
  const isOwn = (node) => {
    const part = node.nodeType === 1 ? node : node.parentElement;
    return part?.closest("[data-pressed]") && !part.closest("time");
  };
  new MutationObserver((list) => (pressing || list.some(({ target }) => isOwn(target))) && saw("change"))
    .observe(document, { subtree: true, childList: true, characterData: true, attributes: true });
  addEventListener("invalid", () => saw("validation"), true);
  addEventListener("toggle", () => saw("toggle"), true);
  // A log follows what is written by itself.
  addEventListener("scroll", ({ target }) => target.closest?.("[role=log]") || saw("scroll"), true);
  addEventListener("focusin", ({ target }) => target.closest("[data-pressed]") || saw("focus"), true);
  const clear = CanvasRenderingContext2D.prototype.clearRect;
  CanvasRenderingContext2D.prototype.clearRect = function (...box) { saw("drawing"); return clear.apply(this, box); };
  const choose = HTMLInputElement.prototype.click;
  HTMLInputElement.prototype.click = function () { saw("file chooser"); if (this.type !== "file") choose.call(this); };
})()`;

/**
 * Finds the next button on the topmost layer (menu, dialog or page) and marks it with `data-press`. Buttons that close
 * the layer come last. `rest` is the number of buttons that remain.
 */
const NEXT = (within: string, done: readonly string[]) => `(() => {
  const done = new Set(${JSON.stringify(done)});
  document.querySelector("[data-press]")?.removeAttribute("data-press");
  const menu = document.querySelector("[role=menu]:popover-open");
  const dialog = [...document.querySelectorAll("dialog:modal")].at(-1);
  const top = menu ?? dialog ?? document.querySelector("${within}");
  const name = (one) => (one.getAttribute("aria-label") ?? (one.textContent.trim() || one.title)).replace(/\\s+/g, " ").trim();
  const layer = menu ? "menu of " + name(document.getElementById(menu.getAttribute("aria-labelledby"))) : (dialog?.getAttribute("aria-label") ?? "");
  const alike = {};
  const found = [];
  for (const one of top.querySelectorAll("button, [role=button], [role=menuitem], [role=tab], summary")) {
    if (one.disabled || one.getAttribute("aria-disabled") === "true" || one.closest("[inert], .cm-editor, .sr-only, fieldset:disabled")) continue;
    if (["aria-pressed", "aria-selected", "aria-checked"].some((state) => one.getAttribute(state) === "true")) continue;
    if (!one.checkVisibility({ visibilityProperty: true, opacityProperty: true, contentVisibilityAuto: true })) continue;
    const said = name(one).slice(0, 60);
    if (said === "Copied") continue;
    // Of rows alike and of what is numbered, the first two.
    const row = one.closest("tr, li, article, .react-flow__node, details");
    const icon = one.querySelector("svg")?.getAttribute("class") ?? "";
    const kind = one.tagName + one.className + icon + (row && !menu ? "" : said.replace(/\\d+/g, "#"));
    alike[kind] = (alike[kind] ?? 0) + 1;
    if (!menu && alike[kind] > 2) continue;
    found.push({ one, said, key: layer + " › " + said, closes: dialog && !menu && /^(Cancel|Keep|Close)$/.test(said) });
  }
  // The cross of a dialog is one part for all; its own button to leave is enough where there is one.
  const leaves = found.some(({ said }) => said === "Cancel" || said === "Keep");
  const open = found.filter(({ key, said }) => !done.has(key) && !(leaves && dialog && said === "Close"));
  const next = open.find(({ closes }) => !closes) ?? open[0];
  next?.one.setAttribute("data-press", "");
  return { key: next?.key ?? null, layer, rest: open.length - 1 };
})()`;

/**
 * Fills in what the marked button's form requires, so that the button sends it, and scrolls the button into sight. From
 * here on, everything that happens counts as an effect of the press. @returns where to press, or what covers the
 * button.
 */
const AIM = `(async () => {
  const { buttons } = window;
  const one = document.querySelector("[data-press]");
  // Drawn anew since it was chosen, as when an event came meanwhile.
  if (!one) return null;
  for (const field of one.form?.querySelectorAll(":invalid") ?? []) {
    const text = { email: "ada@example.org", url: "https://example.org/a", number: field.min || "1", date: "2030-01-01", time: "10:00" };
    const value = field.tagName === "SELECT" ? [...field.options].find(({ value }) => value)?.value : (text[field.type] ?? "sample-of-text");
    if (value === undefined || field.type === "checkbox" || field.type === "file") continue;
    const { set } = Object.getOwnPropertyDescriptor(Object.getPrototypeOf(field), "value") ?? {};
    set?.call(field, value);
    field.dispatchEvent(new Event(field.tagName === "SELECT" ? "change" : "input", { bubbles: true }));
  }
  one.removeAttribute("data-press");
  document.querySelector("[data-pressed]")?.removeAttribute("data-pressed");
  one.setAttribute("data-pressed", "");
  // A drawing that fills its frame already has nothing to fit.
  if (one.matches(".react-flow__controls-fitview")) one.parentElement.querySelector(".react-flow__controls-zoomin").click();
  one.scrollIntoView({ block: "nearest", inline: "nearest", behavior: "instant" });
  const middle = () => {
    const box = [...one.getClientRects()].find(({ width, height }) => width > 0 && height > 0) ?? one.getBoundingClientRect();
    return [box.left + box.width / 2, box.top + box.height / 2];
  };
  const twoFrames = () => new Promise((drawn) => {
    requestAnimationFrame(() => requestAnimationFrame(() => setTimeout(drawn)));
    setTimeout(drawn, 2000);
  });
  // A person waits until what they aim at stands still: what comes into sight may be laid out anew.
  let [x, y] = middle();
  for (let looks = 0; looks < ${MOST_LOOKS}; looks++) {
    await twoFrames();
    if (!one.isConnected) return null;
    const [left, top] = middle();
    const stands = Math.abs(left - x) < 1 && Math.abs(top - y) < 1;
    [x, y] = [left, top];
    if (stands) break;
  }
  const hit = document.elementFromPoint(x, y);
  buttons.seen = null;
  buttons.refused = [];
  buttons.reached = false;
  return { x, y, covered: hit && (one.contains(hit) || hit.closest("label")?.control === one) ? null : (hit?.outerHTML.slice(0, 80) ?? "the edge of the window") };
})()`;

/** The first effect of the press, or null if there was none within `patience` ms. */
const EFFECT = (patience: number) => `new Promise((done) => {
  const { buttons } = window;
  const end = () => done(buttons.seen);
  if (buttons.seen) return end();
  const late = setTimeout(end, ${patience});
  buttons.wake = () => { clearTimeout(late); end(); };
})`;

interface Next {
  key: string | null;
  layer: string;
  rest: number;
}

interface Aim {
  x: number;
  y: number;
  covered: string | null;
}

interface Pressed {
  count: number;
  /** How many of the presses sent something. */
  sent: number;
  /** What was wrong, with the page and the button. */
  found: string[];
}

/** Prepares a visitor's pages for pressing. Call this before its first page is opened. */
export const watchButtons = (page: Page) => page.addInitScript(WATCH);

/**
 * Presses each button of the open page, and of the menus and dialogs that they open.
 * @param path address of the page, to return to it.
 * @param done buttons that were pressed on other views of the same page; new ones are added.
 */
export async function pressAll(visitor: Visitor, base: string, path: string, done: Set<string>): Promise<Pressed> {
  const { page } = visitor;
  // The frame around every page is pressed only on one page.
  const within = path === FRAMED ? "body" : "main";
  const pressed: Pressed = { count: 0, sent: 0, found: [] };
  /** The buttons that opened the layers above the page, the topmost layer last. */
  const openers: { key: string; layer: string }[] = [];
  const next = async () => (await page.evaluate(NEXT(within, [...done]))) as Next;
  /** Marks the button that opened the topmost layer as done. */
  const leave = () => {
    const opener = openers.pop();
    if (opener) done.add(opener.key);
    return opener !== undefined;
  };
  await visitor.waitUntilSettled();
  /** How often the page had to be opened again since the last press. */
  let strayed = 0;
  for (let { key, layer, rest } = await next(); pressed.count < MOST_PRESSES; { key, layer, rest } = await next()) {
    if (layer === "" && page.url() !== base + path) {
      if (++strayed > MOST_STRAYED) {
        pressed.found.push(`${path} leads to ${page.url()} by itself`);
        return pressed;
      }
      await visitor.go(path);
      await visitor.waitUntilSettled();
      continue;
    }
    while (openers.length > 0 && !openers.some((one) => one.layer === layer)) openers.pop();
    if (key === null) {
      if (layer === "") return pressed;
      const wasOpened = leave();
      await page.keyboard.press("Escape");
      await visitor.waitUntilSettled();
      if (wasOpened) continue;
      // The layer belongs to the address, as with `?new=1`. The page below has an address of its own.
      if (page.url() !== base + path) return pressed;
      if (++strayed <= MOST_STRAYED && (await next()).layer !== layer) continue;
      pressed.found.push(`${path}: Escape does not close ${layer}`);
      return pressed;
    }
    const aim = (await page.evaluate(AIM)) as Aim | null;
    if (aim === null) {
      if (++strayed <= MOST_STRAYED) continue;
      pressed.found.push(`${path}: ${key} is drawn anew all the time`);
      return pressed;
    }
    // Something that an earlier press opened appeared only now and covers the button, so it is pressed first.
    if (aim.covered !== null && strayed < MOST_STRAYED && (await next()).layer !== layer) {
      strayed++;
      continue;
    }
    strayed = 0;
    await press(visitor, aim, `${path}: ${key}`, pressed);
    const { layer: top } = await next();
    if (top !== layer && top !== "") openers.push({ key, layer: top });
    else {
      done.add(key);
      if (top === "" && layer !== "" && rest === 0) leave();
    }
  }
  pressed.found.push(`${path}: more than ${MOST_PRESSES} presses`);
  return pressed;
}

/** Presses the marked button and records its effect. */
async function press(
  { page, waitUntilSettled }: Visitor,
  { x, y, covered }: Aim,
  name: string,
  pressed: Pressed,
): Promise<void> {
  // If the button cannot be pressed, no effect follows, and that is reported below.
  const click = () =>
    page
      .locator("[data-pressed]")
      .click({ timeout: PATIENCE_MS.second })
      .catch(() => {});
  if (covered === null) await page.mouse.click(x, y);
  // A button that has moved, or is covered, is pressed with Playwright's own waiting.
  else await click();
  pressed.count++;
  if (!(await page.evaluate(EFFECT(PATIENCE_MS.first)))) {
    // Live content may have moved away below the mouse, so press again. A button that was reached and did nothing gets
    // no second try.
    if (!(await page.evaluate("window.buttons.reached"))) await click();
    // On a busy machine, loading what the button opens may take long.
    await waitUntilSettled();
    if (!(await page.evaluate(EFFECT(PATIENCE_MS.second))))
      pressed.found.push(`nothing follows from ${name}${covered === null ? "" : `, below ${covered}`}`);
  }
  await waitUntilSettled();
  const refused = (await page.evaluate("window.buttons.refused")) as string[];
  if (refused.length === 0) return;
  pressed.sent++;
  const said = page.getByText(REFUSAL).filter({ visible: true }).first();
  await said.waitFor().catch(() => {
    pressed.found.push(`${name} does not say that ${refused.join(", ")} was refused`);
  });
}
