/** Pictures of the apps that the run's steps kept running. */
import { api, siteUrl } from "../../api/client.ts";
import { Panel } from "../../ui/page.tsx";

/** Shows the newest pictures; renders nothing if there are none. */
export function Screenshots({ runId }: { runId: string }) {
  const { data } = api.useQuery("get", "/v1/runs/{id}/screenshots", { params: { path: { id: runId } } });
  const items = data?.items ?? [];
  if (items.length === 0) return null;
  return (
    <Panel className="mt-4 p-4">
      <h2 className="mb-2 text-sm font-semibold">Screenshots</h2>
      <ul className="grid gap-3 sm:grid-cols-2">
        {items.map(({ id, path, step_id, width, height }) => (
          <li key={id}>
            <a href={siteUrl(`/v1/runs/${runId}/screenshots/${id}`)} target="_blank" rel="noreferrer">
              <img
                src={siteUrl(`/v1/runs/${runId}/screenshots/${id}`)}
                alt={`${path} after ${step_id}`}
                width={width}
                height={height}
                loading="lazy"
                className="h-auto w-full rounded border border-line"
              />
            </a>
            <p className="mt-1 text-sm break-words text-dim">
              <span className="font-mono">{path}</span> after {step_id}
            </p>
          </li>
        ))}
      </ul>
    </Panel>
  );
}
