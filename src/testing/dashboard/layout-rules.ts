/** Layout rules that axe does not check: the size of targets, and motion. */
import type { Page } from "playwright-core";

/**
 * Finds targets smaller than `least` px, as WCAG 2.2 defines them (2.5.8). A target may be smaller if a circle of that
 * size around its center meets no other target, or within a sentence. The lines of a diff need only 24 px on phones,
 * too, because 44 would leave half of them on the screen. Elements that are out of sight and not laid out are skipped.
 */
const SMALL = (least: number) => `(() => {
  const least = ${least};
  const shown = (one) => one.checkVisibility({ visibilityProperty: true, opacityProperty: true, contentVisibilityAuto: true });
  const top = document.querySelector("dialog[open]") ?? document;
  const targets = [];
  for (const one of top.querySelectorAll("a[href], button, input, select, textarea, summary, [role=button], [role=menuitem]")) {
    if (!shown(one) || one.closest("[inert], .sr-only, .cm-editor, .react-flow__attribution") || one.type === "hidden") continue;
    const covered = one.matches("[data-row]") ? one.closest("tr, li, article") : one.closest("label");
    const box = (covered ?? one).getBoundingClientRect();
    if (box.width <= 1 || box.height <= 1) continue;
    const around = one.parentElement.textContent.trim().length > one.textContent.trim().length;
    const wanted = one.matches("[data-comment]") ? 24 : least;
    const inSentence = getComputedStyle(one).display === "inline" && around;
    targets.push({ one, box, small: !inSentence && Math.min(box.width, box.height) < wanted - 0.5 });
  }
  const middle = ({ box }) => [box.left + box.width / 2, box.top + box.height / 2];
  const meets = (small, other) => {
    const [x, y] = middle(small);
    if (other.small) return Math.hypot(x - middle(other)[0], y - middle(other)[1]) < least;
    const { left, right, top, bottom } = other.box;
    return Math.hypot(x - Math.min(Math.max(x, left), right), y - Math.min(Math.max(y, top), bottom)) < least / 2;
  };
  const inside = (small, other) => other.one.contains(small.one) || small.one.contains(other.one);
  return targets.flatMap((small) => {
    if (!small.small) return [];
    const near = targets.find((other) => other !== small && !inside(small, other) && meets(small, other));
    const { width, height } = small.box;
    const name = (one) => one.tagName.toLowerCase() + " " + (one.getAttribute("aria-label") ?? one.textContent).trim().slice(0, 40);
    return near ? [name(small.one) + " is " + Math.round(width) + "×" + Math.round(height) + " px, beside " + name(near.one)] : [];
  });
})()`;

/**
 * @param least minimum size in px: 24, on a phone 44. @returns each target that is too small, with its size and its
 * neighbor.
 */
export const smallTargets = (page: Page, least: number) => page.evaluate(SMALL(least)) as Promise<string[]>;

/** @returns animations that are running although the reader asked for reduced motion. */
export const motion = (page: Page) =>
  page.evaluate(`document.getAnimations()
    .filter(({ playState, effect }) => playState === "running" && effect.getComputedTiming().endTime > 1)
    .map(({ animationName, transitionProperty, effect }) =>
      (animationName ?? transitionProperty) + " moves " + effect.target.className)`) as Promise<string[]>;
