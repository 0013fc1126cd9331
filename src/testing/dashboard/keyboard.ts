/** Operates pages by keyboard: moves with Tab, and checks that each focused element is visible. */
import type { Locator, Page } from "playwright-core";

/** The name of the focused element, and what is wrong with it. */
const FOCUS = `(() => {
  const here = document.activeElement;
  const name = (here.getAttribute("aria-label") ?? here.labels?.[0]?.textContent ?? here.textContent ?? "").trim();
  const outlined = (one) => one && getComputedStyle(one).outlineStyle !== "none" && getComputedStyle(one).outlineWidth !== "0px";
  const { top, bottom, left, right, width } = here.getBoundingClientRect();
  const seen = width > 0 && bottom > 0 && right > 0 && top < innerHeight && left < innerWidth;
  const faults = [
    ...(outlined(here) || outlined(here.parentElement) ? [] : ["shows no focus"]),
    ...(seen ? [] : ["is out of sight"]),
    ...(document.querySelector("[tabindex]:not([tabindex='0'],[tabindex='-1'])") ? ["is on a page with an order of its own"] : []),
  ];
  return { name, faults: here === document.body ? [] : faults.map((fault) => here.tagName + " " + name + " " + fault) };
})()`;

export const readFocus = (page: Page) => page.evaluate(FOCUS) as Promise<{ name: string; faults: string[] }>;

/** Presses a key until the element with that name has the focus. @returns what was wrong on the way. */
export async function pressTo(page: Page, key: string, name: string | RegExp, most = 80): Promise<string[]> {
  const faults: string[] = [];
  const passed: string[] = [];
  for (let at = 0; at < most; at++) {
    await page.keyboard.press(key);
    const here = await readFocus(page);
    faults.push(...here.faults);
    if (typeof name === "string" ? here.name === name : name.test(here.name)) return faults;
    passed.push(here.name.slice(0, 30));
  }
  throw new Error(`${key} does not lead to ${name}, but to ${passed.join(" | ")}`);
}

/**
 * Replaces a field's content as a person does, so that focus, keys and the page's reactions are tested. Tests must not
 * set values from outside (`fill`), because a field that accepts no keys would pass.
 */
export async function typeInto(field: Locator, text: string): Promise<void> {
  const { keyboard } = field.page();
  await field.click();
  await keyboard.press("Control+a");
  await keyboard.press("Delete");
  for (const [at, line] of text.split("\n").entries()) {
    // Enter alone sends a message.
    if (at > 0) await keyboard.press("Shift+Enter");
    await keyboard.type(line);
  }
}

/** Opens all folded groups of the navigation, so that each of its links can be clicked. */
export async function unfoldNavigation(page: Page): Promise<void> {
  const navigation = page.getByRole("navigation", { name: "Main" });
  await navigation.getByRole("link", { name: "Home" }).waitFor();
  for (const group of ["Library", "Settings"]) {
    const folded = navigation.locator("details:not([open]) > summary", { hasText: group });
    if ((await folded.count()) > 0) await folded.click();
  }
}
