/** Views of one object as links: each view has its own address. */
import { type ReactNode, useEffect, useRef } from "react";
import { Link, useSearchParams } from "wouter";

/**
 * A query parameter of the address, as state. An empty value removes it.
 * @typeParam Word the values that the page offers. The address may contain any other, which the API refuses.
 */
export function useParam<Word extends string = string>(
  name: string,
  fallback: NoInfer<Word> | "" = "",
): [Word | "", (value: string) => void] {
  const [params, setParams] = useSearchParams();
  const set = (value: string) =>
    setParams(
      (old) => {
        const next = new URLSearchParams(old);
        if (value === fallback || value === "") next.delete(name);
        else next.set(name, value);
        return next;
      },
      { replace: true },
    );
  return [(params.get(name) ?? fallback) as Word | "", set];
}

interface Tab {
  id: string;
  title: string;
  count?: number | undefined;
}

/** The query parameter that names the view. */
const VIEW = "tab";

interface TabsProps {
  tabs: Tab[];
  label: string;
  /** The current view; by default the one in the address, or the first. */
  current?: string;
}

/** The first view needs no query parameter. If the page sets `current`, every link has the parameter. */
export function Tabs({ tabs, label, current: given }: TabsProps) {
  const [params] = useSearchParams();
  const current = given ?? params.get(VIEW) ?? tabs[0]?.id;
  const hrefOf = (id: string) => {
    const next = new URLSearchParams(params);
    if (id === tabs[0]?.id && given === undefined) next.delete(VIEW);
    else next.set(VIEW, id);
    return `?${next}`;
  };
  const bar = useRef<HTMLElement>(null);
  // On a narrow screen the tab bar scrolls, so bring the current tab into sight.
  useEffect(() => {
    const nav = bar.current;
    const tab = nav?.querySelector<HTMLElement>(`[data-tab="${CSS.escape(current ?? "")}"]`);
    if (nav && tab) nav.scrollLeft = tab.offsetLeft - nav.offsetLeft - (nav.clientWidth - tab.offsetWidth) / 2;
  }, [current]);
  return (
    <nav ref={bar} aria-label={label} className="mb-4 flex gap-1 overflow-x-auto border-b border-line">
      {tabs.map(({ id, title, count }) => (
        <Link
          key={id}
          href={hrefOf(id)}
          replace
          data-tab={id}
          aria-current={id === current ? "page" : undefined}
          className="-mb-px border-b-2 border-transparent px-3 py-2 max-sm:py-3 text-sm font-medium whitespace-nowrap text-dim hover:text-ink aria-[current=page]:border-accent aria-[current=page]:text-ink"
        >
          {title}
          {count !== undefined && count > 0 && <span className="ml-1.5 text-xs text-faint tabular-nums">{count}</span>}
        </Link>
      ))}
    </nav>
  );
}

interface ViewsProps {
  label: string;
  views: (Tab & { view: ReactNode })[];
}

/** Tabs with their views. It shows the view that the address names, or the first. */
export function Views({ label, views }: ViewsProps) {
  const [params] = useSearchParams();
  const shown = views.find(({ id }) => id === params.get(VIEW)) ?? views[0];
  return (
    <>
      <Tabs label={label} tabs={views} />
      {shown?.view}
    </>
  );
}
