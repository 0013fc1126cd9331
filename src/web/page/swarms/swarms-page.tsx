/** Swarms: work split into several tasks that run in parallel. */

import { Network } from "lucide-react";
import { usePages } from "../../api/queries.ts";
import { ListPage } from "../../kit/list-page.tsx";
import { AgentName } from "../../session/actor.tsx";
import { Button } from "../../ui/button.tsx";
import { costText } from "../../ui/format.ts";
import { Status } from "../../ui/status.tsx";
import { type Column, TwoLines } from "../../ui/table.tsx";
import { useParam } from "../../ui/tabs.tsx";
import { Ago, Took } from "../../ui/time.tsx";
import { NewSwarm } from "./new-swarm.tsx";
import type { Swarm } from "./plan.ts";

const COLUMNS: Column<Swarm>[] = [
  {
    title: "Swarm",
    className: "w-2/5 min-w-40",
    cell: ({ title, agent_id }) => <TwoLines first={title} second={<AgentName id={agent_id} />} />,
  },
  { title: "State", cell: ({ status }) => <Status status={status} /> },
  { title: "Tasks", align: "right", cell: ({ counts, task_count }) => `${counts["succeeded"] ?? 0}/${task_count}` },
  { title: "Cost", wide: true, align: "right", cell: costText },
  {
    title: "Took",
    wide: true,
    align: "right",
    cell: ({ created_at, finished_at }) => <Took from={created_at} to={finished_at} />,
  },
  { title: "Started", wide: true, align: "right", cell: ({ created_at }) => <Ago at={created_at} /> },
];

export default function SwarmsPage() {
  const [fresh, setFresh] = useParam("new");
  const query = usePages("/v1/swarm", { query: { limit: 50 } });
  const start = (kind: "primary" | "plain") => (
    <Button label="Start a swarm" kind={kind} icon={Network} iconSize={15} onClick={() => setFresh("1")} />
  );
  return (
    <ListPage
      title="Swarms"
      about="Work in several tasks, each done by an agent, side by side where they do not depend on each other."
      cli="skep swarm"
      actions={start("primary")}
      query={query}
      columns={COLUMNS}
      keyOf={({ id }) => id}
      hrefOf={({ id }) => `/swarms/${id}`}
      lines={5}
      empty={{
        text: "No swarm was started yet. One takes a large piece of work apart among several agents.",
        action: start("plain"),
        cli: "skep swarm run swarm.yml --follow",
      }}
    >
      {fresh && <NewSwarm onClose={() => setFresh("")} />}
    </ListPage>
  );
}
