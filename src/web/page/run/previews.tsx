/** Apps that the run's steps keep running, with a button that opens each at its own origin. */
import { ExternalLink, X } from "lucide-react";
import { api, client, must, type Schemas } from "../../api/client.ts";
import { useChange } from "../../kit/change.ts";
import { Button } from "../../ui/button.tsx";
import { dateTime } from "../../ui/format.ts";
import { ProblemNote } from "../../ui/problem-note.tsx";

type Preview = Schemas["Preview"];

/** Renders nothing if there are none. */
export function Previews({ runId }: { runId: string }) {
  const { data } = api.useQuery("get", "/v1/runs/{id}/previews", { params: { path: { id: runId } } });
  const items = data?.items ?? [];
  if (items.length === 0) return null;
  return (
    <section aria-label="Previews" className="mb-4 flex flex-col gap-2 rounded-lg border border-line px-4 py-3">
      {items.map((preview) => (
        <OnePreview key={preview.id} preview={preview} />
      ))}
    </section>
  );
}

function OnePreview({ preview: { id, run_id, step_id, port, kept_until } }: { preview: Preview }) {
  const action = useChange("/v1/runs");
  const params = { path: { id: run_id, preview_id: id } };
  const open = () => {
    // Open the tab within the click, or the browser would block it. The tab has no access to this page.
    const tab = window.open("", "_blank");
    if (tab) tab.opener = null;
    return action.run(async () => {
      try {
        const { url } = await must(client.POST("/v1/runs/{id}/previews/{preview_id}/tickets", { params }));
        if (tab) tab.location.href = url;
        else window.location.assign(url);
      } catch (error) {
        tab?.close();
        throw error;
      }
    });
  };
  const end = () =>
    action.run(
      () => client.DELETE("/v1/runs/{id}/previews/{preview_id}", { params }),
      `The app of ${step_id} has been ended.`,
    );
  return (
    <div>
      <div className="flex flex-wrap items-center gap-x-3 gap-y-2">
        <Button label="Open the preview" kind="primary" icon={ExternalLink} onClick={open} busy={action.busy} />
        <span className="min-w-0 text-sm text-dim">
          The app of {step_id} at port {port}
          {kept_until === null ? ", while the step runs" : `, until ${dateTime(kept_until)}`}
        </span>
        {kept_until !== null && <Button label="End it" kind="quiet" icon={X} onClick={end} disabled={action.busy} />}
      </div>
      <ProblemNote error={action.error} />
    </div>
  );
}
