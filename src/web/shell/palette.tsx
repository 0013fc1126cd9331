/** Ctrl K: go to a page or a thing, do something. */
import { Command } from "cmdk";
import { useEffect, useRef, useState } from "react";
import { api } from "../api/client.ts";
import { PAGES } from "../routes.ts";
import { Status } from "../ui/status.tsx";
import { useAdmin } from "./session.tsx";
import { setTheme } from "./theme.tsx";

interface Entry {
  group: string;
  label: string;
  detail?: string | undefined;
  status?: string;
  act(): void;
}

function useEntries(go: (path: string) => void): Entry[] {
  const admin = useAdmin();
  const runs = api.useQuery("get", "/v1/runs", { params: { query: { limit: 50 } } });
  const agents = api.useQuery("get", "/v1/agents", { params: { query: { limit: 200 } } });
  const pipelines = api.useQuery("get", "/v1/pipelines", { params: { query: { limit: 200 } } });
  const projects = api.useQuery("get", "/v1/projects", { params: { query: { limit: 200 } } });
  const to = (path: string) => () => go(path);
  return [
    ...[
      { group: "Do", label: "Start a run", act: to("/runs/new") },
      { group: "Do", label: "Light theme", act: () => setTheme("light") },
      { group: "Do", label: "Dark theme", act: () => setTheme("dark") },
    ],
    ...PAGES.filter((page) => page.nav && (admin || !page.admin)).map((page) => ({
      ...{ group: "Go to", label: page.title, act: to(page.path) },
    })),
    ...(runs.data?.items ?? []).map((run) => ({
      ...{ group: "Runs", label: run.task_description, detail: run.pipeline_id, status: run.status },
      act: to(`/runs/${run.id}`),
    })),
    ...(agents.data?.items ?? []).map((agent) => ({
      ...{ group: "Agents", label: agent.name, detail: agent.description },
      act: to(`/agents/${agent.id}`),
    })),
    ...(pipelines.data?.items ?? []).map((pipeline) => ({
      ...{ group: "Pipelines", label: pipeline.name || pipeline.id, detail: pipeline.description },
      act: to(`/pipelines/${pipeline.id}`),
    })),
    ...(projects.data?.items ?? []).map((project) => ({
      ...{ group: "Projects", label: project.name, detail: project.description },
      act: to(`/projects/${project.id}`),
    })),
  ];
}

const GROUPS = ["Do", "Go to", "Runs", "Agents", "Pipelines", "Projects"];

export default function Palette({ onClose, go }: { onClose(): void; go(path: string): void }) {
  const dialog = useRef<HTMLDialogElement>(null);
  const [text, setText] = useState("");
  const entries = useEntries(go);
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
      <Command label="Search and commands" loop>
        <Command.Input
          value={text}
          onValueChange={setText}
          placeholder="Where to, or what to do?"
          className="h-12 w-full border-b border-line bg-transparent px-4 text-lg outline-none placeholder:text-faint"
        />
        <Command.List className="max-h-[55dvh] overflow-y-auto p-2">
          <Command.Empty className="p-6 text-center text-dim">Nothing by that name.</Command.Empty>
          {GROUPS.map((group) => {
            const own = entries.filter((entry) => entry.group === group);
            const shown = text === "" && group === "Runs" ? own.slice(0, 5) : own;
            if (shown.length === 0 || (text === "" && !["Do", "Go to", "Runs"].includes(group))) return null;
            return (
              <Command.Group
                key={group}
                heading={group}
                className="[&_[cmdk-group-heading]]:px-2 [&_[cmdk-group-heading]]:py-1 [&_[cmdk-group-heading]]:text-xs [&_[cmdk-group-heading]]:text-faint"
              >
                {shown.map(({ label, detail, status, act }, at) => (
                  <Command.Item
                    key={`${label} ${at.toString()}`}
                    value={`${group} ${label} ${detail ?? ""} ${at}`}
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
                ))}
              </Command.Group>
            );
          })}
        </Command.List>
      </Command>
    </dialog>
  );
}
