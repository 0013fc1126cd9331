/** The steps in order: the graph's twin as a list. */
import { Status } from "../../ui/status.tsx";
import { Took } from "../../ui/time.tsx";
import { latestOf, type Step, type StepPlan, whoDoes } from "./steps.ts";

export function Outline({
  steps,
  rows,
  current,
  onPick,
}: {
  steps: StepPlan[];
  rows: Step[];
  current: string;
  onPick(step: string): void;
}) {
  return (
    <ol aria-label="Steps" className="overflow-hidden rounded-lg border border-line bg-panel">
      {steps.map((step) => {
        const { id, name, status, attempts, children } = step;
        const row = latestOf(rows, id);
        const more = [
          whoDoes(step),
          children.total > 0 && `${children.done}/${children.total}`,
          attempts > 1 && `${attempts} times`,
        ].filter(Boolean);
        return (
          <li key={id} className="border-b border-line last:border-0">
            <button
              type="button"
              data-row
              aria-current={id === current ? "step" : undefined}
              onClick={() => onPick(id)}
              className="flex w-full items-start gap-2.5 border-l-2 border-transparent px-3 py-2 text-left hover:bg-hover aria-[current=step]:border-accent aria-[current=step]:bg-hover"
            >
              <span className="mt-0.5">
                <Status status={status} bare />
              </span>
              <span className="min-w-0 flex-1">
                <span className={`line-clamp-1 font-medium ${status === "pending" ? "text-dim" : ""}`}>{name}</span>
                <span className="line-clamp-1 text-sm text-dim">{more.join(" · ")}</span>
              </span>
              {row?.started_at && (
                <span className="text-xs text-faint">
                  <Took from={row.started_at} to={row.finished_at} />
                </span>
              )}
            </button>
          </li>
        );
      })}
    </ol>
  );
}
