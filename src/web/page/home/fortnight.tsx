/** Two weeks in a strip: spend by day, how many runs succeeded, how many are active, and today's cost. */
import type { ReactNode } from "react";
import { Link } from "wouter";
import { api, type Schemas } from "../../api/client.ts";
import { useAdmin } from "../../session/session.tsx";
import { costText, DAY_MS, formatUsd, pluralize } from "../../ui/format.ts";
import { Panel } from "../../ui/page.tsx";

const DAYS = 14;

/** The start of the first day shown. Days are in UTC, as the server counts them. */
const firstDay = () => new Date((Math.floor(Date.now() / DAY_MS) - DAYS + 1) * DAY_MS).toISOString();

interface Day {
  day: string;
  spent: number;
  /** How many calls have no known price, so that `spent` is too low. */
  unpriced: number;
  succeeded: number;
  failed: number;
}

export function Fortnight() {
  const admin = useAdmin();
  const from = firstDay();
  const spend = api.useQuery("get", "/v1/usage/history", {
    params: { query: { granularity: "day", from, ...(admin ? { user_id: "all" } : {}) } },
  });
  const runs = api.useQuery("get", "/v1/runs/days", { params: { query: { days: DAYS } } });
  const status = api.useQuery("get", "/v1/status");
  const usage = api.useQuery("get", "/v1/usage");
  const atWork = status.data?.counts?.["active_runs"];
  const days = daysOf(runs.data?.items ?? [], spend.data?.items ?? []);
  const today = days.at(-1);
  const spent = days.reduce((sum, day) => sum + day.spent, 0);
  const unpriced = days.reduce((sum, day) => sum + day.unpriced, 0);
  const succeeded = days.reduce((sum, day) => sum + day.succeeded, 0);
  const failed = days.reduce((sum, day) => sum + day.failed, 0);
  const budget = usage.data?.budgets.find(({ scope }) => /day$/.test(scope));
  return (
    <Panel className="mb-5 grid grid-cols-2 gap-px overflow-hidden bg-line lg:grid-cols-[1fr_1fr_1fr_2fr]">
      <Figure name="Spent today" href="/usage">
        {today && spend.data ? costText({ cost_usd: today.spent, calls_without_price: today.unpriced }) : "…"}
        {budget && <Small>of {formatUsd(budget.limit_usd)}</Small>}
      </Figure>
      <Figure name="Unfinished" href="/runs?status=running,queued,waiting">
        {atWork ?? "…"}
        <Small>{atWork === 1 ? "run" : "runs"}</Small>
      </Figure>
      <Figure name="Succeeded in 14 days" href="/runs?status=failed">
        {runs.data ? (succeeded + failed > 0 ? `${Math.round((succeeded / (succeeded + failed)) * 100)} %` : "–") : "…"}
        {failed > 0 && <Small>{failed} failed</Small>}
      </Figure>
      <Figure name="Spend of 14 days" href="/usage">
        <span className="flex items-end gap-4">
          <span className="shrink-0">
            {spend.data ? costText({ cost_usd: spent, calls_without_price: unpriced }) : "…"}
          </span>
          <Bars days={days} />
        </span>
      </Figure>
    </Panel>
  );
}

/** Joins the runs of each day with what was spent on that day. */
function daysOf(runs: Schemas["RunDay"][], spend: Schemas["UsageHistory"][]): Day[] {
  const byDay = new Map(spend.map((bucket) => [bucket.start_at.slice(0, 10), bucket]));
  return runs.map(({ day, succeeded, failed }) => {
    const bucket = byDay.get(day);
    return { day, succeeded, failed, spent: bucket?.cost_usd ?? 0, unpriced: bucket?.calls_without_price ?? 0 };
  });
}

/**
 * A bar per day: its height is the spend, its foot is red if runs failed. Its title and the label for screen readers
 * say the same in words.
 */
function Bars({ days }: { days: Day[] }) {
  const most = Math.max(...days.map(({ spent }) => spent), 0);
  const wordsOf = ({ day, spent, succeeded, failed }: Day) =>
    `${day}: ${formatUsd(spent)}, ${pluralize(succeeded, "run")} succeeded, ${failed} failed`;
  return (
    <span
      role="img"
      aria-label={`Spend by day. ${days.map(wordsOf).join(". ")}`}
      className="flex h-8 min-w-0 flex-1 items-end gap-px sm:gap-1"
    >
      {days.map((day) => (
        <span key={day.day} title={wordsOf(day)} className="flex h-full min-w-px flex-1 flex-col justify-end gap-px">
          <span
            className="rounded-t-sm bg-run"
            style={{ height: most > 0 && day.spent > 0 ? `${Math.max(8, (day.spent / most) * 85)}%` : 0 }}
          />
          <span
            className={`h-[3px] rounded-sm ${day.failed > 0 ? "bg-bad" : day.succeeded > 0 ? "bg-ok" : "bg-line-strong"}`}
          />
        </span>
      ))}
    </span>
  );
}

const Small = ({ children }: { children: ReactNode }) => (
  <span className="ml-1.5 text-sm font-normal text-dim">{children}</span>
);

function Figure({ name, href, children }: { name: string; href: string; children: ReactNode }) {
  return (
    <Link href={href} className="block bg-panel px-4 py-2.5 hover:bg-hover">
      <div className="text-sm text-dim">{name}</div>
      <div className="text-xl font-semibold tracking-tight tabular-nums">{children}</div>
    </Link>
  );
}
