/** The rows of a run's outline. */
import type { OutlineRow } from "../../ui/outline.tsx";
import { latestOf, type Step, type StepPlan, whoDoes } from "./steps.ts";

export const outlineRows = (steps: StepPlan[], rows: Step[]): OutlineRow[] =>
  steps.map((step) => {
    const { id, name, status, attempts, children } = step;
    const row = latestOf(rows, id);
    const detail = [
      whoDoes(step, row),
      children.total > 0 && `${children.done}/${children.total}`,
      attempts > 1 && `${attempts} times`,
    ].filter(Boolean);
    return {
      ...{ id, title: name, detail: detail.join(" · "), status },
      ...{ started_at: row?.started_at, finished_at: row?.finished_at },
    };
  });
