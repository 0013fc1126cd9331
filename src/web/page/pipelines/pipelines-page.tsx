/** The pipelines, with the problems in their files. */

import { Plus } from "lucide-react";
import { useMemo } from "react";
import type { Schemas } from "../../api/client.ts";
import { usePages } from "../../api/queries.ts";
import { ListPage } from "../../kit/list-page.tsx";
import { useAdmin } from "../../session/session.tsx";
import { ButtonLink } from "../../ui/button.tsx";
import { Badge } from "../../ui/facts.tsx";
import { pluralize } from "../../ui/format.ts";
import { type Column, TwoLines } from "../../ui/table.tsx";
import { Ago } from "../../ui/time.tsx";
import { Succeeded, UsualCost, useRunSums } from "../runs/run-sums.tsx";

type Pipeline = Schemas["PipelineItem"];

const columnsOf = (sumOf: ReturnType<typeof useRunSums>): Column<Pipeline>[] => [
  {
    title: "Pipeline",
    className: "w-[45%] min-w-40",
    cell: ({ id, name, description, valid, problems }) => (
      <TwoLines
        first={
          <>
            {name || id} {!valid && <Badge tone="bad">{pluralize(problems.length, "problem")}</Badge>}
          </>
        }
        second={description || id}
      />
    ),
  },
  { title: "Succeeded", align: "right", cell: ({ id }) => <Succeeded sum={sumOf(id)} /> },
  { title: "Usual cost", wide: true, align: "right", cell: ({ id }) => <UsualCost sum={sumOf(id)} /> },
  { title: "Steps", wide: true, align: "right", cell: ({ steps }) => steps.length },
  {
    title: "Last run",
    wide: true,
    align: "right",
    cell: ({ id }) => {
      const sum = sumOf(id);
      return sum ? <Ago at={sum.last_run_at} /> : <span className="text-faint">–</span>;
    },
  },
];

export default function PipelinesPage() {
  const admin = useAdmin();
  const query = usePages("/v1/pipelines", { query: { limit: 100 } });
  const sumOf = useRunSums("pipeline");
  const columns = useMemo(() => columnsOf(sumOf), [sumOf]);
  const add = admin && (
    <ButtonLink label="New pipeline" href="/pipelines/+new" kind="primary" icon={Plus} iconSize={15} />
  );
  return (
    <ListPage
      title="Pipelines"
      about="Steps that agents and people do, in the order of a file."
      cli="skep pipelines"
      actions={add}
      query={query}
      columns={columns}
      keyOf={({ id }) => id}
      hrefOf={({ id }) => `/pipelines/${id}`}
      lines={6}
      empty={{
        text: "There is no pipeline. It says which agents do what, in which order, and where a person is asked.",
        action: add,
        cli: "skep pipelines save FILE",
      }}
    />
  );
}
