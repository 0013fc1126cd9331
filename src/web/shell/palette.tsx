/** Ctrl K: go to a page or a thing, do something. */
import { Command } from "cmdk";
import { useEffect, useRef, useState } from "react";
import { api, type Schemas } from "../api/client.ts";
import { PAGES } from "../routes.ts";
import { Status } from "../ui/status.tsx";
import { useAdmin } from "./session.tsx";
import { setTheme } from "./theme.tsx";

interface Entry {
  /** Unique within its group; without one the label is. */
  id?: string;
  group: string;
  label: string;
  detail?: string | undefined;
  status?: string;
  act(): void;
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

/** Searched separately: a code graph that is not open yet takes a moment, and the other results need not wait for it. */
const QUICK = Object.keys(WHERE).filter((kind) => kind !== "symbol");

/** Until the answer for a text is there, what of the answer before matches: Enter must not open what no longer does. */
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

/** Pages and actions that match what was typed; other things come from the server's search. */
function useEntries(go: (path: string) => void, typed: string): Entry[] {
  const admin = useAdmin();
  const text = typed.trim();
  const latest = api.useQuery("get", "/v1/runs", { params: { query: { limit: 5 } } });
  const things = useSearch(text, QUICK.join(","), 8);
  const symbols = useSearch(text, "symbol", 8);
  const to = (path: string) => () => go(path);
  const fixed: Entry[] = [
    { group: "Do", label: "Start a run", act: to("/runs/new") },
    { group: "Do", label: "Start a chat", act: to("/chat?new=1") },
    { group: "Do", label: "Light theme", act: () => setTheme("light") },
    { group: "Do", label: "Dark theme", act: () => setTheme("dark") },
    ...PAGES.filter((page) => page.nav && (admin || !page.admin)).map((page) => ({
      ...{ group: "Go to", label: page.title, act: to(page.path) },
    })),
  ];
  if (text === "")
    return [
      ...fixed,
      ...(latest.data?.items ?? []).map((run) => ({
        ...{ id: run.id, group: "Runs", label: run.task_description, detail: run.pipeline_id, status: run.status },
        act: to(`/runs/${run.id}`),
      })),
    ];
  return [
    ...fixed.filter(({ label }) => holds(label, text)),
    ...[...things, ...symbols].map((one) => ({
      ...{
        id: `${one.agent_id ?? one.project_id ?? ""}/${one.id}`,
        group: WHERE[one.kind].group,
        label: one.title,
        detail: one.detail,
      },
      ...(one.status ? { status: one.status } : {}),
      act: to(WHERE[one.kind].href(one)),
    })),
  ];
}

/** Identifies the entry in the list. */
const valueOfEntry = ({ group, id, label }: Entry): string => `${group}/${id ?? label}`;

const GROUPS = [
  ...(["Do", "Go to", "Runs", "Tasks", "Agents", "Pipelines", "Skills", "Projects", "Chats", "Memory"] as const),
  ...(["Documents", "Code"] as const),
];

export default function Palette({ onClose, go }: { onClose(): void; go(path: string): void }) {
  const dialog = useRef<HTMLDialogElement>(null);
  const [text, setText] = useState("");
  const entries = useEntries(go, text);
  const [picked, setPicked] = useState("");
  const shownEntries = GROUPS.flatMap((group: string) => entries.filter((entry) => entry.group === group));
  const values = shownEntries.map(valueOfEntry);
  // The server's results arrive after the keys: the first row is selected again.
  const current = values.includes(picked) ? picked : (values[0] ?? "");
  useEffect(() => {
    dialog.current?.showModal();
  }, []);
  return (
    <dialog
      ref={dialog}
      aria-label="Search and commands"
      onClose={onClose}
      onClick={(event) => event.target === dialog.current && dialog.current?.close()}
      className="mx-auto mt-[12dvh] mb-0 w-[calc(100vw-2rem)] max-w-xl overflow-hidden rounded-xl border border-line bg-panel p-0 shadow-2xl"
    >
      <Command label="Search and commands" loop shouldFilter={false} value={current} onValueChange={setPicked}>
        <Command.Input
          value={text}
          onValueChange={setText}
          placeholder="Where to, or what to do?"
          className="h-12 w-full border-b border-line bg-transparent px-4 text-lg outline-none placeholder:text-faint"
        />
        <Command.List className="max-h-[55dvh] overflow-y-auto p-2">
          <Command.Empty className="p-6 text-center text-dim">Nothing by that name.</Command.Empty>
          {GROUPS.map((group) => {
            const shown = entries.filter((entry) => entry.group === group);
            if (shown.length === 0) return null;
            return (
              <Command.Group
                key={group}
                heading={group}
                className="[&_[cmdk-group-heading]]:px-2 [&_[cmdk-group-heading]]:py-1 [&_[cmdk-group-heading]]:text-xs [&_[cmdk-group-heading]]:text-faint"
              >
                {shown.map((entry) => {
                  const { label, detail, status, act } = entry;
                  return (
                    <Command.Item
                      key={valueOfEntry(entry)}
                      value={valueOfEntry(entry)}
                      onSelect={() => {
                        dialog.current?.close();
                        act();
                      }}
                      className="flex cursor-pointer items-center gap-3 rounded-md px-2 py-1.5 max-sm:min-h-11 data-[selected=true]:bg-hover"
                    >
                      <span className="line-clamp-1 min-w-0 flex-1">{label}</span>
                      {status && <Status status={status} />}
                      {detail && <span className="line-clamp-1 max-w-[45%] text-sm text-dim">{detail}</span>}
                    </Command.Item>
                  );
                })}
              </Command.Group>
            );
          })}
        </Command.List>
      </Command>
    </dialog>
  );
}
