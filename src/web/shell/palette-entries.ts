/** What the palette offers: recent choices, actions on this page, global actions, pages, and search results. */
import { defaultFilter } from "cmdk";
import { useState } from "react";
import { api, type Schemas } from "../api/client.ts";
import { verbsHere } from "../keys/verbs.ts";
import { PAGES } from "../routes.ts";
import { useAdmin } from "../session/session.tsx";
import { copyText } from "../ui/copy.ts";
import { notify } from "../ui/notice.tsx";
import { recentOnes } from "./recent.ts";
import { setTheme } from "./theme.tsx";

export interface Entry {
  /** Unique among all entries. */
  id: string;
  group: string;
  label: string;
  detail?: string | undefined;
  status?: string;
  /** Other words that find the entry. */
  words?: string[];
  /** An address to open, or a function to call. */
  path?: string;
  act?(): void;
}

type Found = Schemas["Found"];

const WHERE: Record<Found["kind"], { group: string; href(one: Found): string }> = {
  run: { group: "Runs", href: ({ id }) => `/runs/${id}` },
  task: { group: "Tasks", href: ({ id, project_id }) => `/projects/${project_id}/tasks/${id}` },
  agent: { group: "Agents", href: ({ id }) => `/agents/${id}` },
  pipeline: { group: "Pipelines", href: ({ id }) => `/pipelines/${id}` },
  skill: {
    group: "Skills",
    href: ({ id, agent_id }) => `/skills/${encodeURIComponent(id)}${agent_id ? `?agent=${agent_id}` : ""}`,
  },
  chat: { group: "Chats", href: ({ id }) => `/chat/${id}` },
  memory: {
    group: "Memory",
    href: ({ id, agent_id }) => `/memory/${agent_id}?entry=${encodeURIComponent(id)}`,
  },
  project: { group: "Projects", href: ({ id }) => `/projects/${id}` },
  document: {
    group: "Documents",
    href: ({ id, section_id }) => `/documents/${id}${section_id ? `?section=${encodeURIComponent(section_id)}` : ""}`,
  },
  symbol: {
    group: "Code",
    href: ({ id, project_id }) => `/projects/${project_id}/graph?symbol=${encodeURIComponent(id)}`,
  },
};

const GROUPS = ["Recent", "Here", "Do", "Go to", ...Object.values(WHERE).map(({ group }) => group)];

/** Symbols are searched separately: opening a code graph takes a moment, and the other results need not wait for it. */
const QUICK = Object.keys(WHERE).filter((kind) => kind !== "symbol");

/**
 * Until the answer for a text arrives, shows the entries of the previous answer that still match. Otherwise Enter could
 * open one that does not.
 */
function useSearch(text: string, kinds: string, limit: number): Found[] {
  const { data, isPlaceholderData } = api.useQuery(
    "get",
    "/v1/search",
    { params: { query: { q: text.slice(0, 200), limit, kinds } } },
    { enabled: text !== "", placeholderData: (old) => old },
  );
  if (text === "") return [];
  const found = data?.items ?? [];
  return isPlaceholderData ? found.filter(({ title, detail }) => holds(`${title} ${detail}`, text)) : found;
}

const holds = (label: string, text: string): boolean => {
  const name = label.toLowerCase();
  return text
    .toLowerCase()
    .split(/\s+/)
    .every((word) => name.includes(word));
};

/** The server has its own way to match, so its results rank below names that match completely. */
const FOUND_SCORE = 0.3;
/** Each skipped letter costs about five sixths of the score. Below this one, after more than three, nothing matches. */
const LEAST_SCORE = 0.001;
const RECENT_BONUS = 2;

/** How well a name or one of its other words matches, by cmdk's score; 0 if none matches. */
function scoreOf({ label, words = [] }: Entry, text: string): number {
  // Score each name separately: letters from two different names must not add up to a match.
  const score = Math.max(...[label, ...words].map((name) => defaultFilter(name, text)));
  return score < LEAST_SCORE ? 0 : score;
}

const copyAddress = async () => {
  if (await copyText(location.href)) notify("The link to this page is copied.");
};

