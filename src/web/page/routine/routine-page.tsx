/** One routine: what it does, when it runs, and the result of each time. */

import { Pencil, Play, Power, Trash2 } from "lucide-react";
import { useState } from "react";
import { useParams } from "wouter";
import { api, client, must, type Schemas } from "../../api/client.ts";
import { type RowOf, usePages } from "../../api/queries.ts";
import { useChange } from "../../kit/change.ts";
import { Confirm } from "../../kit/confirm.tsx";
import { List } from "../../kit/list.tsx";
import { useAgentNames } from "../../session/actor.tsx";
import { useAdmin } from "../../session/session.tsx";
import { Button } from "../../ui/button.tsx";
import { FactRow } from "../../ui/facts.tsx";
import { dateTime, pluralize } from "../../ui/format.ts";
import { TextLink } from "../../ui/link.tsx";
import { Await, Warning } from "../../ui/note.tsx";
import { PageHeader, Panel, Section } from "../../ui/page.tsx";
import { ProblemNote } from "../../ui/problem-note.tsx";
import { Status } from "../../ui/status.tsx";
import { type Column, nameColumn } from "../../ui/table.tsx";
import { useParam } from "../../ui/tabs.tsx";
import { Ago, Took } from "../../ui/time.tsx";
import { ChangesLink } from "../changes/work-changes.tsx";
import { RoutineDialog } from "../routines/routine-dialog.tsx";
import { RoutineState } from "../routines/routines-page.tsx";
import { blackoutText, scheduleText } from "../routines/when.ts";
import { Transcript } from "../run/transcript.tsx";

type Routine = Schemas["PulseRoutine"];
type Tick = RowOf<"/v1/pulse-routines/{agent_id}/{id}/ticks">;

const isLive = ({ status }: Pick<Tick, "status">) => status === "queued" || status === "running";
const pathOf = ({ agent_id, id }: Routine) => ({ path: { agent_id, id } });

export default function RoutinePage() {
  const { agent = "", id = "" } = useParams<{ agent: string; id: string }>();
  const params = { path: { agent_id: agent, id } };
  const routine = api.useQuery("get", "/v1/pulse-routines/{agent_id}/{id}", { params });
  return (
    <Await query={routine} page="Routine" list={["/routines", "Routines"]}>
      {(data) => <RoutineView routine={data} />}
    </Await>
  );
}

function RoutineView({ routine }: { routine: Routine }) {
  const [tick, setTick] = useParam("tick");
  return (
    <>
      <Header routine={routine} onStarted={setTick} />
      {routine.blocked && routine.enabled && <Blocked agent={routine.agent_id} {...routine.blocked} />}
      <FactRow
        facts={[
          ["When", scheduleText(routine.schedule)],
          ["Time zone", routine.timezone],
          routine.blackouts.length > 0 ? ["Not", routine.blackouts.map(blackoutText).join("; ")] : null,
          ["Next", routine.next_run_at ? dateTime(routine.next_run_at) : "never"],
          ["Worked", pluralize(routine.runs, "time")],
          ["Model", routine.model ?? "the agent's"],
        ]}
      />
      <Section title="Instructions">
        <Panel className="max-h-72 overflow-y-auto p-3 break-words whitespace-pre-wrap">{routine.instructions}</Panel>
      </Section>
      {tick && <OneTick routine={routine} id={tick} onClose={() => setTick("")} />}
      <Ticks routine={routine} />
    </>
  );
}

/** Says why the routine does not run on schedule, and what to do about it. */
function Blocked({ agent, code, message }: { agent: string } & NonNullable<Routine["blocked"]>) {
  const admin = useAdmin();
  const action = useChange("/v1/pulse-routines", "/v1/agents");
  if (code !== "pulses_disabled")
    return (
      <Warning>
        It does not run now: {message}{" "}
        {code.startsWith("agent_") && (
          <TextLink href={`/agents/${agent}?tab=config`}>The agent's configuration</TextLink>
        )}
      </Warning>
    );
  const switchOn = () =>
    action.run(() => {
      const params = { path: { id: agent } };
      return client.PUT("/v1/agents/{id}/config", { params, body: { pulse_enabled: true } });
    });
  return (
    <Warning>
      <p>
        It does not run by itself yet: the agent {agent} does not work at set times.{" "}
        {!admin && "An administrator can switch its routines on. "}“Run now” works all the same.
      </p>
      {admin && (
        <Button label={`Switch on the routines of ${agent}`} className="mt-2" busy={action.busy} onClick={switchOn} />
      )}
      <ProblemNote error={action.error} />
    </Warning>
  );
}

