/** What agents do now, what they did, and work that was assigned directly to an agent. */

import { memo, useMemo, useState } from "react";
import { Link } from "wouter";
import { client, must, type Schemas } from "../../api/client.ts";
import { usePages } from "../../api/queries.ts";
import { List } from "../../kit/list.tsx";
import { useAgentNames } from "../../session/actor.tsx";
import { Button, ButtonLink } from "../../ui/button.tsx";
import { Badge } from "../../ui/facts.tsx";
import { AgentFilter, FilterBar, FilterSelect, NoMatch } from "../../ui/filter.tsx";
import { costText, longDay, timeOfDay } from "../../ui/format.ts";
import { Await, Empty } from "../../ui/note.tsx";
import { PageHeader, Panel } from "../../ui/page.tsx";
import { useSlices } from "../../ui/slices.ts";
import { Status } from "../../ui/status.tsx";
import { type Column, More, nameColumn } from "../../ui/table.tsx";
import { useParam, Views } from "../../ui/tabs.tsx";
import { Ago, Took } from "../../ui/time.tsx";
import { AskAgent } from "../agents/ask-agent.tsx";
import { factsOf } from "./facts.ts";
import { Lanes } from "./lanes.tsx";
import { placeOfSession } from "./place-of-session.ts";
import { SpawnedView } from "./spawned-view.tsx";

type Spawned = Schemas["SpawnExecutor"];
type Session = Schemas["LifecycleSession"];
type Happening = Schemas["LifecycleTimeline"];

export default function ActivityPage() {
  const [work] = useParam("work");
  const [adding, setAdding] = useState(false);
  return (
    <>
      <PageHeader
        title="Activity"
        cli="skep executions"
        about="What agents did and are doing, in runs, chats and routines."
        actions={<Button label="Hand out a piece of work" kind="primary" onClick={() => setAdding(true)} />}
      />
      <Views
        label="Views of the activity"
        views={[
          { id: "timeline", title: "Timeline", view: <Timeline /> },
          { id: "day", title: "Agents over the day", view: <Lanes /> },
          { id: "now", title: "At work now", view: <Now /> },
          { id: "handed", title: "Handed out", view: <Handed /> },
        ]}
      />
      {work && <SpawnedView id={work} />}
      {adding && <HandOut onClose={() => setAdding(false)} />}
    </>
  );
}

const isObject = (value: unknown): value is Record<string, unknown> => typeof value === "object" && value !== null;

const KINDS: { value: Happening["kind"] | ""; label: string }[] = [
  { value: "", label: "Everything" },
  { value: "session_started", label: "Started" },
  { value: "session_ended", label: "Ended" },
  { value: "turn_ended", label: "Answers in chats" },
  { value: "step_complete", label: "Steps done" },
  { value: "step_failed", label: "Steps failed" },
  { value: "activity", label: "Said by agents" },
  { value: "pulse_complete", label: "Routines done" },
  { value: "pulse_failed", label: "Routines failed" },
];

function Timeline() {
  const [agent, setAgent] = useParam("agent");
  const [kind, setKind] = useParam<Happening["kind"]>("kind");
  const query = usePages("/v1/lifecycle/timeline", {
    query: {
      limit: 150,
      ...(agent ? { agent_id: agent } : {}),
      ...(kind ? { kind } : {}),
    },
  });
  const agentName = useAgentNames();
  // If a person filters by kind, show every event of that kind.
  const facts = useMemo(() => (kind ? query.rows : factsOf(query.rows)), [kind, query.rows]);
  const drawn = useSlices(facts);
  const days = [...Map.groupBy(drawn, ({ at }) => longDay(at))];
  return (
    <>
      <FilterBar>
        <AgentFilter value={agent} onChange={setAgent} />
        <FilterSelect label="What" value={kind} onChange={setKind} options={KINDS} />
      </FilterBar>
      <Await query={query} rows={8}>
        {() =>
          days.length === 0 ? (
            agent || kind ? (
              <NoMatch clear={["agent", "kind"]}>Nothing matches.</NoMatch>
            ) : (
              <Empty
                action={<ButtonLink href="/runs/new">Start a run</ButtonLink>}
                cli='skep run hello "Greet me" --follow'
              >
                No agent has done anything yet. What they do shows here, day by day.
              </Empty>
            )
          ) : (
            days.map(([day, rows]) => (
              <section key={day} aria-label={day} className="mb-5">
                <h2 className="mb-1 text-sm font-semibold">{day}</h2>
                <Panel>
                  <ol>
                    {rows.map((row) => (
                      <Line key={row.id} row={row} name={agentName(row.agent_id)} />
                    ))}
                  </ol>
                </Panel>
              </section>
            ))
          )
        }
      </Await>
      <More query={query} className="text-center">
        Earlier
      </More>
    </>
  );
}

