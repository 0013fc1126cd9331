/** Which tasks pass more or less often than in another eval. */
import { api, type Schemas } from "../../api/client.ts";
import { usePages } from "../../api/queries.ts";
import { FilterSelect } from "../../ui/filter.tsx";
import { Await } from "../../ui/note.tsx";
import { Section } from "../../ui/page.tsx";
import { type Column, nameColumn, Table } from "../../ui/table.tsx";
import { useParam } from "../../ui/tabs.tsx";

type Line = Schemas["CompareEvalsAnswer"]["tasks"][number];

const formatPasses = (of: Line["before"]) => (of === null ? "–" : `${of.passed}/${of.ended}`);

const COLUMNS: Column<Line>[] = [
  nameColumn("Task", "w-1/2 min-w-40", ({ task, agent_id, model, worker }) => [
    task,
    worker === "agent" ? [agent_id, model].filter(Boolean).join(", ") : worker,
  ]),
  { title: "Before", align: "right", cell: ({ before }) => formatPasses(before) },
  { title: "Now", align: "right", cell: ({ after }) => formatPasses(after) },
];

export function Comparison({ id }: { id: string }) {
  const [other, setOther] = useParam("with");
  const { rows } = usePages("/v1/evals", { query: { limit: 50 } });
  const others = rows.filter((one) => one.id !== id);
  if (others.length === 0) return null;
  const options = [
    { value: "", label: "No other eval" },
    ...others.map((one) => ({ value: one.id, label: `${one.name}, ${new Date(one.created_at).toLocaleString()}` })),
  ];
  return (
    <Section
      title="Compared"
      actions={<FilterSelect label="Compare with" value={other} options={options} onChange={setOther} />}
    >
      {other === "" ? (
        <p className="text-dim">Choose another eval to see which tasks pass more or less often now.</p>
      ) : (
        <Compared id={id} other={other} />
      )}
    </Section>
  );
}

function Compared({ id, other }: { id: string; other: string }) {
  const query = api.useQuery("get", "/v1/evals/{id}/comparison/{earlier}", {
    params: { path: { id, earlier: other } },
  });
  return (
    <Await query={query} rows={4}>
      {({ better, worse, tasks }) => (
        <>
          <p className="mb-2">
            {better} better, {worse} worse.
          </p>
          <Table
            label="Compared tasks"
            rows={tasks}
            columns={COLUMNS}
            keyOf={({ task, worker, agent_id, model, harness }) => [task, worker, agent_id, model, harness].join(" ")}
          />
        </>
      )}
    </Await>
  );
}
