/** The frame around every page: navigation, search, the account, and whether the server answers. */
import { CircleHelp, LogOut, Menu as MenuIcon, Monitor, Moon, Search, Sun, User, WifiOff, X } from "lucide-react";
import { type ReactNode, Suspense, useCallback, useEffect, useRef, useState, useSyncExternalStore } from "react";
import { flushSync } from "react-dom";
import { Link, useLocation } from "wouter";
import { liveState } from "../live/stream.ts";
import { PAGES } from "../routes.ts";
import { useAdmin, useMe } from "../session/session.tsx";
import { IconButton } from "../ui/button.tsx";
import { Dialog } from "../ui/dialog.tsx";
import { Guard } from "../ui/guard.tsx";
import { fetchPart, lazy } from "../ui/lazy.tsx";
import { Menu } from "../ui/menu.tsx";
import { ProblemNote } from "../ui/problem-note.tsx";
import { KEYS, useKeys } from "./keys.ts";
import { logOut } from "./log-out.ts";
import { Navigation, showCurrent } from "./navigation.tsx";
import { Standby } from "./standby.tsx";
import { setTheme, useTheme } from "./theme.tsx";

const loadPalette = () => import("./palette.tsx");
const Palette = lazy(loadPalette);
const StopEverything = lazy(() => import("../page/home/stop-everything.tsx"));

export function Frame({ children }: { children: ReactNode }) {
  const [path, go] = useLocation();
  const [over, setOver] = useState<"palette" | "help" | "stop" | null>(null);
  const drawer = useRef<HTMLDialogElement>(null);
  const palette = useCallback(() => setOver("palette"), []);
  const help = useCallback(() => setOver("help"), []);
  // Wide windows never open the drawer, so its links are rendered when it is first opened, and then kept.
  const [hasDrawer, setHasDrawer] = useState(false);
  const openDrawer = () => {
    flushSync(() => setHasDrawer(true));
    drawer.current?.showModal();
    showCurrent(drawer.current);
  };
  useKeys({ go, palette, help });
  usePaletteSoon();
  // biome-ignore lint/correctness/useExhaustiveDependencies: another page closes the drawer and begins at its top.
  useEffect(() => {
    drawer.current?.close();
    scrollTo(0, 0);
  }, [path]);
  return (
    <div className="min-h-dvh md:grid md:grid-cols-[13.5rem_minmax(0,1fr)]">
      <a
        href="#main"
        className="sr-only focus:not-sr-only focus:fixed focus:z-50 focus:m-2 focus:rounded focus:bg-solid focus:px-3 focus:py-2 focus:text-solid-ink"
      >
        Skip to the page
      </a>
      <aside className="sticky top-0 hidden h-dvh flex-col border-r border-line bg-sunken md:flex">
        <Navigation brand={<Brand />} account={<Account onHelp={help} />} onSearch={palette} />
      </aside>
      <div className="flex min-w-0 flex-col">
        <header className="sticky top-0 z-30 flex items-center gap-1 border-b border-line bg-bg px-2 md:hidden">
          <IconButton label="Navigation" onClick={openDrawer} icon={MenuIcon} iconSize={18} />
          <Brand />
          <IconButton label="Search" className="ml-auto" onClick={palette} icon={Search} iconSize={18} />
        </header>
        <Offline />
        <Standby />
        <main id="main" tabIndex={-1} className="mx-auto w-full max-w-6xl flex-1 px-4 pt-5 pb-16 md:px-8">
          {children}
        </main>
      </div>
      <dialog
        ref={drawer}
        aria-label="Navigation"
        className="m-0 h-dvh max-h-none w-72 max-w-[85vw] border-r border-line bg-sunken p-0 md:hidden"
        // Closing returns the focus to the drawer's button. The page behind the link takes the focus after that.
        onClick={({ target }) => {
          if (target === drawer.current || (target instanceof Element && target.closest("a"))) drawer.current?.close();
        }}
      >
        <div className="flex h-full flex-col">
          <IconButton
            label="Close"
            className="absolute top-1 right-1"
            onClick={() => drawer.current?.close()}
            icon={X}
            iconSize={18}
          />
          {hasDrawer && <Navigation brand={<Brand />} account={<Account onHelp={help} />} onSearch={palette} />}
        </div>
      </dialog>
      {over === "palette" && (
        <Part title="Search and commands" onClose={() => setOver(null)}>
          <Palette
            onClose={() => setOver((now) => (now === "palette" ? null : now))}
            go={go}
            stop={() => setOver("stop")}
          />
        </Part>
      )}
      {over === "stop" && (
        <Part title="Stop everything" onClose={() => setOver(null)}>
          <StopEverything onClose={() => setOver(null)} />
        </Part>
      )}
      {over === "help" && <Help onClose={() => setOver(null)} />}
    </div>
  );
}

