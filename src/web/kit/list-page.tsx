/** A page that is one list: its heading, filters, rows, and the dialogs over it. */
import type { ReactNode } from "react";
import { FilterBar } from "../ui/filter.tsx";
import { PageHeader, type PageHeaderProps } from "../ui/page.tsx";
import { List, type ListProps } from "./list.tsx";

interface ListPageProps<T>
  extends Omit<ListProps<T>, "label">,
    Pick<PageHeaderProps, "title" | "about" | "cli" | "actions"> {
  /** Of the rows, where the title says something else. */
  label?: string;
  /** Above the list: search, choices. Their names in the address are `filters`. */
  filterBar?: ReactNode;
  /** Between heading and list: what needs attention. */
  before?: ReactNode;
  /** Dialogs. */
  children?: ReactNode;
}

export function ListPage<T>({
  title,
  about,
  cli,
  actions,
  label = title,
  filterBar,
  before,
  children,
  ...list
}: ListPageProps<T>) {
  return (
    <>
      <PageHeader title={title} about={about} cli={cli} actions={actions} />
      {before}
      {filterBar && <FilterBar>{filterBar}</FilterBar>}
      <List label={label} {...list} />
      {children}
    </>
  );
}
