/** A page that consists of one list: heading, filters, rows and dialogs. */
import type { ReactNode } from "react";
import { FilterBar } from "../ui/filter.tsx";
import { PageHeader, type PageHeaderProps } from "../ui/page.tsx";
import { List, type ListProps } from "./list.tsx";

interface ListPageProps<T>
  extends Omit<ListProps<T>, "label">,
    Pick<PageHeaderProps, "title" | "about" | "cli" | "actions"> {
  /** Accessible name of the rows, if it differs from the title. */
  label?: string;
  /** Search and choices above the list. `filters` has their names in the address. */
  filterBar?: ReactNode;
  /** Content between heading and list that needs attention. */
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
