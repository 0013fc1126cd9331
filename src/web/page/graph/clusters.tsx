/** Clusters of related symbols, and call flows from an entry point to an end. */
import { usePages } from "../../api/queries.ts";
import { ButtonLink } from "../../ui/button.tsx";
import { Badge } from "../../ui/facts.tsx";
import { pluralize } from "../../ui/format.ts";
import { Await, Empty } from "../../ui/note.tsx";
import { Panel } from "../../ui/page.tsx";
import { More } from "../../ui/table.tsx";
import { SymbolLink } from "./symbol-link.tsx";

const BySymbols = ({ project }: { project: string }) => (
  <ButtonLink href={`/projects/${project}/graph`}>Search the symbols</ButtonLink>
);

export function Clusters({ project }: { project: string }) {
  const query = usePages("/v1/projects/{id}/knowledge-graph/communities", {
    path: { id: project },
    query: { limit: 30 },
  });
  return (
    <Await query={query}>
      {() =>
        query.rows.length === 0 ? (
          <Empty action={<BySymbols project={project} />} cli="skep graph status">
            No clusters were found: too few symbols call each other.
          </Empty>
        ) : (
          <>
            <div className="grid gap-3 md:grid-cols-2 xl:grid-cols-3">
              {query.rows.map(({ id, label, symbol_count, cohesion, members }) => (
                <Panel key={id} className="p-1">
                  <h2 className="flex items-baseline justify-between gap-2 px-2 pt-1 font-medium">
                    <span className="line-clamp-1">{label}</span>
                    <span className="shrink-0 text-xs text-faint">
                      {pluralize(symbol_count, "symbol")}, {Math.round(cohesion * 100)} % inward
                    </span>
                  </h2>
                  <ul className="max-h-56 overflow-y-auto">
                    {members.slice(0, 50).map((one) => (
                      <li key={one.id}>
                        <SymbolLink symbol={one} />
                      </li>
                    ))}
                  </ul>
                </Panel>
              ))}
            </div>
            <More query={query} />
          </>
        )
      }
    </Await>
  );
}

export function Flows({ project }: { project: string }) {
  const query = usePages("/v1/projects/{id}/knowledge-graph/processes", {
    path: { id: project },
    query: { limit: 30 },
  });
  return (
    <Await query={query}>
      {() =>
        query.rows.length === 0 ? (
          <Empty action={<BySymbols project={project} />} cli="skep graph status">
            No flows were found: no chain of calls leads from an entry through several functions.
          </Empty>
        ) : (
          <>
            <div className="grid gap-3 md:grid-cols-2">
              {query.rows.map(({ id, label, kind, steps }) => (
                <Panel key={id} className="p-1">
                  <h2 className="flex items-center gap-2 px-2 pt-1 font-medium">
                    <span className="line-clamp-1 flex-1">{label}</span>
                    <Badge>{kind === "cross_community" ? "across clusters" : "within a cluster"}</Badge>
                  </h2>
                  <ol>
                    {steps.map((one) => (
                      <li key={one.id}>
                        <SymbolLink symbol={one} />
                      </li>
                    ))}
                  </ol>
                </Panel>
              ))}
            </div>
            <More query={query} />
          </>
        )
      }
    </Await>
  );
}