/** Describes an event as the rest of a sentence that begins with the agent's name. */
function wordsOf({ kind, title, step_id, step_name = step_id, session_kind, session_title, data }: Happening): string {
  const error = data["error"];
  const why = isObject(error) && typeof error["message"] === "string" ? `: ${error["message"]}` : "";
  const piece = PIECE[session_kind ?? ""] ?? "a piece of work";
  const stopped = data["status"] === "cancelled";
  switch (kind) {
    case "step_complete":
      return `finished step ${step_name ?? ""}`;
    case "step_failed":
      return stopped ? `was stopped at step ${step_name ?? ""}` : `failed at step ${step_name ?? ""}${why}`;
    case "session_started":
      return step_name ? `began step ${step_name}` : `began ${piece}`;
    case "session_ended":
      return stopped ? `was stopped in ${piece}` : why ? `failed in ${piece}${why}` : `finished ${piece}`;
    case "turn_ended":
      return stopped ? "was stopped in an answer" : why ? `could not answer${why}` : "answered";
    case "pulse_complete":
    case "pulse_failed":
      // Leave out the routine's name: the line below shows it.
      return title.replace(`Routine ${session_title ?? ""}: `, "in a routine: ");
    default:
      return title;
  }
}
const PIECE: Record<string, string> = {
  chat: "a chat",
  onboarding: "an onboarding",
  swarm: "a task of a swarm",
  spawn: "a piece of work",
  pulse: "a routine",
  ingest: "a transcript",
};

/** Rows that are already shown do not render again when more are loaded. */
const Line = memo(DrawnLine);

function DrawnLine({ row, name }: { row: Happening; name: string }) {
  const { at, agent_id, kind, run_id, run_title, session_id, session_kind, session_title } = row;
  const chat = session_kind === "chat" || session_kind === "onboarding" ? session_kind : undefined;
  const href = run_id
    ? `/runs/${run_id}${row.step_id ? `?step=${encodeURIComponent(row.step_id)}` : ""}`
    : chat && session_id
      ? `/${chat}/${session_id}`
      : undefined;
  const about = run_title ?? session_title;
  const bad = (kind.endsWith("_failed") && row.data["status"] !== "cancelled") || row.data["status"] === "failed";
  return (
    <li className="row-block relative flex items-baseline gap-x-3 border-b border-line px-3 py-1 last:border-0 hover:bg-hover">
      <time dateTime={at} className="w-18 shrink-0 text-xs whitespace-nowrap text-faint tabular-nums max-sm:w-14">
        {timeOfDay(at)}
      </time>
      <div className="min-w-0 flex-1">
        <p>
          <Link
            href={`/agents/${agent_id}`}
            className="relative z-10 inline-block min-h-6 min-w-6 leading-6 font-medium hover:underline max-sm:-my-2.5 max-sm:min-w-11 max-sm:py-2.5"
          >
            {name}
          </Link>{" "}
          <span className={bad ? "text-bad" : ""}>{wordsOf(row)}</span>
        </p>
        {(about || row.project_name || row.task_title) && (
          <p className="flex flex-wrap items-center gap-x-2 text-sm text-dim">
            {about &&
              (href ? (
                <Link href={href} data-row className="line-clamp-1 after:absolute after:inset-0 after:content-['']">
                  {about}
                </Link>
              ) : (
                <span className="line-clamp-1">{about}</span>
              ))}
            {row.task_title && row.project_id && (
              <Link
                href={`/projects/${row.project_id}/tasks/${row.task_id}`}
                className="relative z-10 min-h-6 min-w-6 leading-6 hover:underline max-sm:min-h-11 max-sm:min-w-11 max-sm:leading-11"
              >
                Task: {row.task_title}
              </Link>
            )}
            {row.project_name && (
              <Link
                href={`/projects/${row.project_id}`}
                className="relative z-10 min-h-6 min-w-6 leading-6 hover:underline max-sm:min-h-11 max-sm:min-w-11 max-sm:leading-11"
              >
                {row.project_name}
              </Link>
            )}
          </p>
        )}
      </div>
    </li>
  );
}

