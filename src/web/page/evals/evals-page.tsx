/** The evals: how often agents passed their tasks. */

import type { Schemas } from "../../api/client.ts";
import { usePages } from "../../api/queries.ts";
import { ListPage } from "../../kit/list-page.tsx";
import { costText, pluralize } from "../../ui/format.ts";
import { CopyCommand } from "../../ui/page.tsx";
import { Status } from "../../ui/status.tsx";
import { type Column, TwoLines } from "../../ui/table.tsx";
import { Ago, Took } from "../../ui/time.tsx";

/** The command that writes ten small tasks into a folder. */
const FIRST = "skep eval shipped tasks";

const COLUMNS: Column<Schemas["EvalItem"]>[] = [
  {
    title: "Eval",
    className: "w-2/5 min-w-40",
    cell: ({ name, tasks, attempts, mode }) => (
      <TwoLines
        first={name}
        second={`${pluralize(tasks, "task")}${mode === "oracle" ? ", oracle" : attempts > 1 ? `, ${attempts} attempts each` : ""}`}
      />
    ),
  },
  { title: "State", cell: ({ status }) => <Status status={status} /> },
  { title: "Passed", align: "right", cell: ({ passed, total }) => `${passed}/${total}` },
  { title: "Cost", wide: true, align: "right", cell: costText },
  {
    title: "Took",
    wide: true,
    align: "right",
    cell: ({ created_at, finished_at }) => <Took from={created_at} to={finished_at} />,
  },
  { title: "Started", wide: true, align: "right", cell: ({ created_at }) => <Ago at={created_at} /> },
];

export default function EvalsPage() {
  const query = usePages("/v1/evals", { query: { limit: 50 } });
  return (
    <ListPage
      title="Evals"
      about="Tasks with hidden tests that agents try in their sandboxes: how often they pass, what it costs, how long it takes."
      cli="skep evals"
      query={query}
      columns={COLUMNS}
      keyOf={({ id }) => id}
      hrefOf={({ id }) => `/evals/${id}`}
      lines={5}
      empty={{
        text: "No eval was made yet. Tasks are folders, so the command line starts one. This command writes ten small tasks and says how to go on.",
        action: <CopyCommand line={FIRST} />,
        cli: FIRST,
      }}
    />
  );
}
