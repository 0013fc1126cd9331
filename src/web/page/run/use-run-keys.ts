/**
 * Keys of a run's page: f follows the log, n goes to the next problem, a to what waits for an answer, . restarts or
 * cancels.
 */
import { useMemo, useRef } from "react";
import { usePageKeys } from "../../keys/page-keys.ts";
import { paneOf } from "./pane.ts";
import type { StepPlan } from "./steps.ts";

const PROBLEMS = new Set(["failed", "waiting"]);

/** The next step after the current one that failed or waits; after the last step the search continues at the first. */
function nextProblem(steps: StepPlan[], current: string): string | undefined {
  const at = steps.findIndex(({ id }) => id === current);
  return [...steps.slice(at + 1), ...steps.slice(0, at + 1)].find(({ status }) => PROBLEMS.has(status))?.id;
}

/** Scrolls to a part of the page and focuses it. */
export const focusOn = (selector: string) => {
  const found = document.querySelector<HTMLElement>(`main ${selector}`);
  found?.scrollIntoView({ block: "center" });
  found?.focus();
};

export function useRunKeys(steps: StepPlan[], current: string, pick: (step: string) => void): void {
  const now = useRef({ steps, current, pick });
  now.current = { steps, current, pick };
  const keys = useMemo(
    () => ({
      f() {
        const pane = paneOf(document.querySelector("main [data-pane]"));
        pane.scrollTo({ top: pane.scrollHeight });
      },
      n() {
        const { steps: all, current: shown, pick: choose } = now.current;
        const next = nextProblem(all, shown);
        if (next) choose(next);
      },
      a: () => focusOn("[data-approve]"),
      ".": () => document.querySelector<HTMLElement>("main [data-run-action]")?.click(),
    }),
    [],
  );
  usePageKeys(keys);
}
