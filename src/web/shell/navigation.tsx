/** The navigation: the chosen project, six places of daily work, the library, and the settings. */
import { Code2, type LucideIcon, Search } from "lucide-react";
import { type ReactNode, useEffect, useRef, useState } from "react";
import { Link, useLocation } from "wouter";
import { api } from "../api/client.ts";
import { PAGES, type Page } from "../routes.ts";
import { useAdmin } from "../session/session.tsx";
import { rememberChoice, useLastChoice } from "../ui/choice.ts";
import { setDocumentTitle } from "../ui/document-title.ts";
import { Select } from "../ui/field.tsx";

/**
 * Scrolls to the link of the current page, which may be below the edge in a low window. A hidden list cannot scroll.
 */
export function showCurrent(within: HTMLElement | null): void {
  within?.querySelector("[aria-current=page]")?.scrollIntoView({ block: "nearest" });
}

interface Props {
  brand: ReactNode;
  account: ReactNode;
  onSearch(): void;
}

export function Navigation({ brand, account, onSearch }: Props) {
  const [path] = useLocation();
  const admin = useAdmin();
  const waiting = useWaiting();
  const project = useProject();
  const list = useRef<HTMLElement>(null);
  // biome-ignore lint/correctness/useExhaustiveDependencies: the link that is marked depends on the path.
  useEffect(() => showCurrent(list.current), [path]);
  const pagesOf = (group: NonNullable<Page["nav"]>["group"]) =>
    PAGES.filter(({ nav, admin: only }) => nav?.group === group && (admin || !only));
  const isCode = /^\/projects\/[^/]+\/graph$/.test(path);
  const isHere = (to: string) => (to === "/" ? path === "/" : !isCode && (path === to || path.startsWith(`${to}/`)));
  return (
    <>
      <div className="px-3 pt-3 pb-2">{brand}</div>
      <div className="flex flex-col gap-2 px-3 pb-2">
        <button
          type="button"
          onClick={onSearch}
          className="flex h-8 max-sm:h-11 w-full items-center gap-2 rounded-md border border-line-strong bg-panel px-2 text-sm text-faint hover:text-ink"
        >
          <Search aria-hidden size={14} />
          Search
          <kbd className="ml-auto font-sans text-xs">Ctrl K</kbd>
        </button>
        <Switcher {...project} />
      </div>
      <nav ref={list} aria-label="Main" className="flex-1 scroll-py-3 overflow-y-auto px-3 pt-1 pb-3">
        <ul>
          {pagesOf("Main").map((page) => (
            <NavLink
              key={page.path}
              page={page}
              href={hrefOf(page.path, project.id)}
              here={isHere(page.path)}
              badge={page.path === "/inbox" ? waiting : ""}
            />
          ))}
          <Place
            href={project.id ? `/projects/${project.id}/graph` : "/projects"}
            title="Code"
            hint={project.id ? `Code graph of ${project.name}` : "Choose a project for its code"}
            icon={Code2}
            here={isCode}
          />
        </ul>
        {(["Library", "Settings"] as const).map((group) => (
          <Group key={group} name={group} open={pagesOf(group).some((page) => isHere(page.path))}>
            {pagesOf(group).map((page) => (
              <NavLink key={page.path} page={page} href={page.path} here={isHere(page.path)} badge="" />
            ))}
          </Group>
        ))}
      </nav>
      {account}
    </>
  );
}

/** Pages that can show only the chosen project. */
const OF_PROJECT = new Set(["/runs", "/board"]);
const hrefOf = (path: string, project: string): string =>
  project && OF_PROJECT.has(path) ? `${path}?project=${project}` : path;

interface Chosen {
  /** Id of the project; empty for all projects. */
  id: string;
  name: string;
  all: { id: string; name: string }[];
}

/** The project that the navigation is set to. A deleted project counts as none. */
function useProject(): Chosen {
  const id = useLastChoice("project");
  const { data } = api.useQuery("get", "/v1/projects", { params: { query: { limit: 200 } } });
  const all = data?.items ?? [];
  const found = all.find((one) => one.id === id);
  return { id: found?.id ?? "", name: found?.name ?? "", all };
}

function Switcher({ id, all }: Chosen) {
  const [path, navigate] = useLocation();
  if (all.length === 0) return null;
  const choose = (next: string) => {
    rememberChoice("project", next);
    // A page that shows the previous project switches to the new one.
    if (OF_PROJECT.has(path)) navigate(hrefOf(path, next));
    const within = /^\/projects\/[^/]+(\/graph|\/policy)?$/.exec(path);
    if (within && next) navigate(`/projects/${next}${within[1] ?? ""}`);
  };
  return <Select aria-label="Working in" value={id} onPick={choose} options={[["", "All projects"], ...all]} />;
}

/** A group of links. It is folded until it is opened or contains the current page. */
function Group({ name, open, children }: { name: string; open: boolean; children: ReactNode }) {
  const [unfolded, setUnfolded] = useState(open);
  useEffect(() => {
    if (open) setUnfolded(true);
  }, [open]);
  return (
    <details
      open={unfolded}
      onToggle={(event) => setUnfolded(event.currentTarget.open)}
      className="group mt-3 border-t border-line pt-2"
    >
      <summary className="flex h-8 items-center rounded-md px-2 text-sm font-medium text-dim hover:bg-hover hover:text-ink max-sm:h-11">
        {name}
        <span aria-hidden className="ml-auto text-faint transition-transform group-open:rotate-90">
          ›
        </span>
      </summary>
      <ul className="mt-1">{children}</ul>
    </details>
  );
}

function NavLink({ page, href, here, badge }: { page: Page; href: string; here: boolean; badge: string }) {
  const { icon, key, label = page.title } = page.nav!;
  return <Place href={href} title={label} hint={`${label} (g ${key})`} icon={icon} here={here} badge={badge} />;
}

interface PlaceProps {
  href: string;
  title: string;
  hint: string;
  icon: LucideIcon;
  here: boolean;
  badge?: string;
}

function Place({ href, title, hint, icon: Icon, here, badge }: PlaceProps) {
  return (
    <li>
      <Link
        href={href}
        aria-current={here ? "page" : undefined}
        title={hint}
        className="flex h-8 max-sm:h-11 items-center gap-2.5 rounded-md px-2 text-dim hover:bg-hover hover:text-ink aria-[current=page]:bg-hover aria-[current=page]:font-medium aria-[current=page]:text-ink"
      >
        <Icon aria-hidden size={16} strokeWidth={1.9} />
        {title}
        {badge && (
          <span className="ml-auto rounded-full bg-wait-soft px-1.5 text-xs font-semibold text-wait tabular-nums">
            {badge}
            <span className="sr-only"> waiting for you</span>
          </span>
        )}
      </Link>
    </li>
  );
}

/**
 * How many approvals wait for the reader, for example `20+`; empty for none. It is also shown in the document's title.
 */
function useWaiting(): string {
  const { data } = api.useQuery("get", "/v1/approvals", { params: { query: { limit: 20 } } });
  const known = data?.items.length ?? 0;
  const waiting = known === 0 ? "" : `${known}${data?.next_cursor ? "+" : ""}`;
  useEffect(() => setDocumentTitle({ waiting }), [waiting]);
  return waiting;
}
