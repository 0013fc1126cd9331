/** Whether the graph is up to date, and the progress of indexing, phase by phase. */

import { RotateCw } from "lucide-react";
import { api, client, must, type Schemas } from "../../api/client.ts";
import { refresh } from "../../api/queries.ts";
import { useChange } from "../../kit/change.ts";
import { Button } from "../../ui/button.tsx";
import { count, formatDuration, pluralize } from "../../ui/format.ts";
import { Panel } from "../../ui/page.tsx";
import { ProblemNote } from "../../ui/problem-note.tsx";
import { Status } from "../../ui/status.tsx";
import { Ago } from "../../ui/time.tsx";
import { useMayDo } from "../projects/roles.ts";

type GraphStatus = Schemas["ProjectGraphStatus"];
const EVERY_MS = 800;
const PHASES: Record<string, string> = {
  filesystem_walk: "Files",
  parsing: "Parsing",
  structure: "Structure",
  resolution: "Who calls whom",
  community_detection: "Clusters",
  process_discovery: "Flows",
};

export function IndexState({ project, status }: { project: string; status: GraphStatus }) {
  const action = useChange("/v1/projects");
  const mayIndex = useMayDo(project)("contributor");
  const start = (force: boolean) =>
    action.run(() =>
      client.POST("/v1/projects/{id}/knowledge-graph/index", { params: { path: { id: project } }, body: { force } }),
    );
  const stale = status.state === "stale" || status.state === "not_indexed" || status.state === "failed";
  return (
    <div className="mb-4">
      <ProblemNote error={action.error} />
      {status.error && <ProblemNote error={{ detail: status.error.message, code: status.error.code }} />}
      {status.state === "indexing" && status.job_id ? (
        <Progress project={project} job={status.job_id} mayCancel={mayIndex} />
      ) : (
        <div className="flex flex-wrap items-center gap-x-4 gap-y-2">
          <span className="text-dim">
            {status.state === "not_indexed" && "Not indexed yet."}
            {status.state === "stale" && "Older than the code: there are commits since the last index. "}
            {status.nodes > 0 && (
              <>
                {pluralize(status.nodes, "symbol")} and {pluralize(status.relationships, "relationship")} in{" "}
                {pluralize(status.files, "file")}
                {status.indexed_at && (
                  <>
                    , indexed <Ago at={status.indexed_at} sentence />
                  </>
                )}
                {status.duration_ms !== undefined && ` in ${formatDuration(status.duration_ms)}`}
                {status.commit && (
                  <>
                    , at <code>{status.commit.slice(0, 10)}</code>
                  </>
                )}
                .
              </>
            )}
          </span>
          {mayIndex && (
            <Button kind={stale ? "primary" : "plain"} busy={action.busy} icon={RotateCw} onClick={() => start(false)}>
              {status.state === "not_indexed" ? "Index it" : "Index again"}
            </Button>
          )}
          {mayIndex && status.nodes > 0 && (
            <Button label="From scratch" kind="quiet" busy={action.busy} onClick={() => start(true)} />
          )}
        </div>
      )}
      {status.failed.length > 0 && (
        <details className="mt-2 text-sm text-dim">
          <summary>{pluralize(status.failed.length, "file")} could not be parsed</summary>
          <ul className="mt-1 font-mono text-xs">
            {status.failed.map(({ path, error }) => (
              <li key={path}>
                {path}: {error}
              </li>
            ))}
          </ul>
        </details>
      )}
    </div>
  );
}

function Progress({ project, job, mayCancel }: { project: string; job: string; mayCancel: boolean }) {
  const params = { path: { id: project, job_id: job } };
  const query = api.useQuery(
    "get",
    "/v1/projects/{id}/knowledge-graph/index/{job_id}",
    { params },
    {
      refetchInterval: ({ state: { data } }) => {
        if (data?.finished_at) void refresh("/v1/projects/{id}/knowledge-graph/status");
        return data?.finished_at ? false : EVERY_MS;
      },
    },
  );
  const action = useChange();
  const cancel = () =>
    action.run(() => must(client.POST("/v1/projects/{id}/knowledge-graph/index/{job_id}/cancel", { params })));
  return (
    <Panel className="p-4">
      <div className="mb-3 flex items-center gap-3">
        <Status status={query.data?.state ?? "running"} />
        <span className="tabular-nums">{Math.round(query.data?.percent ?? 0)} %</span>
        {mayCancel && <Button label="Cancel" kind="quiet" className="ml-auto" busy={action.busy} onClick={cancel} />}
      </div>
      <ProblemNote error={action.error ?? query.error} />
      <ol aria-label="Phases" className="grid gap-2 sm:grid-cols-3 lg:grid-cols-6">
        {(query.data?.phases ?? []).map(({ name, percent, done, total }) => (
          <li key={name}>
            <div className="flex justify-between text-xs text-dim">
              <span>{PHASES[name] ?? name}</span>
              <span className="tabular-nums">{total > 0 ? `${count(done)}/${count(total)}` : ""}</span>
            </div>
            <div aria-hidden className="mt-1 h-1.5 overflow-hidden rounded-full bg-line">
              <div className="h-full bg-run" style={{ width: `${percent}%` }} />
            </div>
          </li>
        ))}
      </ol>
    </Panel>
  );
}
