/** The third set-up step: starts the example run and shows it to its end. */

import { useState } from "react";
import { Link } from "wouter";
import { api, client, must, type Schemas } from "../../api/client.ts";
import { useChange } from "../../kit/change.ts";
import { Button } from "../../ui/button.tsx";
import { costText, pluralize } from "../../ui/format.ts";
import { Await } from "../../ui/note.tsx";
import { CliLine } from "../../ui/page.tsx";
import { ProblemNote } from "../../ui/problem-note.tsx";
import { Status } from "../../ui/status.tsx";
import { Took } from "../../ui/time.tsx";
import { EXAMPLE, NoShell } from "../home/first-steps.tsx";
import { Transcript } from "../run/transcript.tsx";

type Run = Schemas["Run"];

export function ExampleRun() {
  const action = useChange("/v1/runs");
  const [id, setId] = useState<string>();
  const start = () => action.run(async () => setId((await must(client.POST("/v1/runs", { body: EXAMPLE }))).id));
  return (
    <>
      <p className="mb-3 text-dim">
        A small example: one agent, a few seconds. You see every word, tool call and cent.
      </p>
      <NoShell />
      <Button kind={id ? "plain" : "primary"} busy={action.busy} onClick={start}>
        {id ? "Start it again" : "Start the example"}
      </Button>
      <div>
        <CliLine line='skep run hello "Greet me" --follow' />
      </div>
      <ProblemNote error={action.error} />
      {id && <Watched key={id} id={id} />}
    </>
  );
}

function Watched({ id }: { id: string }) {
  const run = api.useQuery("get", "/v1/runs/{id}", { params: { path: { id } } });
  return <Await query={run}>{(data) => <Progress run={data} />}</Await>;
}

const ENDINGS: Partial<Record<Run["status"], string>> = {
  succeeded: "It is done. Every run is kept, with all of this, under Runs.",
  failed: "It failed. Its page says where, and restarts it.",
  cancelled: "It was cancelled.",
};

function Progress({ run }: { run: Run }) {
  const steps = api.useQuery("get", "/v1/steps/{run_id}", {
    params: { path: { run_id: run.id }, query: { limit: 50 } },
  });
  const step = steps.data?.items.at(-1);
  const ending = ENDINGS[run.status];
  return (
    <section aria-label="The example" className="mt-3 rounded-lg border border-line p-3">
      <p className="flex flex-wrap items-center gap-x-4 gap-y-1">
        <Status status={run.status} />
        <span className="text-sm text-dim tabular-nums">
          {run.steps_done} of {pluralize(run.steps_total, "step")}, <Took from={run.started_at} to={run.finished_at} />,{" "}
          {costText(run)}
        </span>
        <Link href={`/runs/${run.id}`} className="ml-auto underline">
          Open the run
        </Link>
      </p>
      {step?.session_id && (
        <Transcript
          key={step.session_id}
          session={step.session_id}
          live={step.status === "running" || step.status === "queued"}
        />
      )}
      <p role="status" className="mt-2 font-medium">
        {ending ?? ""}
      </p>
      {run.error && <p className="text-sm text-bad">{run.error.message}</p>}
    </section>
  );
}
