/** Two attempts of a step side by side: duration, cost, errors, and the differences of their outputs. */
import type { ReactNode } from "react";
import { Button } from "../../ui/button.tsx";
import { costText, count, formatDuration } from "../../ui/format.ts";
import { LineDiff } from "../../ui/line-diff.tsx";
import { Panel } from "../../ui/page.tsx";
import { Status } from "../../ui/status.tsx";
import type { Step } from "./steps.ts";

const span = (from: string | null, to: string | null): string =>
  from && to ? formatDuration(Date.parse(to) - Date.parse(from)) : "–";
const textOf = (value: unknown): string => JSON.stringify(value, null, 2);

const ROWS: [name: string, of: (step: Step) => ReactNode][] = [
  ["State", ({ status }) => <Status status={status} />],
  ["Took", ({ started_at, finished_at }) => span(started_at, finished_at)],
  ["Queued", ({ queued_at, started_at }) => span(queued_at, started_at)],
  ["Cost", costText],
  ["Tokens", ({ tokens }) => count(tokens)],
  ["Model", ({ model }) => model ?? "–"],
  ["Error", ({ error }) => error?.message ?? "–"],
];

export function Compare({ before, after, onClose }: { before: Step; after: Step; onClose(): void }) {
  const parts = [
    ["What they gave", textOf(before.outputs), textOf(after.outputs)],
    ["What they were asked", textOf(before.inputs), textOf(after.inputs)],
  ] as const;
  return (
    <section aria-label="Two attempts compared">
      <div className="mb-2 flex items-center gap-2">
        <h3 className="mr-auto text-sm font-semibold">
          Attempt {before.attempt} beside attempt {after.attempt}
        </h3>
        <Button label="Close" kind="quiet" onClick={onClose} />
      </div>
      <Panel className="mb-4 overflow-x-auto">
        <table className="w-full text-left text-sm">
          <thead className="text-xs text-faint">
            <tr className="border-b border-line">
              <th scope="col" className="px-3 py-2 font-medium">
                <span className="sr-only">What</span>
              </th>
              <th scope="col" className="px-3 py-2 font-medium">
                Attempt {before.attempt}
              </th>
              <th scope="col" className="px-3 py-2 font-medium">
                Attempt {after.attempt}
              </th>
            </tr>
          </thead>
          <tbody>
            {ROWS.map(([name, of]) => (
              <tr key={name} className="border-b border-line align-top last:border-0">
                <th scope="row" className="w-px px-3 py-1.5 font-normal whitespace-nowrap text-dim">
                  {name}
                </th>
                <td className="px-3 py-1.5">{of(before)}</td>
                <td className="px-3 py-1.5">{of(after)}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </Panel>
      {parts.map(([title, left, right]) => (
        <div key={title} className="mb-4">
          <h4 className="mb-1 text-sm text-dim">{title}</h4>
          {left === right ? <p className="text-sm">The same.</p> : <LineDiff before={left} after={right} />}
        </div>
      ))}
    </section>
  );
}
