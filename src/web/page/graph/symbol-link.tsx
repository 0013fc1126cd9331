/** A symbol in a list: its kind, name and place, with a link to its page. */
import { Link, useSearchParams } from "wouter";
import { Badge } from "../../ui/facts.tsx";
import type { GraphSymbol } from "./graph-page.tsx";

/** Returns the address of a symbol's view; other parameters of the address are kept. */
export function useSymbolHref(): (id: string) => string {
  const [params] = useSearchParams();
  return (id) => {
    const next = new URLSearchParams(params);
    next.delete("tab");
    next.set("symbol", id);
    return `?${next}`;
  };
}

export function SymbolLink({
  symbol,
  detail,
}: {
  symbol: Pick<GraphSymbol, "id" | "label" | "name" | "file_path" | "start_line">;
  detail?: string | undefined;
}) {
  const hrefOf = useSymbolHref();
  return (
    <Link
      href={hrefOf(symbol.id)}
      data-row
      className="flex min-h-8 items-center gap-2 rounded-md px-2 py-1 hover:bg-hover max-sm:min-h-11"
    >
      <span className="min-w-18 shrink-0">
        <Badge>{symbol.label}</Badge>
      </span>
      <span className="min-w-0 flex-1">
        <span className="line-clamp-1 font-mono text-sm">{symbol.name}</span>
        <span className="line-clamp-1 text-xs text-dim">
          {symbol.file_path}:{symbol.start_line}
          {detail && ` · ${detail}`}
        </span>
      </span>
    </Link>
  );
}
