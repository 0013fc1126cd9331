/** A Cypher query to the code graph, and its result rows. Queries can only read. */
import { useState } from "react";
import { client, must, type Schemas } from "../../api/client.ts";
import { useChange } from "../../kit/change.ts";
import { Field, TextArea } from "../../ui/field.tsx";
import { Form } from "../../ui/form.tsx";
import { formatDuration, pluralize } from "../../ui/format.ts";
import { Empty } from "../../ui/note.tsx";
import { CliLine } from "../../ui/page.tsx";
import { useParam } from "../../ui/tabs.tsx";

type Answer = Schemas["CypherProjectGraphAnswer"];

const EXAMPLE =
  "MATCH (a:Function)-[r:CALLS]->(b:Function)\nRETURN b.name, count(a) AS callers\nORDER BY callers DESC LIMIT 20";

export function Ask({ project }: { project: string }) {
  const [query, setQuery] = useParam("cypher");
  const [answer, setAnswer] = useState<Answer>();
  const action = useChange();
  return (
    <>
      <Form
        action={action}
        word="Ask"
        className="mb-4"
        submit={async ({ text }) => {
          setQuery(text("query"));
          const body = { query: text("query") };
          const params = { path: { id: project } };
          setAnswer(await must(client.POST("/v1/projects/{id}/knowledge-graph/cypher", { params, body })));
        }}
      >
        <Field label="Question in Cypher" hint="Only reads." name="query">
          <TextArea required rows={4} spellCheck={false} className="font-mono" defaultValue={query || EXAMPLE} />
        </Field>
      </Form>
      {answer && <Rows answer={answer} />}
      <CliLine line="skep graph cypher . 'MATCH …'" />
    </>
  );
}

function Rows({ answer: { columns, rows, truncated, duration_ms } }: { answer: Answer }) {
  if (rows.length === 0)
    return <Empty>The query is right, but nothing in the graph is like that. Change it above and ask again.</Empty>;
  return (
    <section aria-label="Rows" className="mb-4">
      <p role="status" className="mb-2 text-sm text-dim">
        {pluralize(rows.length, "row")}
        {truncated && ", the first of more"}, in {formatDuration(duration_ms)}
      </p>
      <div tabIndex={0} className="max-h-[60dvh] overflow-auto rounded-lg border border-line bg-panel">
        <table className="w-full text-left text-sm" aria-label="Rows">
          <thead className="text-xs text-faint">
            <tr className="border-b border-line">
              {columns.map((name) => (
                <th key={name} scope="col" className="px-3 py-2 font-medium">
                  {name}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {rows.map((row, at) => (
              <tr key={at.toString()} className="border-b border-line align-top last:border-0">
                {row.map((value, column) => (
                  <td key={columns[column]} className="px-3 py-1.5 font-mono text-xs break-words">
                    {typeof value === "string" ? value : JSON.stringify(value)}
                  </td>
                ))}
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </section>
  );
}
