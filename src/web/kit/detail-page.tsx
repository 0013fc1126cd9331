/** A page about one thing: its heading once it is known, before that the word for what it is. */
import type { ReactNode } from "react";
import { type Asked, Await } from "../ui/note.tsx";
import { PageHeader, type PageHeaderProps } from "../ui/page.tsx";

interface DetailPageProps<Q extends Asked> {
  query: Q;
  /** What it is, as the heading of a page that cannot be shown. */
  kind: string;
  head(data: NonNullable<Q["data"]>): PageHeaderProps;
  children(data: NonNullable<Q["data"]>): ReactNode;
}

export function DetailPage<Q extends Asked>({ query, kind, head, children }: DetailPageProps<Q>) {
  return (
    <Await query={query} page={kind} rows={6}>
      {(data) => (
        <>
          <PageHeader {...head(data)} />
          {children(data)}
        </>
      )}
    </Await>
  );
}
