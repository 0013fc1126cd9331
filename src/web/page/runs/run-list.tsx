/** A list of runs, the same wherever runs are listed. */
import type { Schemas } from "../../api/client.ts";
import { List, type ListProps } from "../../kit/list.tsx";
import { costText } from "../../ui/format.ts";
import { Status } from "../../ui/status.tsx";
import { type Column, TwoLines } from "../../ui/table.tsx";
import { Ago, Took } from "../../ui/time.tsx";
import { Progress } from "./progress.tsx";

export type Run = Schemas["Run"];

const COLUMNS: Column<Run>[] = [
  {
    title: "Task",
    className: "w-[42%] min-w-48",
    cell: (run) => (
      <TwoLines
        first={run.task_description}
        second={
          <>
            {run.pipeline_id}
            {run.project_name && ` · ${run.project_name}`}
            <span className="md:hidden">
              {" · "}
              <Ago at={run.created_at} />
            </span>
          </>
        }
      />
    ),
  },
  { title: "State", cell: (run) => <Status status={run.status} /> },
  { title: "Progress", wide: true, className: "w-[26%]", cell: (run) => <Progress run={run} /> },
  { title: "Took", wide: true, align: "right", cell: (run) => <Took from={run.started_at} to={run.finished_at} /> },
  { title: "Cost", wide: true, align: "right", cell: costText },
  { title: "Started", wide: true, align: "right", cell: (run) => <Ago at={run.created_at} /> },
];

type RunListProps = Pick<ListProps<Run>, "query" | "selection" | "empty" | "filters" | "noMatch" | "lines">;

export const RunList = (list: RunListProps) => (
  <List label="Runs" {...list} columns={COLUMNS} keyOf={({ id }) => id} hrefOf={({ id }) => `/runs/${id}`} />
);