function Header({ routine, onStarted }: { routine: Routine; onStarted(tick: string): void }) {
  const [dialog, setDialog] = useState<"edit" | "delete" | null>(null);
  const nameOf = useAgentNames();
  const action = useChange("/v1/pulse-routines");
  const params = pathOf(routine);
  const start = () =>
    action.run(async () => {
      const tick = await must(client.POST("/v1/pulse-routines/{agent_id}/{id}/trigger", { params }));
      onStarted(tick.id);
    });
  const toggle = () =>
    action.run(() => {
      const body = { enabled: !routine.enabled };
      return client.PUT("/v1/pulse-routines/{agent_id}/{id}", { params, body });
    });
  return (
    <>
      <PageHeader
        title={routine.name}
        crumbs={[
          ["/routines", "Routines"],
          [`/agents/${routine.agent_id}`, nameOf(routine.agent_id)],
        ]}
        beside={<RoutineState {...routine} />}
        about={routine.description}
        cli={`skep routines show ${routine.id}`}
        actions={
          <>
            <Button label="Delete" kind="danger" icon={Trash2} onClick={() => setDialog("delete")} />
            <Button busy={action.busy} icon={Power} onClick={toggle}>
              {routine.enabled ? "Switch off" : "Switch on"}
            </Button>
            <Button label="Edit" icon={Pencil} onClick={() => setDialog("edit")} />
            <Button label="Run now" kind="primary" busy={action.busy} icon={Play} onClick={start} />
          </>
        }
      />
      <ProblemNote error={action.error} />
      {dialog === "edit" && <RoutineDialog routine={routine} onClose={() => setDialog(null)} />}
      {dialog === "delete" && (
        <Confirm
          title={`Delete ${routine.name}?`}
          word="Delete the routine"
          onClose={() => setDialog(null)}
          changes={["/v1/pulse-routines"]}
          act={() => client.DELETE("/v1/pulse-routines/{agent_id}/{id}", { params })}
          leaveTo="/routines"
        >
          What it is working on now ends, and its history is gone.
        </Confirm>
      )}
    </>
  );
}

const COLUMNS: Column<Tick>[] = [
  nameColumn("Due", "w-2/5 min-w-40", ({ due_at, summary, reason }) => [dateTime(due_at), reason?.message ?? summary]),
  { title: "State", cell: ({ status }) => <Status status={status} /> },
  {
    title: "Started",
    wide: true,
    cell: ({ cause, caught_up }) => (cause === "manual" ? "by hand" : caught_up ? "late" : "as planned"),
  },
  {
    title: "Took",
    align: "right",
    cell: ({ started_at, finished_at }) => <Took from={started_at} to={finished_at} />,
  },
];

function Ticks({ routine }: { routine: Routine }) {
  const query = usePages("/v1/pulse-routines/{agent_id}/{id}/ticks", { ...pathOf(routine), query: { limit: 25 } });
  return (
    <Section title="Results">
      <List
        query={query}
        label="Times"
        columns={COLUMNS}
        keyOf={({ id }) => id}
        hrefOf={({ id }) => `?tick=${id}`}
        lines={3}
        empty={{ text: "It was not due yet. Run it now to try it.", cli: `skep routines run ${routine.id} --wait` }}
      />
    </Section>
  );
}

/** One tick of a routine: its result, and all that the agent said and did. */
function OneTick({ routine, id, onClose }: { routine: Routine; id: string; onClose(): void }) {
  const path = { ...pathOf(routine).path, tick_id: id };
  const query = api.useQuery("get", "/v1/pulse-routines/{agent_id}/{id}/ticks/{tick_id}", { params: { path } });
  const action = useChange("/v1/pulse-routines");
  const cancel = () =>
    action.run(() => client.POST("/v1/pulse-routines/{agent_id}/{id}/ticks/{tick_id}/cancel", { params: { path } }));
  return (
    <Section
      title="This time"
      actions={
        <span className="flex gap-2">
          {query.data && isLive(query.data) && (
            <Button label="End it" kind="danger" busy={action.busy} onClick={cancel} />
          )}
          <Button onClick={onClose}>Close</Button>
        </span>
      }
    >
      <Await query={query} rows={3}>
        {(tick) => (
          <Panel className="p-3">
            <div className="flex flex-wrap items-center gap-x-4 gap-y-1">
              <Status status={tick.status} />
              <span className="text-dim">due {dateTime(tick.due_at)}</span>
              <span className="text-dim">
                started <Ago at={tick.started_at} sentence />
              </span>
            </div>
            <ProblemNote error={action.error} />
            {tick.reason && <p className="mt-2">{tick.reason.message}</p>}
            {tick.summary && <p className="mt-2 break-words whitespace-pre-wrap">{tick.summary}</p>}
            {tick.session_id && (
              <p className="mt-2 empty:hidden">
                <ChangesLink id={tick.id} project={routine.project_id} />
              </p>
            )}
            {tick.session_id && <Transcript key={tick.session_id} session={tick.session_id} live={isLive(tick)} />}
          </Panel>
        )}
      </Await>
    </Section>
  );
}
