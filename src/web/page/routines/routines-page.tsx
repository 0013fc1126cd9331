/** What agents do at scheduled times: as a list, and as a week. */

import { CalendarPlus } from "lucide-react";
import type { Schemas } from "../../api/client.ts";
import { usePages } from "../../api/queries.ts";
import { AgentName } from "../../session/actor.tsx";
import { Button } from "../../ui/button.tsx";
import { Badge } from "../../ui/facts.tsx";
import { Await, Empty } from "../../ui/note.tsx";
import { PageHeader } from "../../ui/page.tsx";
import { type Column, Table, TwoLines } from "../../ui/table.tsx";
import { Tabs, useParam } from "../../ui/tabs.tsx";
import { Ago } from "../../ui/time.tsx";
import { Calendar } from "./calendar.tsx";
import { RoutineDialog } from "./routine-dialog.tsx";
import { scheduleText } from "./when.ts";

type Routine = Schemas["PulseRoutine"];

const routineHref = ({ agent_id, id }: Pick<Routine, "agent_id" | "id">) => `/routines/${agent_id}/${id}`;

export function RoutineState({ enabled, blocked }: Pick<Routine, "enabled" | "blocked">) {
  if (!enabled) return <Badge>Off</Badge>;
  return blocked ? <Badge tone="wait">Blocked</Badge> : <Badge tone="ok">On</Badge>;
}

const COLUMNS: Column<Routine>[] = [
  {
    title: "Routine",
    className: "w-2/5 min-w-40",
    cell: ({ name, agent_id }) => <TwoLines first={name} second={<AgentName id={agent_id} />} />,
  },
  { title: "State", cell: (routine) => <RoutineState {...routine} /> },
  { title: "When", wide: true, cell: ({ schedule }) => <span className="text-sm">{scheduleText(schedule)}</span> },
  { title: "Last", wide: true, align: "right", cell: ({ last_run_at }) => <Ago at={last_run_at} /> },
  { title: "Next", align: "right", cell: ({ next_run_at }) => <Ago at={next_run_at} /> },
];

export default function RoutinesPage() {
  const [tab] = useParam("tab");
  const [fresh, setFresh] = useParam("new");
  const query = usePages("/v1/pulse-routines", { query: { limit: 100 } });
  const add = (kind: "primary" | "plain") => (
    <Button label="New routine" kind={kind} icon={CalendarPlus} iconSize={15} onClick={() => setFresh("1")} />
  );
  return (
    <>
      <PageHeader
        title="Routines"
        about="What agents do at set times without being asked. A routine works with your rights and budget."
        cli="skep routines"
        actions={add("primary")}
      />
      <Tabs
        label="Views of the routines"
        tabs={[
          { id: "list", title: "List", count: query.rows.length },
          { id: "calendar", title: "Calendar" },
        ]}
      />
      <Await query={query} rows={5}>
        {() =>
          query.rows.length === 0 ? (
            <Empty action={add("plain")} cli='skep routines add AGENT "Morning round" --cron "0 9 * * mon-fri"'>
              No agent does anything by itself yet.
            </Empty>
          ) : tab === "calendar" ? (
            <Calendar agents={[...new Set(query.rows.map(({ agent_id }) => agent_id))]} />
          ) : (
            <Table
              label="Routines"
              rows={query.rows}
              columns={COLUMNS}
              keyOf={({ id }) => id}
              hrefOf={routineHref}
              more={query}
            />
          )
        }
      </Await>
      {fresh && <RoutineDialog agent={fresh === "1" ? "" : fresh} onClose={() => setFresh("")} />}
    </>
  );
}
