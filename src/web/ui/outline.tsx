/** The items of a graph as a list with agent, duration and state; one of them is selected. */
import { type ComponentProps, useEffect, useRef } from "react";
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
}

/**
 * Stays in view while the person reads what is beside it, and scrolls separately. The row that is shown is always in
 * sight.
 */
export function Outline({ label, rows, current, onPick }: Props) {
  const list = useRef<HTMLOListElement>(null);
  // biome-ignore lint/correctness/useExhaustiveDependencies: which row is marked depends on the current one.
  useEffect(() => {
    const row = list.current?.querySelector<HTMLElement>("[aria-current=step]");
    const box = list.current;
    if (!row || !box) return;
    // `scrollIntoView` is not used, because it would also scroll the page.
    const [top, bottom] = [row.offsetTop, row.offsetTop + row.offsetHeight];
    if (top < box.scrollTop || bottom > box.scrollTop + box.clientHeight)
      box.scrollTop = top - (box.clientHeight - row.offsetHeight) / 2;
  }, [current, rows.length]);
  return (
    <ol
      ref={list}
      aria-label={label}
      className="relative overflow-hidden rounded-lg border border-line bg-panel lg:sticky lg:top-4 lg:max-h-[calc(100dvh-2rem)] lg:overflow-y-auto"
    >
      {rows.map(({ id, title, detail, status, started_at, finished_at }) => (
        <li key={id} className="border-b border-line last:border-0">
          <button
            type="button"
            data-row
            aria-current={id === current ? "step" : undefined}
            onClick={() => onPick(id)}
            className="flex w-full items-start gap-2.5 -outline-offset-2 border-l-2 border-transparent px-3 py-2 text-left hover:bg-hover aria-[current=step]:border-accent aria-[current=step]:bg-hover"
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