function listActions(admin: boolean, stop: () => void): Omit<Entry, "group" | "id">[] {
  return [
    { label: "Start a run", path: "/runs/new" },
    { label: "Start a chat", path: "/chat?new=1" },
    { label: "New task", path: "/board?new=1", words: ["add a task"] },
    ...(admin
      ? [
          { label: "Invite a user", path: "/users?new=1", words: ["add a user"] },
          { label: "Raise a budget", path: "/settings?tab=budgets", words: ["limit", "spend"] },
        ]
      : []),
    { label: "Stop everything", act: stop, words: ["cancel all runs", "emergency"] },
    { label: "Light theme", act: () => setTheme("light") },
    { label: "Dark theme", act: () => setTheme("dark") },
  ];
}

const place = (entries: Omit<Entry, "group" | "id">[], group: string): Entry[] =>
  entries.map((entry) => ({ ...entry, group, id: `${group}/${entry.label}` }));

/** The entries that need no request. */
function useFixed(stop: () => void): { recent: Entry[]; fixed: Entry[] } {
  const admin = useAdmin();
  // The page's actions at the moment when the palette opens.
  const [here] = useState(() =>
    place([{ label: "Copy the link to this page", act: copyAddress }, ...verbsHere()], "Here"),
  );
  const [recent] = useState(() =>
    recentOnes().map((one): Entry => ({ ...one, group: "Recent", id: `Recent/${one.path}` })),
  );
  const pages = PAGES.filter((page) => page.nav && (admin || !page.admin));
  const fixed = [
    ...here,
    // Leave out global actions that the page itself offers, so that each appears once.
    ...place(
      listActions(admin, stop).filter(({ label }) => here.every((one) => one.label !== label)),
      "Do",
    ),
    ...place(
      pages.map(({ title, path }) => ({ label: title, path })),
      "Go to",
    ),
  ];
  return { recent, fixed };
}

export interface EntryGroup {
  name: string;
  entries: Entry[];
}

/** Groups the entries, in order of appearance. */
function groupEntries(entries: Entry[]): EntryGroup[] {
  const groups = new Map<string, Entry[]>();
  for (const entry of entries) groups.set(entry.group, [...(groups.get(entry.group) ?? []), entry]);
  return [...groups].map(([name, list]) => ({ name, entries: list }));
}

/**
 * @param typed the typed text. Matching entries are sorted best first within their group, and the group with the best
 * entry comes first.
 * @param stop opens the question whether to stop everything.
 */
export function useEntries(typed: string, stop: () => void): EntryGroup[] {
  const text = typed.trim();
  const { recent, fixed } = useFixed(stop);
  const latest = api.useQuery("get", "/v1/runs", { params: { query: { limit: 5 } } });
  const things = useSearch(text, QUICK.join(","), 8);
  const symbols = useSearch(text, "symbol", 8);
  if (text === "") {
    const runs = (latest.data?.items ?? []).map(
      ({ id, task_description, pipeline_id, status }): Entry => ({
        id: `Runs/${id}`,
        group: "Runs",
        label: task_description,
        detail: pipeline_id,
        status,
        path: `/runs/${id}`,
      }),
    );
    return groupEntries([...recent, ...fixed, ...runs]);
  }
  const found = [...things, ...symbols].map((one): Entry => {
    const { group, href } = WHERE[one.kind];
    const path = href(one);
    const state = one.status ? { status: one.status } : {};
    return { id: `${group}/${path}`, group, label: one.title, detail: one.detail, path, ...state };
  });
  const scored = [
    ...recent.map((entry) => ({ entry, score: scoreOf(entry, text) * RECENT_BONUS })),
    ...fixed.map((entry) => ({ entry, score: scoreOf(entry, text) })),
    ...found.map((entry) => ({ entry, score: Math.max(scoreOf(entry, text), FOUND_SCORE) })),
  ].filter(({ score }) => score > 0);
  const paths = new Set<string>();
  const once = scored.filter(({ entry: { path } }) => {
    if (path === undefined) return true;
    const isNew = !paths.has(path);
    paths.add(path);
    return isNew;
  });
  // Entries with about the same score keep the order of their groups.
  const toTenths = (score: number) => Math.round(score * 10);
  const order = ({ entry: { group } }: { entry: Entry }) => GROUPS.indexOf(group);
  const best = once.toSorted(
    (a, b) => toTenths(b.score) - toTenths(a.score) || order(a) - order(b) || b.score - a.score,
  );
  return groupEntries(best.map(({ entry }) => entry));
}
