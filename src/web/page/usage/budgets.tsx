/** Budgets: what is spent of each, and for administrators a link to where they are set. */
import { api, type Schemas } from "../../api/client.ts";
import { useAdmin } from "../../session/session.tsx";
import { formatUsd } from "../../ui/format.ts";
import { MoreLink } from "../../ui/link.tsx";
import { Loading } from "../../ui/note.tsx";
import { Panel, Section } from "../../ui/page.tsx";
import { ProblemNote } from "../../ui/problem-note.tsx";
import { Ago } from "../../ui/time.tsx";

const SCOPES: Record<string, string> = {
  run: "Each run",
  session: "Each session with a budget",
  agent_run: "Each agent, a run",
  agent_day: "Each agent, a day",
  user_day: "You, today",
  user_month: "You, this month",
  instance_day: "Everybody, today",
  instance_month: "Everybody, this month",
};

export function Budgets({ budgets }: { budgets: Schemas["Usage"]["budgets"] }) {
  const admin = useAdmin();
  const settings = api.useQuery("get", "/v1/settings", {}, { enabled: admin });
  const { run_usd, agent_per_run_usd } = settings.data?.budgets ?? {};
  const each = [
    { scope: "run", limit: run_usd },
    { scope: "agent_run", limit: agent_per_run_usd },
  ].flatMap(({ scope, limit }) => (limit == null ? [] : [{ scope, limit }]));
  // An administrator's view also needs the settings; others see what the usage contains.
  const isWhole = !admin || settings.data !== undefined;
  const isEmpty = budgets.length + each.length === 0;
  const link = admin && <MoreLink href="/settings?tab=budgets">Set budgets</MoreLink>;
  return (
    <Section title="Budgets" actions={link}>
      <ProblemNote error={settings.error} retry={settings.refetch} />
      {!isWhole && !settings.error && <Loading rows={1} />}
      {isEmpty && isWhole && (
        <p className="text-dim">
          {admin ? "None is set: nothing stops spending. " : "None is set for a day or a month. "}A budget stops a call
          before it is passed.
        </p>
      )}
      {!isEmpty && (
        <Panel>
          <ul>
            {each.map(({ scope, limit }) => (
              <li key={scope} className="flex items-center gap-x-4 border-b border-line px-4 py-2 last:border-0">
                <span className="min-w-40 flex-1 font-medium">{SCOPES[scope]}</span>
                <span className="tabular-nums">at most {formatUsd(limit)}</span>
              </li>
            ))}
            {budgets.map(({ scope, limit_usd, spent_usd, percent, resets_at }) => (
              <li
                key={scope}
                className="flex flex-wrap items-center gap-x-4 gap-y-1 border-b border-line px-4 py-2 last:border-0"
              >
                <span className="min-w-40 font-medium">{SCOPES[scope] ?? scope}</span>
                <span aria-hidden className="h-1.5 min-w-24 flex-1 overflow-hidden rounded-full bg-line">
                  <span
                    className={`block h-full ${percent >= 100 ? "bg-bad" : percent >= 80 ? "bg-wait" : "bg-ok"}`}
                    style={{ width: `${Math.min(100, percent)}%` }}
                  />
                </span>
                <span className="text-right tabular-nums">
                  {formatUsd(spent_usd)} of {formatUsd(limit_usd)}
                </span>
                {resets_at && (
                  <span className="text-sm text-dim">
                    resets <Ago at={resets_at} />
                  </span>
                )}
              </li>
            ))}
          </ul>
        </Panel>
      )}
    </Section>
  );
}
