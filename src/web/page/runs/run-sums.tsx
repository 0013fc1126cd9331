/** How the latest runs of a pipeline or project went, for rows of lists. */
import { useMemo } from "react";
import { api, type Schemas } from "../../api/client.ts";
import { costText, formatUsd, pluralize } from "../../ui/format.ts";

type Sum = Schemas["RunSum"];

/**
 * @returns a function for the sums of a pipeline or project. It returns undefined if there was no run lately, or while
 * that is unknown. It stays the same function while the data does not change.
 */
export function useRunSums(by: "pipeline" | "project"): (key: string) => Sum | undefined {
  const { data } = api.useQuery("get", "/v1/runs/sums", { params: { query: { by } } });
  return useMemo(() => {
    const sums = new Map(data?.items.map((sum) => [sum.key, sum]));
    return (key) => sums.get(key);
  }, [data]);
}

const None = () => <span className="text-faint">–</span>;

/** Of the runs that succeeded or failed, the share that succeeded. */
export function Succeeded({ sum }: { sum: Sum | undefined }) {
  const ended = (sum?.succeeded ?? 0) + (sum?.failed ?? 0);
  if (!sum || ended === 0) return <None />;
  return (
    <span title={`${sum.succeeded} succeeded, ${sum.failed} failed in 30 days`}>
      {Math.round((sum.succeeded / ended) * 100)} % <span className="text-sm text-faint">of {ended}</span>
    </span>
  );
}

/** What a successful run usually costs. */
export const UsualCost = ({ sum }: { sum: Sum | undefined }) =>
  sum && sum.usual_cost_usd !== null ? formatUsd(sum.usual_cost_usd) : <None />;

export const Spend = ({ sum }: { sum: Sum | undefined }) => (sum ? costText(sum) : <None />);

export const RunsToday = ({ sum }: { sum: Sum | undefined }) =>
  sum?.runs_today ? <span title={pluralize(sum.runs_today, "run")}>{sum.runs_today}</span> : <None />;
