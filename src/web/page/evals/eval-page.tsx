/** One eval: how often each agent passed, as a picture and in numbers, and every attempt with its run. */
import { Square, Trash2 } from "lucide-react";
import { useState } from "react";
import { useParams } from "wouter";
import { api, client, type Schemas } from "../../api/client.ts";
import { usePages } from "../../api/queries.ts";
import { Confirm } from "../../kit/confirm.tsx";
import { Button } from "../../ui/button.tsx";
import { Legend, type Part, StackedBars } from "../../ui/chart/stacked-bars.tsx";
import { FactRow } from "../../ui/facts.tsx";
import { costText, count, formatDuration, formatUsd } from "../../ui/format.ts";
import { Await, Warning } from "../../ui/note.tsx";
import { PageHeader, Panel, Section } from "../../ui/page.tsx";
import { Status } from "../../ui/status.tsx";
import { type Column, nameColumn, Table } from "../../ui/table.tsx";
import { Took } from "../../ui/time.tsx";
import { Comparison } from "./comparison.tsx";

type Detail = Schemas["Eval"];
type Score = Detail["scores"][number];
type Attempt = Schemas["EvalAttempt"];

const OUTCOMES: Part[] = [
  { name: "Passed", color: "var(--series-3)" },
  { name: "Failed", color: "var(--series-5)" },
  { name: "Could not be tried", color: "var(--series-9)" },
];

export const whoOf = ({ worker, agent_id }: Pick<Score, "worker" | "agent_id">): string =>
  worker === "agent" ? (agent_id ?? "") : worker === "solution" ? "Reference solution" : "Nothing done";
const share = (of: number | null) => (of === null ? "–" : `${Math.round(of * 100)} %`);

export default function EvalPage() {
  const { id = "" } = useParams<{ id: string }>();
  const query = api.useQuery("get", "/v1/evals/{id}", { params: { path: { id } } });
  return (
    <Await query={query} page="Eval" list={["/evals", "Evals"]}>
      {(found) => (
        <>
          <Header found={found} />
          {found.problems.length > 0 && (
            <Warning>
              {found.problems.map(({ task, message }) => (
                <span key={task + message} className="block">
                  <strong>{task}</strong>: {message}
                </span>
              ))}
            </Warning>
          )}
          <Scores found={found} />
          <Attempts id={id} />
          <Comparison id={id} />
        </>
      )}
    </Await>
  );
}

function Header({ found }: { found: Detail }) {
  const [asks, setAsks] = useState(false);
  const { id, name, status, ended, total, tokens, budget_usd, replayed, attempts } = found;
  const params = { path: { id } };
  const isLive = status === "running";
  return (
    <>
      <PageHeader
        title={name}
        crumbs={[["/evals", "Evals"]]}
        beside={<Status status={status} />}
        cli={`skep evals ${id}`}
        actions={
          <Button icon={isLive ? Square : Trash2} iconSize={isLive ? 13 : 14} onClick={() => setAsks(true)}>
            {isLive ? "Cancel" : "Delete"}
          </Button>
        }
      />
      <FactRow
        facts={[
          ["Attempts", `${ended} of ${total}`],
          ["Of each task", attempts],
          ["Took", <Took key="took" from={found.created_at} to={found.finished_at} />],
          ["Cost", budget_usd === null ? costText(found) : `${costText(found)} of ${formatUsd(budget_usd)}`],
          ["Tokens", count(tokens)],
          ["Models", replayed ? "recorded replies" : "asked"],
        ]}
      />
      {asks && (
        <Confirm
          title={isLive ? "Cancel the eval?" : "Delete the eval?"}
          word={isLive ? "Cancel it" : "Delete it"}
          onClose={() => setAsks(false)}
          changes={["/v1/evals"]}
          act={() =>
            isLive ? client.POST("/v1/evals/{id}/cancel", { params }) : client.DELETE("/v1/evals/{id}", { params })
          }
          leaveTo={isLive ? undefined : "/evals"}
        >
          {isLive ? "Its runs end, and what has not begun does not begin." : "Its runs stay."}
        </Confirm>
      )}
    </>
  );
}

function Scores({ found: { scores, attempts: k } }: { found: Detail }) {
  const keyOf = ({ worker, agent_id, model, harness }: Score) => [worker, agent_id, model, harness].join(" ");
  const columns: Column<Score>[] = [
    nameColumn("Agent", "w-1/3 min-w-40", (one) => [
      whoOf(one),
      one.worker === "agent" ? `${one.model ?? "its own model"}, ${one.harness}` : "",
    ]),
    { title: "Passed", align: "right", cell: ({ passed, ended }) => `${passed}/${ended}` },
    { title: `pass^${k}`, align: "right", cell: ({ pass_all_k }) => share(pass_all_k) },
    { title: `pass@${k}`, align: "right", wide: true, cell: ({ pass_at_k }) => share(pass_at_k) },
    { title: "Cost", align: "right", wide: true, cell: costText },
    { title: "Tokens", align: "right", wide: true, cell: ({ tokens }) => count(tokens) },
    {
      title: "Time",
      align: "right",
      wide: true,
      cell: ({ duration_ms }) => (duration_ms === null ? "–" : formatDuration(duration_ms)),
    },
    { title: "Tool errors", align: "right", wide: true, cell: ({ tool_errors }) => tool_errors },
  ];
  const bars = scores.map((one) => ({
    key: keyOf(one),
    title: [whoOf(one), one.model].filter(Boolean).join(" · "),
    values: [one.passed, one.failed, one.errors],
  }));
  return (
    <Section title="Scores">
      <Panel className="mb-3 p-3">
        <StackedBars
          label="Attempts by outcome"
          height={160}
          bars={bars}
          parts={OUTCOMES}
          format={(value) => String(Math.round(value * 10) / 10)}
          about={(bar) => {
            const one = scores.find((score) => keyOf(score) === bar.key);
            return one ? `pass^${k} ${share(one.pass_all_k)}, ${costText(one)}` : "";
          }}
        />
        <Legend parts={OUTCOMES} />
      </Panel>
      <Table label="Scores" rows={scores} columns={columns} keyOf={keyOf} />
      <p className="mt-2 text-sm text-dim">
        pass^{k}: the chance that {k} attempts in a row pass. pass@{k}: that at least one of {k} does.
      </p>
    </Section>
  );
}

const ATTEMPTS: Column<Attempt>[] = [
  nameColumn("Task", "w-2/5 min-w-40", (one) => [
    one.task,
    `${whoOf(one)}${one.model ? `, ${one.model}` : ""}, try ${one.number}`,
  ]),
  { title: "State", cell: ({ status }) => <Status status={status} /> },
  { title: "Why", wide: true, cell: ({ reason }) => <span className="text-sm text-dim">{reason ?? ""}</span> },
  { title: "Cost", wide: true, align: "right", cell: costText },
  {
    title: "Time",
    wide: true,
    align: "right",
    cell: ({ duration_ms }) => (duration_ms === null ? "–" : formatDuration(duration_ms)),
  },
];

function Attempts({ id }: { id: string }) {
  const query = usePages("/v1/evals/{id}/attempts", { path: { id }, query: { limit: 100 } });
  return (
    <Section title="Attempts">
      <Await query={query} rows={5}>
        {() => (
          <Table
            label="Attempts"
            rows={query.rows}
            columns={ATTEMPTS}
            keyOf={(one) => one.id}
            hrefOf={({ run_id }) => (run_id ? `/runs/${run_id}` : `/evals/${id}`)}
            more={query}
          />
        )}
      </Await>
    </Section>
  );
}
