/** Names and values, side by side or one below another. */
import { Fragment, type ReactNode } from "react";

/** Pairs of name and value; null entries are left out. */
type Facts = ([name: string, value: ReactNode] | null)[];

const omitNull = (facts: Facts) => facts.filter((fact) => fact !== null);

export function FactRow({ facts }: { facts: Facts }) {
  return (
    <dl className="mb-4 flex flex-wrap gap-x-8 gap-y-2">
      {omitNull(facts).map(([name, value]) => (
        <div key={name}>
          <dt className="text-xs text-faint">{name}</dt>
          <dd className="tabular-nums">{value}</dd>
        </div>
      ))}
    </dl>
  );
}

export function FactList({ facts }: { facts: Facts }) {
  return (
    <dl className="grid grid-cols-[max-content_minmax(0,1fr)] gap-x-6 gap-y-1.5">
      {omitNull(facts).map(([name, value]) => (
        <Fragment key={name}>
          <dt className="text-dim">{name}</dt>
          <dd>{value}</dd>
        </Fragment>
      ))}
    </dl>
  );
}

const TONE = {
  plain: "bg-hover text-dim",
  ok: "bg-ok-soft text-ok",
  bad: "bg-bad-soft text-bad",
  wait: "bg-wait-soft text-wait",
  run: "bg-run-soft text-run",
};

/** A short label beside the name of something. */
export const Badge = ({ tone = "plain", children }: { tone?: keyof typeof TONE; children: ReactNode }) => (
  <span className={`inline-flex items-center rounded px-1.5 py-px text-xs font-medium whitespace-nowrap ${TONE[tone]}`}>
    {children}
  </span>
);