const sessionColumns = (agentName: (id: string) => string): Column<Session>[] => [
  nameColumn("Work", "w-[45%] min-w-44", (session) => [
    session.title ?? session.kind,
    session.agent_id ? agentName(session.agent_id) : "A command",
  ]),
  { title: "Kind", wide: true, cell: ({ kind }) => <Badge>{kind}</Badge> },
  { title: "State", cell: ({ status }) => <Status status={status === "open" ? "idle" : status} /> },
  { title: "Since", wide: true, align: "right", cell: ({ started_at }) => <Took from={started_at} /> },
  { title: "Last", align: "right", cell: ({ last_activity_at }) => <Ago at={last_activity_at} /> },
];

function Now() {
  const agentName = useAgentNames();
  const columns = useMemo(() => sessionColumns(agentName), [agentName]);
  const query = usePages("/v1/lifecycle/sessions", { query: { limit: 100 } });
  return (
    <List
      query={query}
      label="Sessions"
      columns={columns}
      keyOf={({ id }) => id}
      hrefOf={(session) => placeOfSession(session) ?? `/agents/${session.agent_id ?? ""}`}
      empty={{
        text: "No agent is at work.",
        action: <ButtonLink href="/runs/new">Start a run</ButtonLink>,
        cli: "skep runs --status running",
      }}
    />
  );
}

const handedColumns = (agentName: (id: string) => string): Column<Spawned>[] => [
  nameColumn("Work", "w-[50%] min-w-44", ({ prompt, agent_id }) => [prompt.split("\n")[0], agentName(agent_id)]),
  { title: "State", cell: ({ status }) => <Status status={status} /> },
  {
    title: "Took",
    wide: true,
    align: "right",
    cell: ({ started_at, finished_at }) => <Took from={started_at} to={finished_at} />,
  },
  { title: "Cost", wide: true, align: "right", cell: costText },
  { title: "Handed out", wide: true, align: "right", cell: ({ created_at }) => <Ago at={created_at} /> },
];

function Handed() {
  const agentName = useAgentNames();
  const columns = useMemo(() => handedColumns(agentName), [agentName]);
  const query = usePages("/v1/spawn-executor", { query: { limit: 50 } });
  return (
    <List
      query={query}
      label="Handed out"
      columns={columns}
      keyOf={({ id }) => id}
      hrefOf={({ id }) => `/activity?tab=handed&work=${id}`}
      empty={{
        text: "No piece of work was handed to a single agent yet.",
        action: <ButtonLink href="/agents">Ask an agent</ButtonLink>,
        cli: "skep agents",
      }}
    />
  );
}

function HandOut({ onClose }: { onClose(): void }) {
  const [, show] = useParam("work");
  return (
    <AskAgent
      title="Hand out a piece of work"
      words={{ name: "prompt", label: "What it should do", required: true }}
      withBudget
      changes={["/v1/spawn-executor"]}
      onClose={onClose}
      submit={async (asked, prompt) => {
        const made = await must(client.POST("/v1/spawn-executor/execute", { body: { ...asked, prompt } }));
        return () => {
          onClose();
          show(made.id);
        };
      }}
    />
  );
}
