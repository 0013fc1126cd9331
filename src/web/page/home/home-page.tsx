/** The inbox: what waits for you, what runs, what failed, what it cost today. */
import { Play } from "lucide-react";
import { type ReactNode, useState } from "react";
import { Link } from "wouter";
import { api, type Schemas } from "../../api/client.ts";
import { Button, ButtonLink } from "../../ui/button.tsx";
import { costText, count, usd } from "../../ui/format.ts";
import { Await, Empty } from "../../ui/note.tsx";
import { PageHeader, Panel, Section } from "../../ui/page.tsx";
import { ApprovalCard } from "../runs/approval-card.tsx";
import { RunTable } from "../runs/run-table.tsx";
import { AnswerSeveral } from "./answer-several.tsx";
import { EXAMPLE, FirstSteps } from "./first-steps.tsx";

const DAY_MS = 86_400_000;

/** Local midnight, and a day ago, both rounded so that the queries stay the same for a while. */
const today = () => new Date(new Date().setHours(0, 0, 0, 0)).toISOString();
const yesterday = () => new Date(Math.floor((Date.now() - DAY_MS) / 600_000) * 600_000).toISOString();

export default function HomePage() {
  const waiting = api.useQuery("get", "/v1/approvals", { params: { query: { limit: 20 } } });
  const running = api.useQuery("get", "/v1/runs", { params: { query: { status: "running,queued", limit: 20 } } });
  const broke = api.useQuery("get", "/v1/runs", {
    params: { query: { status: "failed", since: yesterday(), limit: 10 } },
  });
  const recent = api.useQuery("get", "/v1/runs", { params: { query: { limit: 5 } } });
  const [several, setSeveral] = useState(false);
  const projects = api.useQuery("get", "/v1/projects", { params: { query: { limit: 1 } } });
  const nothing = recent.data?.items.length === 0;
  // Until there is a run; after the example also until there is a project.
  const examples = recent.data?.items.every(({ pipeline_id }) => pipeline_id === EXAMPLE.pipeline_id) ?? false;
  const begins = nothing || (examples && projects.data?.items.length === 0);
  return (
    <>
      <PageHeader
        title="Home"
        cli="skep"
        actions={
          <ButtonLink href="/runs/new" kind="primary" icon={<Play aria-hidden size={14} />}>
            Start a run
          </ButtonLink>
        }
      />
      <Today />
      {begins && <FirstSteps seen={!nothing} />}
      <Await query={waiting} rows={1}>
        {({ items }) =>
          items.length > 0 && (
            <Section
              title={`Waits for you (${items.length})`}
              actions={items.length > 1 && <Button onClick={() => setSeveral(true)}>Answer several</Button>}
            >
              <div className="flex flex-col gap-3">
                {items.map((approval) => (
                  <ApprovalCard key={approval.id} approval={approval} />
                ))}
              </div>
              {several && <AnswerSeveral approvals={items} onClose={() => setSeveral(false)} />}
            </Section>
          )
        }
      </Await>
      <Await query={running} rows={2}>
        {({ items }) => <RunSection title="Running" runs={items} empty={nothing ? null : "Nothing runs now."} />}
      </Await>
      <Await query={broke} rows={2}>
        {({ items }) => <RunSection title="Broke since yesterday" runs={items} empty={null} />}
      </Await>
      <Await query={recent} rows={2}>
        {({ items }) => <RunSection title="Latest" runs={items} empty={null} more />}
      </Await>
    </>
  );
}

function RunSection({
  title,
  runs,
  empty,
  more = false,
}: {
  title: string;
  runs: Schemas["Run"][];
  empty: string | null;
  more?: boolean;
}) {
  if (runs.length === 0 && !empty) return null;
  return (
    <Section
      title={title}
      actions={
        more && (
          <Link href="/runs" className="text-sm text-dim hover:text-ink hover:underline">
            All runs
          </Link>
        )
      }
    >
      {runs.length === 0 ? (
        <Empty action={<ButtonLink href="/runs/new">Start a run</ButtonLink>} cli='skep run PIPELINE "…" --follow'>
          {empty}
        </Empty>
      ) : (
        <RunTable label={title} rows={runs} />
      )}
    </Section>
  );
}

function Today() {
  const since = today();
  const summary = api.useQuery("get", "/v1/llm-calls/summary", { params: { query: { since } } });
  const status = api.useQuery("get", "/v1/status");
  const usage = api.useQuery("get", "/v1/usage");
  const totals = summary.data?.totals;
  const budget = usage.data?.budgets.find(({ scope }) => /day$/.test(scope));
  const counts = status.data?.counts;
  return (
    <Panel className="mb-6 grid grid-cols-2 gap-px overflow-hidden bg-line sm:grid-cols-4">
      <Figure name="Spent today" href="/usage">
        {totals ? costText(totals) : "…"}
        {budget && <Small>of {usd(budget.limit_usd)}</Small>}
      </Figure>
      <Figure name="Runs at work" href="/runs?status=running,queued,waiting">
        {counts?.["active_runs"] ?? "…"}
      </Figure>
      <Figure name="Model calls today" href="/usage">
        {totals ? count(totals.calls) : "…"}
        {totals && totals.errors > 0 && <Small>{totals.errors} failed</Small>}
      </Figure>
      <Figure name="Tokens today" href="/usage">
        {totals ? count(totals.input_tokens + totals.output_tokens) : "…"}
      </Figure>
    </Panel>
  );
}

const Small = ({ children }: { children: ReactNode }) => (
  <span className="ml-1.5 text-sm font-normal text-dim">{children}</span>
);

function Figure({ name, href, children }: { name: string; href: string; children: ReactNode }) {
  return (
    <Link href={href} className="block bg-panel px-4 py-3 hover:bg-hover">
      <div className="text-sm text-dim">{name}</div>
      <div className="text-xl font-semibold tracking-tight tabular-nums">{children}</div>
    </Link>
  );
}
