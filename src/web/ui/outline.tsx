/** The items of a graph as a list, with agent, duration and state; one of them is selected. */
import type { ComponentProps } from "react";
import { Status } from "./status.tsx";
import { Took } from "./time.tsx";

export interface OutlineRow {
  id: string;
  title: string;
  detail: string;
  status: ComponentProps<typeof Status>["status"];
  started_at: string | null | undefined;
  finished_at: string | null | undefined;
}

interface Props {
  label: string;
  rows: OutlineRow[];
  current: string | undefined;
  onPick(id: string): void;
  /** Stays in view while what is beside it is read. */
  sticky?: boolean;
}

export function Outline({ label, rows, current, onPick, sticky = false }: Props) {
  const place = sticky ? "lg:sticky lg:top-4" : "";
  return (
    <ol aria-label={label} className={`overflow-hidden rounded-lg border border-line bg-panel ${place}`}>
      {rows.map(({ id, title, detail, status, started_at, finished_at }) => (
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
              <span className={`line-clamp-1 font-medium ${status === "pending" ? "text-dim" : ""}`}>{title}</span>
              <span className="line-clamp-1 text-sm text-dim">{detail}</span>
            </span>
            {started_at && (
              <span className="text-xs text-faint">
                <Took from={started_at} to={finished_at} />
              </span>
            )}
          </button>
        </li>
      ))}
    </ol>
  );
}
