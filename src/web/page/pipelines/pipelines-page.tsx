/** The pipelines, with what is wrong in their files. */
import { Plus } from "lucide-react";
import type { Schemas } from "../../api/client.ts";
import { usePages } from "../../api/queries.ts";
import { useAdmin } from "../../shell/session.tsx";
import { ButtonLink } from "../../ui/button.tsx";
import { Badge } from "../../ui/facts.tsx";
import { plural } from "../../ui/format.ts";
import { Await, Empty } from "../../ui/note.tsx";
import { PageHeader } from "../../ui/page.tsx";
import { type Column, Table, TwoLines } from "../../ui/table.tsx";
import { Ago } from "../../ui/time.tsx";

const COLUMNS: Column<Schemas["PipelineItem"]>[] = [
  {
    title: "Pipeline",
    className: "w-1/2 min-w-40",
    cell: ({ id, name, description }) => <TwoLines first={name || id} second={description || id} />,
  },
  {
    title: "File",
    cell: ({ valid, problems }) =>
      valid ? <Badge tone="ok">Valid</Badge> : <Badge tone="bad">{plural(problems.length, "problem")}</Badge>,
  },
  { title: "Steps", wide: true, align: "right", cell: ({ steps }) => steps.length },
  { title: "Agents", wide: true, cell: ({ agents }) => <span className="text-sm text-dim">{agents.join(", ")}</span> },
  { title: "Changed", wide: true, align: "right", cell: ({ updated_at }) => <Ago at={updated_at} /> },
];

export default function PipelinesPage() {
  const admin = useAdmin();
  const query = usePages("/v1/pipelines", { query: { limit: 100 } });
  const add = admin && (
    <ButtonLink href="/pipelines/+new" kind="primary" icon={<Plus aria-hidden size={15} />}>
      New pipeline
    </ButtonLink>
  );
  return (
    <>
      <PageHeader
        title="Pipelines"
        about="Steps that agents and people do, in the order of a file."
        cli="skep pipelines"
        actions={add}
      />
      <Await query={query} rows={6}>
        {() =>
          query.rows.length === 0 ? (
            <Empty action={add} cli="skep pipelines save FILE">
              There is no pipeline. It says which agents do what, in which order, and where a person is asked.
            </Empty>
          ) : (
            <Table
              label="Pipelines"
              rows={query.rows}
              columns={COLUMNS}
              keyOf={({ id }) => id}
              hrefOf={({ id }) => `/pipelines/${id}`}
              more={query}
            />
          )
        }
      </Await>
    </>
  );
}
