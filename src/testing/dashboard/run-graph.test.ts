/**
 * The graph of a run's steps: steps do not overlap, edges back run at the side with their count, and letters are
 * readable.
 */
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import type { Browser } from "playwright-core";
import { becomes } from "../attacks/waiting.ts";
import { hasBrowser, openBrowser } from "../browser.ts";
import { startServer, type TestServer } from "../server.ts";
import { PHONE, visit, WINDOW } from "./visitor.ts";

setDefaultTimeout(300_000);

/** Smaller letters cannot be read, in px. */
const READABLE = 11;
const WIDE = 7;

interface Box {
  name: string;
  left: number;
  right: number;
  top: number;
  bottom: number;
}
interface Picture {
  steps: Box[];
  labels: Box[];
  /** The bounding box of each edge back. */
  lanes: Box[];
  /** The box of the whole picture. */
  frame: Box;
  /** The letters' sizes on the screen, in px. */
  letters: { text: string; size: number }[];
}

const PICTURE = `(() => {
  const box = (one) => {
    const { left, right, top, bottom } = one.getBoundingClientRect();
    return { name: one.textContent, left, right, top, bottom };
  };
  const all = (selector) => [...document.querySelectorAll(".react-flow " + selector)];
  const scale = new DOMMatrix(getComputedStyle(document.querySelector(".react-flow__viewport")).transform).a;
  const leaves = all(".react-flow__viewport *").filter((one) => one.children.length === 0 && one.textContent.trim());
  return {
    steps: all(".react-flow__node").map(box),
    labels: all(".react-flow__edges text").map(box),
    lanes: all(".react-flow__edge-back path:first-of-type").map(box),
    frame: box(document.querySelector(".react-flow")),
    letters: leaves.map((one) => ({ text: one.textContent, size: parseFloat(getComputedStyle(one).fontSize) * scale })),
  };
})()`;

/** Pairs that overlap by more than a pixel. */
const overlaps = (boxes: Box[]): string[] =>
  boxes.flatMap((one, at) =>
    boxes
      .slice(at + 1)
      .filter(
        (other) =>
          Math.min(one.right, other.right) - Math.max(one.left, other.left) > 1 &&
          Math.min(one.bottom, other.bottom) - Math.max(one.top, other.top) > 1,
      )
      .map((other) => `${one.name} over ${other.name}`),
  );

/**
 * It is sent back to the draft twice and once to the check; a third look at the draft does not count for that. One edge
 * back is never taken, although its target was done twice. One row is wider than the window.
 */
const STEPS = [
  { id: "draft", run: "true" },
  {
    id: "check",
    needs: ["draft"],
    run: "echo x >> checks; test $(wc -l < checks) -gt 2",
    on_failure: { goto: "draft", max_visits: 5 },
  },
  ...Array.from({ length: WIDE }, (_, at) => ({
    id: `part-${at}`,
    name: `A part with a long name, number ${at}`,
    run: "true",
    needs: ["check"],
  })),
  {
    id: "join",
    needs: Array.from({ length: WIDE }, (_, at) => `part-${at}`),
    run: "test -e joined || { touch joined; exit 1; }",
    on_failure: { goto: "check", max_visits: 5 },
  },
  { id: "end", run: "true", needs: ["join"], on_failure: { goto: "join", max_visits: 5 } },
];

describe.skipIf(!hasBrowser())("the picture of a run", () => {
  let [server, browser]: [TestServer?, Browser?] = [];
  let run = "";
  const send = async <T = { id: string }>(method: string, path: string, body?: object): Promise<T> => {
    const answer = await server!.request<T>(method, path, body ? { body } : {});
    if (answer.status >= 400) throw new Error(`${method} ${path}: ${answer.status} ${JSON.stringify(answer.body)}`);
    return answer.body;
  };
  beforeAll(async () => {
    [server, browser] = await Promise.all([startServer({ env: { ALLOW_HOST_SHELL: "true" } }), openBrowser()]);
    await send("POST", "/v1/pipelines", { id: "loops", name: "Loops", steps: STEPS });
    run = (await send("POST", "/v1/runs", { pipeline_id: "loops", task_description: "Loops" })).id;
    await becomes(async () => (await send<{ status: string }>("GET", `/v1/runs/${run}`)).status, "succeeded");
  });
  afterAll(async () => {
    await browser?.close();
    await server?.remove();
  });

  for (const [where, viewport] of Object.entries({ "in a window": WINDOW, "on a phone": PHONE }))
    test(`${where} no two steps overlap, ways back run at the side and say how often, letters are at least 11 px`, async () => {
      const { page, open, close, waitUntilSettled, overflow, faults } = await visit(browser!, server!.url, {
        viewport,
      });
      await open(`/runs/${run}?tab=graph`);
      await page.locator(".react-flow__node", { hasText: "end" }).waitFor();
      await waitUntilSettled();
      const picture = (await page.evaluate(PICTURE)) as Picture;
      const { steps, labels, lanes, letters, frame } = picture;
      expect(steps).toHaveLength(STEPS.length);
      expect(overlaps([...steps, ...labels])).toEqual([]);
      const [side, foot] = [
        Math.max(...steps.map(({ right }) => right)),
        Math.max(...steps.map(({ bottom }) => bottom)),
      ];
      expect(lanes).toHaveLength(3);
      // To the right of all steps, or below them if the graph runs from left to right.
      expect(lanes.filter(({ right, bottom }) => right <= side && bottom <= foot)).toEqual([]);
      expect(labels.filter(({ left, top }) => left <= side && top <= foot)).toEqual([]);
      const cut = steps.filter(({ left, right }) => left < frame.left || right > frame.right);
      if (viewport === WINDOW) expect(cut.map(({ name }) => name)).toEqual([]);
      expect(labels.map(({ name }) => name)).toEqual(["failed ×2", "failed ×1"]);
      expect(letters.filter(({ size }) => size < READABLE)).toEqual([]);
      expect(await overflow()).toBeLessThanOrEqual(0);
      await close();
      expect(faults).toEqual([]);
    });
});
