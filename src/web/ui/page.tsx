/** The frame of a page: its heading, its actions, and its command for the terminal. */
import { Check, Copy } from "lucide-react";
import { Fragment, type ReactNode, useEffect, useRef, useState } from "react";
import { Link, useLocation } from "wouter";
import { Button } from "./button.tsx";
import { copyText } from "./copy.ts";
import { setDocumentTitle } from "./document-title.ts";
import { Guard } from "./guard.tsx";
import type { LinkTo } from "./link.tsx";

/** Path of the last page. Before the first navigation the browser's own focus is right, so nothing counts as a move. */
let left = location.pathname;
let moved = false;
addEventListener("pushState", () => {
  moved ||= location.pathname !== left;
  left = location.pathname;
});
/** Whether this page was reached by navigation and has not taken the focus yet. */
function movedHere(): boolean {
  const is = moved;
  moved = false;
  return is;
}

const HEADING = "page-heading";

/** Sets the document's title. After a navigation, also focuses the heading, for screen readers. */
export function useHeading(title: string) {
  const heading = useRef<HTMLHeadingElement>(null);
  useEffect(() => {
    setDocumentTitle({ page: title });
  }, [title]);
  const [path] = useLocation();
  // biome-ignore lint/correctness/useExhaustiveDependencies: from one run to another the page stays, with another path.
  useEffect(() => {
    if (movedHere()) heading.current?.focus({ preventScroll: true });
  }, [path]);
  return heading;
}

export interface PageHeaderProps {
  title: string;
  /** The path to this page from the top: address and name of each level. */
  crumbs?: LinkTo[];
  /** Shown above the title: what else the page belongs to. */
  above?: ReactNode;
  /** Shown beside the title, such as a state. */
  beside?: ReactNode;
  /** One sentence below the title. */
  about?: ReactNode;
  /** The equivalent command for a terminal. */
  cli?: string | undefined;
  actions?: ReactNode;
}

export function PageHeader({ title, crumbs = [], above, beside, about, cli, actions }: PageHeaderProps) {
  const heading = useHeading(title);
  return (
    <header className="mb-4 flex flex-wrap items-start gap-x-4 gap-y-2">
      <div className="min-w-0 flex-1 basis-72">
        {(above || crumbs.length > 0) && (
          <div className="mb-0.5 text-sm text-dim">
            {crumbs.map(([href, name], at) => (
              <Fragment key={href}>
                {at > 0 && " / "}
                <Link href={href} className="hover:underline">
                  {name}
                </Link>
              </Fragment>
            ))}
            {above}
          </div>
        )}
        <div className="flex flex-wrap items-center gap-x-3 gap-y-1">
          <h1 id={HEADING} ref={heading} tabIndex={-1} className="text-xl font-semibold tracking-tight bidi">
            {title}
          </h1>
          {beside}
        </div>
        {about && <div className="mt-1 max-w-prose text-dim">{about}</div>}
        {cli && <CliLine line={cli} />}
      </div>
      {actions && (
        <div data-verbs className="flex flex-wrap items-center gap-2">
          {actions}
        </div>
      )}
    </header>
  );
}

/** A command for the terminal that can be copied. */
export function CliLine({ line }: { line: string }) {
  return (
    <div className="mt-1 inline-flex max-w-full items-center gap-1 text-xs text-faint max-sm:hidden">
      <code className="truncate font-mono">{line}</code>
      <CopyButton text={line} label="Copy the command" />
    </div>
  );
}

/** @returns a function that copies the text, and whether it has just done so. */
function useCopy(text: string): { done: boolean; copy(): Promise<void> } {
  const [done, setDone] = useState(false);
  return {
    done,
    async copy() {
      if (!(await copyText(text))) return;
      setDone(true);
      setTimeout(() => setDone(false), 1_500);
    },
  };
}

/** The main button if only the terminal can do something: it copies the command. */
export function CopyCommand({ line }: { line: string }) {
  const { done, copy } = useCopy(line);
  const Icon = done ? Check : Copy;
  return <Button label={done ? "Copied" : "Copy the command"} kind="primary" icon={Icon} onClick={copy} />;
}

export function CopyButton({ text, label = "Copy" }: { text: string; label?: string }) {
  const { done, copy } = useCopy(text);
  const Icon = done ? Check : Copy;
  return (
    <button
      type="button"
      onClick={copy}
      aria-label={done ? "Copied" : label}
      title={label}
      className="inline-flex size-6 max-sm:size-11 shrink-0 items-center justify-center rounded text-faint hover:bg-hover hover:text-ink"
    >
      <Icon aria-hidden size={13} />
    </button>
  );
}

export function Section({
  title,
  actions,
  children,
  panel = false,
  className = "",
}: {
  title: string;
  actions?: ReactNode;
  children: ReactNode;
  /** Shows the section's content in a panel. */
  panel?: boolean;
  className?: string;
}) {
  const id = `section-${title.toLowerCase().replace(/\W+/g, "-")}`;
  return (
    <section aria-labelledby={id} className={`mb-6 ${className}`}>
      <div className="mb-2 flex min-h-8 items-center justify-between gap-2">
        <h2 id={id} className="text-sm font-semibold">
          {title}
        </h2>
        {actions}
      </div>
      <Guard>{panel ? <Panel className="p-4">{children}</Panel> : children}</Guard>
    </section>
  );
}

export function Panel({ children, className = "" }: { children: ReactNode; className?: string }) {
  return <div className={`rounded-lg border border-line bg-panel ${className}`}>{children}</div>;
}
