/** Replacements for content: nothing yet, loading, an error. */
import { TriangleAlert } from "lucide-react";
import type { ReactNode } from "react";
import { useHeldKeys } from "../keys/held-keys.ts";
import { Guard } from "./guard.tsx";
import type { LinkTo } from "./link.tsx";
import { CliLine, PageHeader } from "./page.tsx";
import { ProblemNote } from "./problem-note.tsx";

/** For an empty list: one sentence, one action, and the equivalent command for a terminal. */
export function Empty({ children, action, cli }: { children: ReactNode; action?: ReactNode; cli?: string }) {
  return (
    <div className="flex flex-col items-center gap-3 rounded-lg border border-dashed border-line-strong px-6 py-10 text-center text-dim">
      <p className="max-w-md text-balance">{children}</p>
      {action}
      {cli && <CliLine line={cli} />}
    </div>
  );
}

export function Warning({ children }: { children: ReactNode }) {
  return (
    <div className="my-2 flex gap-2.5 rounded-lg border border-wait/40 bg-wait-soft px-3 py-2.5">
      <TriangleAlert aria-hidden size={17} className="mt-0.5 shrink-0 text-wait" />
      <div className="min-w-0 flex-1">{children}</div>
    </div>
  );
}

/**
 * Gray lines in the shape of the coming content.
 * @param part whether a script or the session is loading, which may add keys of its own.
 */
export function Loading({ rows = 3, part = false }: { rows?: number; part?: boolean }) {
  useHeldKeys(part ? "part" : "content");
  return (
    <div role="status" className="flex flex-col gap-2">
      <span className="sr-only">Loading…</span>
      {Array.from({ length: rows }, (_, at) => (
        <div key={`row-${at.toString()}`} className="h-9 animate-pulse rounded-md bg-hover" />
      ))}
    </div>
  );
}

/** Shown in place of a page whose script is loading. */
export const LoadingPage = () => <Loading rows={6} part />;

/** Renders inside of a `Guard`, which catches errors of `draw`. */
const Drawn = ({ draw }: { draw(): ReactNode }) => draw();

/** The part of an API query's result that is shown. */
export interface Asked {
  isPending: boolean;
  error: unknown;
  data: unknown;
  refetch(): unknown;
}

/** Shows a query's state until there is data. An error does not hide data that is already there. */
export function Await<Q extends Asked>({
  query,
  rows,
  page,
  list,
  children,
}: {
  query: Q;
  rows?: number;
  /** The page's title while the data cannot be shown. */
  page?: string;
  /** The page to go to if the query's object no longer exists. */
  list?: LinkTo;
  children: (data: NonNullable<Q["data"]>) => ReactNode;
}) {
  const { data, error, refetch } = query;
  return (
    <>
      {page && error && data === undefined ? <PageHeader title={page} /> : null}
      {error ? <ProblemNote error={error} retry={refetch} list={list} /> : null}
      {data === undefined ? (
        !error && <Loading rows={rows ?? 3} />
      ) : (
        <Guard when={data}>
          <Drawn draw={() => children(data as NonNullable<Q["data"]>)} />
        </Guard>
      )}
    </>
  );
}
