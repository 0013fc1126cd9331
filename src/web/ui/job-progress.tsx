/** Progress of a background job, with a button that stops it. */
import { type ReactNode, useEffect, useRef } from "react";
import { api, client, must, problemOf, type Schemas } from "../api/client.ts";
import { refresh } from "../api/queries.ts";
import { useAction } from "./action.ts";
import { Button } from "./button.tsx";
import { Panel } from "./page.tsx";
import { ProblemNote } from "./problem-note.tsx";

type Job = Schemas["Job"];

interface Props {
  id: string;
  /** What the job does, as a sentence. */
  about: string;
  /** Called once when the job has ended, whether it succeeded or not. */
  onEnd?(): unknown;
  /** Renders what is shown after the job has ended; by default nothing. */
  renderEnd?(job: Job): ReactNode;
}

export function JobProgress({ id, about, onEnd, renderEnd }: Props) {
  const params = { path: { id } };
  const { data, error } = api.useQuery("get", "/v1/jobs/{id}", { params });
  const over = Boolean(data?.finished_at);
  const tell = useRef(onEnd);
  tell.current = onEnd;
  useEffect(() => {
    if (over) tell.current?.();
  }, [over]);
  const action = useAction();
  const stop = () =>
    action.run(async () => {
      await must(client.POST("/v1/jobs/{id}/cancel", { params }));
      await refresh("/v1/jobs");
    });
  if (data && over) return renderEnd?.(data) ?? null;
  // The job ended so long ago that the server no longer keeps it.
  if (!data && error && problemOf(error).status === 404) return null;
  return (
    <Panel className="p-4">
      <div className="flex flex-wrap items-center gap-3">
        <div className="min-w-0 flex-1 basis-56">
          <p className="mb-1">
            {about}
            {data?.detail && <span className="text-dim"> {data.detail}</span>}
          </p>
          <progress
            aria-label={about}
            max={100}
            {...(data?.percent == null ? {} : { value: data.percent })}
            className="h-2 w-full"
          />
        </div>
        <Button label="Stop" busy={action.busy} onClick={stop} />
      </div>
      <ProblemNote error={action.error} />
    </Panel>
  );
}
