/** The progress of a run: a bar of its steps, and the current step. */
import type { Schemas } from "../../api/client.ts";
import { LocalTimes } from "../../ui/time.tsx";

const TONE: Record<string, string> = {
  running: "text-run",
  queued: "text-run",
  waiting: "text-wait",
  failed: "text-bad",
  succeeded: "text-ok",
};

export function Progress({ run }: { run: Schemas["Run"] }) {
  const { steps_done, steps_total, current_step_name, waiting_reason, status } = run;
  const part = steps_total === 0 ? 0 : Math.round((steps_done / steps_total) * 100);
  const detail = waiting_reason || current_step_name;
  return (
    <span className="flex min-w-0 items-center gap-2 text-sm">
      <span
        aria-hidden
        className={`h-1.5 w-14 shrink-0 rounded-full bg-line ${TONE[status] ?? "text-line-strong"}`}
        style={{ backgroundImage: `linear-gradient(to right, currentcolor ${part}%, transparent ${part}%)` }}
      />
      <span className="shrink-0 text-dim tabular-nums">
        {steps_done}/{steps_total}
      </span>
      {detail && (
        <span className="line-clamp-1 text-dim">
          <LocalTimes text={detail} />
        </span>
      )}
    </span>
  );
}