/** A dialog whose script loads when it is opened. If the script fails to load, the dialog shows the error. */
const Part = ({ title, onClose, children }: { title: string; onClose(): void; children: ReactNode }) => (
  <Guard
    fallback={(error, retry) => (
      <Dialog title={title} onClose={onClose}>
        <ProblemNote error={error} retry={retry} />
      </Dialog>
    )}
  >
    <Suspense>{children}</Suspense>
  </Guard>
);

/** How long to wait before loading the palette: the page's own files and answers come first. */
const PALETTE_AFTER_MS = 1_000;

/**
 * Loads the palette's script in advance. What a person types right after the palette's shortcut is meant for the
 * palette.
 */
function usePaletteSoon(): void {
  useEffect(() => {
    // If this fails, opening the palette loads the script again and shows the error.
    const timer = setTimeout(() => void fetchPart(loadPalette).catch(() => {}), PALETTE_AFTER_MS);
    return () => clearTimeout(timer);
  }, []);
}

const Brand = () => (
  <Link href="/" className="flex items-center gap-2 rounded px-1 py-1 max-sm:min-h-11 font-semibold tracking-tight">
    <svg aria-hidden="true" viewBox="0 0 32 32" className="size-6 text-accent">
      <g fill="none" stroke="currentColor" strokeWidth="3.2" strokeLinecap="round">
        <path d="M12 6.5h8M9 13h14M6.8 19.5h18.4M6 26h20" />
      </g>
    </svg>
    Skep
  </Link>
);

function Account({ onHelp }: { onHelp(): void }) {
  const me = useMe();
  const theme = useTheme();
  const [, navigate] = useLocation();
  const local = me.session.kind !== "user";
  const themes = [
    { label: "Light", icon: Sun, value: "light" as const },
    { label: "Dark", icon: Moon, value: "dark" as const },
    { label: "As the system", icon: Monitor, value: "system" as const },
  ];
  return (
    <div className="border-t border-line p-2">
      <Menu
        trigger={
          <button
            type="button"
            className="flex w-full items-center gap-2 rounded-md px-2 py-1.5 text-left hover:bg-hover max-sm:min-h-11"
          >
            <span
              aria-hidden
              className="flex size-6 shrink-0 items-center justify-center rounded-full bg-accent-soft text-xs font-semibold text-accent"
            >
              {me.display_name.charAt(0).toUpperCase()}
            </span>
            <span className="line-clamp-1 min-w-0 flex-1 text-sm">{me.display_name}</span>
          </button>
        }
        iconSize={15}
        items={[
          !local && { label: "My account", icon: User, act: () => navigate("/account") },
          { label: "Keys", icon: CircleHelp, act: onHelp },
          null,
          ...themes.map(({ label, icon, value }) => ({
            label: theme === value ? `${label} ✓` : label,
            icon,
            act: () => setTheme(value),
          })),
          ...(local ? [] : [null, { label: "Log out", icon: LogOut, act: logOut }]),
        ]}
      />
    </div>
  );
}

/** Warns that the shown data may be out of date. */
function Offline() {
  const state = useSyncExternalStore(liveState.subscribe, liveState.get);
  const [online, setOnline] = useState(navigator.onLine);
  useEffect(() => {
    const updateOnline = () => setOnline(navigator.onLine);
    addEventListener("online", updateOnline);
    addEventListener("offline", updateOnline);
    return () => {
      removeEventListener("online", updateOnline);
      removeEventListener("offline", updateOnline);
    };
  }, []);
  if (online && state !== "lost") return null;
  return (
    <div role="status" className="flex items-center gap-2 border-b border-wait/40 bg-wait-soft px-4 py-1.5 text-sm">
      <WifiOff aria-hidden size={15} className="text-wait" />
      {online
        ? "The server does not answer. What you see may be old; it is asked again."
        : "This machine is offline. What you see may be old."}
    </div>
  );
}

function Help({ onClose }: { onClose(): void }) {
  const admin = useAdmin();
  const pages = PAGES.filter(({ nav, admin: only }) => nav && (admin || !only));
  const rows: [string, string][] = [
    ...KEYS,
    ...pages.map(({ nav, title }): [string, string] => [`g ${nav!.key}`, nav!.label ?? title]),
  ];
  return (
    <Dialog title="Keys" onClose={onClose}>
      <dl className="grid grid-cols-[max-content_1fr] gap-x-6 gap-y-1.5">
        {rows.map(([keys, what]) => (
          <div key={keys} className="contents">
            <dt>
              <kbd className="rounded border border-line-strong bg-sunken px-1.5 py-0.5 font-mono text-xs">{keys}</kbd>
            </dt>
            <dd>{what}</dd>
          </div>
        ))}
      </dl>
      <p className="mt-4 text-sm text-dim">Single keys can be switched off under My account.</p>
    </Dialog>
  );
}
