/** Uncommitted changes, as the symbols and flows that they affect. */
import { api } from "../../api/client.ts";
import { ButtonLink } from "../../ui/button.tsx";
import { Badge } from "../../ui/facts.tsx";
import { SearchInput } from "../../ui/filter.tsx";
import { pluralize } from "../../ui/format.ts";
import { Await, Empty } from "../../ui/note.tsx";
import { Panel, Section } from "../../ui/page.tsx";
import { useParam } from "../../ui/tabs.tsx";
import { RiskBadge } from "./impact.tsx";
import { SymbolLink } from "./symbol-link.tsx";

const TONE = { added: "ok", modified: "wait", deleted: "bad" } as const;

export function Changes({ project }: { project: string }) {
  const [base, setBase] = useParam("base");
  const query = api.useQuery("get", "/v1/projects/{id}/knowledge-graph/changes", {
    params: { path: { id: project }, query: base ? { base } : {} },
  });
  return (
    <>
      <div className="mb-3 flex">
        <SearchInput label="Commit or branch (HEAD)" value={base} onChange={setBase} />
      </div>
      <Await query={query} rows={4}>
        {({ files, symbols, processes, totals, risk }) =>
          files.length === 0 ? (
            <Empty
              action={<ButtonLink href={`/runs?project=${project}`}>Open the project's runs</ButtonLink>}
              cli="skep graph changes ."
            >
              Nothing has changed in the workspace since {base || "the last commit"}. A run's changes are on its own
              page, until they are merged.
            </Empty>
          ) : (
            <>
              <p className="mb-4 flex flex-wrap items-center gap-2">
                <RiskBadge risk={risk} />
                {pluralize(totals["files"] ?? files.length, "file")},{" "}
                {pluralize(totals["symbols"] ?? symbols.length, "symbol")},{" "}
                {pluralize(totals["processes"] ?? processes.length, "flow")}
              </p>
              <div className="grid gap-6 lg:grid-cols-2">
                <Section title="Symbols">
                  <Panel className="p-1">
                    <ul>
                      {symbols.map((one) => (
                        <ChangedSymbol key={one.symbol.id} {...one} />
                      ))}
                    </ul>
                  </Panel>
                </Section>
                <Section title="Files">
                  <Panel className="p-3">
                    <ul>
                      {files.map((one) => (
                        <ChangedFile key={one.path} {...one} />
                      ))}
                    </ul>
                  </Panel>
                </Section>
              </div>
            </>
          )
        }
      </Await>
    </>
  );
}

interface ChangedSymbolProps {
  symbol: Parameters<typeof SymbolLink>[0]["symbol"];
  change: keyof typeof TONE;
}

function ChangedSymbol({ symbol, change }: ChangedSymbolProps) {
  return (
    <li className="flex items-center gap-2 pr-2">
      <div className="min-w-0 flex-1">
        <SymbolLink symbol={symbol} />
      </div>
      <Badge tone={TONE[change]}>{change}</Badge>
    </li>
  );
}

const ChangedFile = ({ path, status }: { path: string; status: string }) => (
  <li className="flex gap-2 font-mono text-sm">
    <span className="w-20 shrink-0 text-dim">{status}</span>
    {path}
  </li>
);
