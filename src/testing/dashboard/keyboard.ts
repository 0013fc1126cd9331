/** The keyboard instead of a mouse: Tab from stop to stop, each of which must be seen. */
import type { Locator, Page } from "playwright-core";

/** Where the focus is: its name, and what is wrong with it. */
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

export const focused = (page: Page) => page.evaluate(FOCUS) as Promise<{ name: string; faults: string[] }>;

/** Presses a key until the focus is on what is called so. @returns what was wrong on the way. */
export async function pressTo(page: Page, key: string, name: string | RegExp, most = 80): Promise<string[]> {
  const faults: string[] = [];
  const passed: string[] = [];
  for (let at = 0; at < most; at++) {
    await page.keyboard.press(key);
    const here = await focused(page);
    faults.push(...here.faults);
    if (typeof name === "string" ? here.name === name : name.test(here.name)) return faults;
    passed.push(here.name.slice(0, 30));
  }
  throw new Error(`${key} does not lead to ${name}, but to ${passed.join(" | ")}`);
}

/**
 * Types over what a field holds, as a person does: the focus, the keys and what the page does at each of them count. Tests
 * may not set values from outside (`fill`): a field that takes no keys would pass.
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

/** Opens every folded group of the navigation, so that each of its links can be clicked. */
export async function unfoldNavigation(page: Page): Promise<void> {
  const navigation = page.getByRole("navigation", { name: "Main" });
  await navigation.getByRole("link", { name: "Home" }).waitFor();
  for (const group of ["Library", "Settings"]) {
    const folded = navigation.locator("details:not([open]) > summary", { hasText: group });
    if ((await folded.count()) > 0) await folded.click();
  }
}
