/** All runs. Filters are in the address, and several runs can be cancelled or restarted together. */
import { Play, RotateCw, Square } from "lucide-react";
import { useCallback, useState } from "react";
import { api, client, must } from "../../api/client.ts";
import { refresh, usePages } from "../../api/queries.ts";
import { Confirm } from "../../kit/confirm.tsx";
import type { Listed } from "../../kit/list.tsx";
import { Button, ButtonLink } from "../../ui/button.tsx";
import { AgentFilter, FilterBar, FilterSelect, SearchInput } from "../../ui/filter.tsx";
import { pluralize } from "../../ui/format.ts";
import { notify } from "../../ui/notice.tsx";
import { PageHeader } from "../../ui/page.tsx";
import { ProblemNote } from "../../ui/problem-note.tsx";
import { useParam } from "../../ui/tabs.tsx";
import { type Run, RunList } from "./run-list.tsx";
import { SavedFilters } from "./saved-filters.tsx";

const STATES = [
  { value: "", label: "Any state" },
  { value: "running,queued", label: "Running" },
  { value: "waiting", label: "Waits for somebody" },
  { value: "failed", label: "Failed" },
  { value: "succeeded", label: "Succeeded" },
  { value: "cancelled", label: "Cancelled" },
  { value: "running,queued,waiting", label: "Unfinished" },
];

const FILTERS = ["status", "pipeline", "project", "agent", "q"];

const orUndefined = (value: string) => value || undefined;

export default function RunsPage() {
  const [status, setStatus] = useParam("status");
  const [pipeline, setPipeline] = useParam("pipeline");
  const [project, setProject] = useParam("project");
  const [agent, setAgent] = useParam("agent");
  const [text, setText] = useParam("q");
  const filters = {
    status: orUndefined(status),
    pipeline_id: orUndefined(pipeline),
    project_id: orUndefined(project),
    agent_id: orUndefined(agent),
    q: orUndefined(text),
  };
  const query = usePages("/v1/runs", { query: { ...filters, limit: 50 } }, { further: 200 });
  const filtered = Object.values(filters).some(Boolean);
  return (
    <>
      <PageHeader
        title="Runs"
        cli={`skep runs${status && !status.includes(",") ? ` --status ${status}` : ""}`}
        actions={<ButtonLink label="Start a run" href="/runs/new" kind="primary" icon={Play} />}
      />
      <FilterBar>
        <SearchInput value={text} onChange={setText} label="Search runs" />
        <FilterSelect label="State" value={status} onChange={setStatus} options={STATES} />
        <PipelineFilter value={pipeline} onChange={setPipeline} />
        <ProjectFilter value={project} onChange={setProject} />
        <AgentFilter value={agent} onChange={setAgent} />
      </FilterBar>
      <SavedFilters active={filtered} />
      <SelectableRuns query={query} />
    </>
  );
}

function SelectableRuns({ query }: { query: Listed<Run> }) {
  const [chosen, setChosen] = useState<ReadonlySet<string>>(new Set());
  const [error, setError] = useState<unknown>();
  const [busy, setBusy] = useState(false);
  // Keep the same function, so that only rows whose selection changes render again.
  const toggle = useCallback(
    (key: string) =>
      setChosen((old) => (old.has(key) ? new Set([...old].filter((one) => one !== key)) : new Set([...old, key]))),
    [],
  );
  const [cancelling, setCancelling] = useState(false);
  const steer = async (action: "cancel" | "restart") => {
    setBusy(true);
    setError(undefined);
    try {
      const { items } = await must(client.POST("/v1/runs/bulk", { body: { action, run_ids: [...chosen] } }));
      const done = items.filter(({ ok }) => ok).length;
      const not = items.length - done;
      const why = items.find(({ ok }) => !ok)?.detail;
      notify(
        `${pluralize(done, "run")} ${action === "cancel" ? "cancelled" : "restarted"}${not ? `, ${not} not: ${why}` : ""}.`,
      );
      setChosen(new Set());
      await refresh("/v1/runs");
    } catch (thrown) {
      setError(thrown);
    } finally {
      setBusy(false);
    }
  };
  return (
    <>
      <ProblemNote error={error} />
      <RunList
        query={query}
        selection={{ chosen, toggle, all: (keys) => setChosen(new Set(keys)) }}
        filters={FILTERS}
        noMatch="No run matches."
        lines={8}
        empty={{
          text: "A run is a pipeline at work on one task. There is none yet.",
          action: <ButtonLink href="/runs/new">Start the first</ButtonLink>,
          cli: 'skep run hello "Greet me" --follow',
        }}
      />
      {chosen.size > 0 && (
        // The bar is below the table, so that selecting a row does not move others. It sticks to the window's lower
        // edge.
        <section
          aria-label="Selected runs"
          className="page-bar sticky bottom-4 z-20 mt-4 flex w-fit items-center gap-2 rounded-lg border border-line-strong bg-panel px-3 py-2 shadow-xl max-sm:w-auto max-sm:flex-wrap"
        >
          <span className="mr-6 font-medium whitespace-nowrap max-sm:mr-0 max-sm:w-full">
            {pluralize(chosen.size, "run")} selected
          </span>
          <Button label="Cancel" busy={busy} icon={Square} iconSize={13} onClick={() => setCancelling(true)} />
          <Button label="Restart" busy={busy} icon={RotateCw} iconSize={13} onClick={() => steer("restart")} />
          <Button label="Clear" kind="quiet" onClick={() => setChosen(new Set())} />
        </section>
      )}
      {cancelling && (
        <Confirm
          title={`Cancel ${pluralize(chosen.size, "run")}?`}
          word={chosen.size === 1 ? "Cancel the run" : "Cancel the runs"}
          onClose={() => setCancelling(false)}
          changes={[]}
          act={() => steer("cancel")}
        >
          What is at work stops. What was done stays, and the runs can be restarted from where they were.
        </Confirm>
      )}
    </>
  );
}

interface FilterProps {
  value: string;
  onChange(value: string): void;
}
const many = { params: { query: { limit: 200 } } };

function PipelineFilter(props: FilterProps) {
  const { data } = api.useQuery("get", "/v1/pipelines", many);
  const options = (data?.items ?? []).map(({ id, name }) => ({ value: id, label: name || id }));
  return <FilterSelect label="Pipeline" {...props} options={[{ value: "", label: "Any pipeline" }, ...options]} />;
}

function ProjectFilter(props: FilterProps) {
  const { data } = api.useQuery("get", "/v1/projects", many);
  const options = (data?.items ?? []).map(({ id, name }) => ({ value: id, label: name }));
  if (options.length === 0) return null;
  return <FilterSelect label="Project" {...props} options={[{ value: "", label: "Any project" }, ...options]} />;
}
