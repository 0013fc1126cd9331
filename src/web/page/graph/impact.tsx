/** What a change of a symbol affects, by depth. */
import { ChevronRight } from "lucide-react";
import { api, type Schemas } from "../../api/client.ts";
import { Badge } from "../../ui/facts.tsx";
import { FilterSelect } from "../../ui/filter.tsx";
import { pluralize, shellWord } from "../../ui/format.ts";
import { Await, Empty } from "../../ui/note.tsx";
import { Panel, Section } from "../../ui/page.tsx";
import { useParam } from "../../ui/tabs.tsx";
import type { GraphSymbol } from "./graph-page.tsx";
import { SymbolLink } from "./symbol-link.tsx";

interface Reached {
  risk: "low" | "medium" | "high" | "critical";
  depths: { depth: number; label: string; total: number; symbols: GraphSymbol[] }[];
  processes: { id: string; label: string }[];
  total: number;
}

const RISK = { low: "ok", medium: "wait", high: "bad", critical: "bad" } as const;

export const RiskBadge = ({ risk }: { risk: keyof typeof RISK }) => <Badge tone={RISK[risk]}>{risk} risk</Badge>;

export function Impact({ project, target }: { project: string; target: string }) {
  const [direction, setDirection] = useParam("direction");
  const body: Schemas["ImpactProjectGraphBody"] = {
    target,
    direction: direction === "downstream" ? "downstream" : "upstream",
    max_depth: 4,
  };
  const query = api.useQuery("post", "/v1/projects/{id}/knowledge-graph/impact", {
    params: { path: { id: project } },
    body,
  });
  return (
    <Section
      title="What a change reaches"
      className="mt-8"
      actions={
        <FilterSelect
          label="Direction"
          value={direction}
          onChange={setDirection}
          options={[
            { value: "", label: "What depends on it" },
            { value: "downstream", label: "What it depends on" },
          ]}
        />
      }
    >
      <Await query={query}>
        {(answer) => {
          const reached = answer as unknown as Reached;
          if (!reached.depths) return null;
          if (reached.total === 0)
            return <Empty cli={`skep graph impact . ${shellWord(target)}`}>Nothing: no other symbol is reached.</Empty>;
          return (
            <>
              <p className="mb-3 flex flex-wrap items-center gap-2">
                <RiskBadge risk={reached.risk} />
                {pluralize(reached.total, "symbol")}
                {reached.processes.length > 0 && `, ${pluralize(reached.processes.length, "flow")}`}
              </p>
              <div className="grid gap-3 md:grid-cols-2 xl:grid-cols-4">
                {reached.depths.map(({ depth, label, total, symbols }) => (
                  <Panel key={depth} className="p-1">
                    <details open={depth > 1} className="group">
                      <DepthSummary depth={depth} label={label} total={total} />
                      <ul className="max-h-80 overflow-y-auto">
                        {symbols.map((symbol) => (
                          <Reaching key={symbol.id} symbol={symbol} />
                        ))}
                      </ul>
                    </details>
                  </Panel>
                ))}
              </div>
            </>
          );
        }}
      </Await>
    </Section>
  );
}

function DepthSummary({ depth, label, total }: { depth: number; label: string; total: number }) {
  return (
    <summary className="block min-h-8 px-2 pt-1 max-sm:min-h-11">
      <h3 className="flex items-baseline justify-between text-sm font-medium">
        <span className="inline-flex items-center gap-1">
          <ChevronRight aria-hidden size={14} className="text-faint transition-transform group-open:rotate-90" />
          {label}
        </span>
        <span className="text-xs text-faint">
          depth {depth} · {pluralize(total, "symbol")}
        </span>
      </h3>
      {depth === 1 && <p className="pb-1 text-sm text-dim">Those listed beside the symbol above.</p>}
    </summary>
  );
}

const Reaching = ({ symbol }: Parameters<typeof SymbolLink>[0]) => (
  <li>
    <SymbolLink symbol={symbol} />
  </li>
);
