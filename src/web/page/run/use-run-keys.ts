/** Keys of a run: f follows the log, n the next problem, a what waits for an answer, . restart or cancel. */
import { useMemo, useRef } from "react";
import { usePageKeys } from "../../keys/page-keys.ts";
import { paneOf } from "./pane.ts";
import type { StepPlan } from "./steps.ts";

const PROBLEMS = new Set(["failed", "waiting"]);

/** The next step after the current one that failed or waits, around the end. */
function nextProblem(steps: StepPlan[], current: string): string | undefined {
  const at = steps.findIndex(({ id }) => id === current);
  return [...steps.slice(at + 1), ...steps.slice(0, at + 1)].find(({ status }) => PROBLEMS.has(status))?.id;
}

/** Brings a part of the page into sight and gives it the focus. */
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
