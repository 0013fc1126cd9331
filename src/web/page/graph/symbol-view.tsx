/**
 * One symbol, drawn among its neighbors and as three lists: what depends on it, the symbol itself, and what it depends
 * on. Below them: what a change of it affects.
 */
import { ArrowLeft, ArrowRight, type LucideIcon } from "lucide-react";
import type { ReactNode } from "react";
import { api, type Schemas } from "../../api/client.ts";
import { Badge } from "../../ui/facts.tsx";
import { pluralize } from "../../ui/format.ts";
import { Await } from "../../ui/note.tsx";
import { Panel, Section } from "../../ui/page.tsx";
import type { GraphSymbol } from "./graph-page.tsx";
import { Impact } from "./impact.tsx";
import { Neighbourhood } from "./neighbourhood.tsx";
import { SymbolLink } from "./symbol-link.tsx";

type Related = Schemas["ProjectGraphContext"];

interface Context {
  symbol: GraphSymbol;
  callers: Related[];
  callees: Related[];
  uses: Related[];
  used_by: Related[];
  imports: Related[];
  imported_by: Related[];
  extends: Related[];
  implemented_by: Related[];
  members: Related[];
  processes: { id: string; label: string; step_count: number }[];
  totals: Record<string, number>;
  community: { label: string; symbol_count: number } | null;
  code: string;
}

export function SymbolView({ project, symbol }: { project: string; symbol: string }) {
  const query = api.useQuery("get", "/v1/projects/{id}/knowledge-graph/context/{symbol}", {
    params: { path: { id: project, symbol } },
  });
  return (
    <Await query={query} rows={5}>
      {(answer) =>
        "candidates" in answer ? (
          <Candidates symbols={answer.candidates} />
        ) : (
          <Zones project={project} context={answer} />
        )
      }
    </Await>
  );
}

const Candidates = ({ symbols }: { symbols: GraphSymbol[] }) => (
  <Section title="Several have this name">
    <Panel className="p-1">
      {symbols.map((one) => (
        <SymbolLink key={one.id} symbol={one} />
      ))}
    </Panel>
  </Section>
);

function Zones({ project, context }: { project: string; context: Context }) {
  const { symbol, totals } = context;
  const count = (name: string) => totals[name] ?? 0;
  return (
    <>
      <Neighbourhood key={symbol.id} project={project} focus={symbol.id} />
      <div className="grid grid-cols-[minmax(0,1fr)] items-start gap-3 lg:grid-cols-[minmax(0,1fr)_minmax(0,1.25fr)_minmax(0,1fr)]">
        <Zone title="Depends on it" icon={ArrowRight}>
          <List title="Called by" rows={context.callers} total={count("callers")} />
          <List title="Used by" rows={context.used_by} total={count("used_by")} />
          <List title="Imported by" rows={context.imported_by} total={count("imported_by")} />
          <List title="Implemented by" rows={context.implemented_by} total={count("implemented_by")} />
        </Zone>
        <Focus context={context} />
        <Zone title="It depends on" icon={ArrowLeft}>
          <List title="Calls" rows={context.callees} total={count("callees")} />
          <List title="Uses" rows={context.uses} total={count("uses")} />
          <List title="Imports" rows={context.imports} total={count("imports")} />
          <List title="Extends" rows={context.extends} total={count("extends")} />
        </Zone>
      </div>
      <Impact project={project} target={symbol.id} />
    </>
  );
}

function Zone({ title, icon: Icon, children }: { title: string; icon: LucideIcon; children: ReactNode }) {
  return (
    <section aria-label={title}>
      <h2 className="mb-2 flex items-center gap-1.5 text-sm font-semibold text-dim">
        <Icon aria-hidden size={14} />
        {title}
      </h2>
      <Panel className="empty:hidden max-lg:max-h-96 max-h-[36rem] overflow-y-auto p-1">{children}</Panel>
    </section>
  );
}

function List({ title, rows, total }: { title: string; rows: Related[]; total: number }) {
  if (rows.length === 0) return null;
  return (
    <div className="mb-1">
      <h3 className="px-2 pt-1 text-xs text-faint">
        {title} {total}
      </h3>
      <ul>
        {rows.map((one) => (
          <li key={`${one.id} ${one.line ?? ""}`}>
            <SymbolLink
              symbol={one}
              detail={one.confidence < 1 ? `${Math.round(one.confidence * 100)} % sure` : undefined}
            />
          </li>
        ))}
      </ul>
      {total > rows.length && (
        <p className="px-2 py-1 text-xs text-dim">{pluralize(total - rows.length, "more", "more")}</p>
      )}
    </div>
  );
}

function Focus({ context: { symbol, community, code, members, processes, totals } }: { context: Context }) {
  return (
    <section aria-labelledby="symbol-name" className="rounded-lg border border-accent bg-panel p-4">
      <h2 id="symbol-name" className="flex flex-wrap items-center gap-2 text-lg font-semibold">
        <span className="font-mono">{symbol.name}</span>
        <Badge>{symbol.label}</Badge>
        {symbol.exported && <Badge tone="run">exported</Badge>}
      </h2>
      <p className="text-sm text-dim">
        {symbol.file_path}:{symbol.start_line}–{symbol.end_line}
        {community && ` · ${community.label}`}
      </p>
      {symbol.doc && <p className="my-2 line-clamp-4 whitespace-pre-wrap">{symbol.doc}</p>}
      {code && (
        <pre tabIndex={0} className="my-2 max-h-96 overflow-auto rounded-md bg-sunken p-2 font-mono text-xs leading-5">
          {code}
        </pre>
      )}
      {members.length > 0 && <List title="Members" rows={members} total={totals["members"] ?? members.length} />}
      {processes.length > 0 && (
        <p className="mt-2 text-sm text-dim">
          In {pluralize(totals["processes"] ?? processes.length, "flow")}:{" "}
          {processes
            .slice(0, 4)
            .map(({ label }) => label)
            .join("; ")}
          {processes.length > 4 && " …"}
        </p>
      )}
    </section>
  );
}
