/** The page of one object. Its heading is the object's name, or the kind of object until the data is loaded. */
import type { ReactNode } from "react";
import type { LinkTo } from "../ui/link.tsx";
import { type Asked, Await } from "../ui/note.tsx";
import { PageHeader, type PageHeaderProps } from "../ui/page.tsx";

interface DetailPageProps<Q extends Asked> {
  query: Q;
  /** The kind of object, used as the heading while there is no data. */
  kind: string;
  /** The page that lists such objects. */
  list: LinkTo;
  head(data: NonNullable<Q["data"]>): PageHeaderProps;
  children(data: NonNullable<Q["data"]>): ReactNode;
}

export function DetailPage<Q extends Asked>({ query, kind, list, head, children }: DetailPageProps<Q>) {
  return (
    <Await query={query} page={kind} list={list} rows={6}>
      {(data) => (
        <>
          <PageHeader {...head(data)} />
          {children(data)}
        </>
      )}
    </Await>
  );
}
