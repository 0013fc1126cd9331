/** The result of setting up a project's code, and whether its check passes there. */
import { Hammer } from "lucide-react";
import { api, client, must, type Schemas } from "../../api/client.ts";
import { refresh } from "../../api/queries.ts";
import { useAction } from "../../ui/action.ts";
import { Button } from "../../ui/button.tsx";
import { JobProgress } from "../../ui/job-progress.tsx";
import { ProblemNote } from "../../ui/problem-note.tsx";
import { Ago } from "../../ui/time.tsx";

type Setup = Schemas["ProjectSetup"];

const ADDRESS = "/v1/projects/{id}/setup";

/** @param mayStart whether this person may start a set-up. */
export function ProjectSetup({ id, mayStart }: { id: string; mayStart: boolean }) {
  const { data } = api.useQuery("get", ADDRESS, { params: { path: { id } } });
  const action = useAction();
  // Without an environment that requires it, there is no set-up to show.
  if (!data || data.state === "none") return null;
  const start = () =>
    action.run(async () => {
      await must(client.POST(ADDRESS, { params: { path: { id } }, body: { again: data.last !== null } }));
      await refresh("/v1/projects");
    });
  return (
    <div className="flex flex-col gap-2 rounded-lg border border-line px-4 py-3">
      {data.job ? (
        <JobProgress key={data.job.id} id={data.job.id} about="Set-up." onEnd={() => refresh("/v1/projects")} />
      ) : (
        <Found setup={data} />
      )}
      {mayStart && !data.job && data.state !== "unsupported" && (
        <Button icon={Hammer} busy={action.busy} onClick={start} className="self-start">
          Set up and check again
        </Button>
      )}
      <ProblemNote error={action.error} />
    </div>
  );
}

function Found({ setup: { state, detail, last, check } }: { setup: Setup }) {
  const isBad = state === "failed";
  return (
    <>
      <p className={isBad ? "text-bad" : "text-dim"}>
        {isBad ? "The set-up failed. " : state === "ready" ? "It is set up. " : ""}
        {detail} {last && <Ago at={last.made_at} sentence />}
      </p>
      {last && <Log title={isBad ? "What the set-up wrote" : "Log of the set-up"} text={last.log} open={isBad} />}
      {check && (
        <>
          <p className={check.passed ? "text-dim" : "text-bad"}>
            The check {check.passed ? "passes" : "fails, before any agent has changed something"}:{" "}
            <code className="break-words">{check.command}</code>
          </p>
          <Log title="What the check wrote" text={check.log} open={!check.passed} />
        </>
      )}
    </>
  );
}

function Log({ title, text, open }: { title: string; text: string; open: boolean }) {
  if (text === "") return null;
  return (
    <details open={open}>
      <summary className="cursor-pointer text-sm text-dim">{title}</summary>
      <pre
        tabIndex={0}
        className="mt-1 max-h-96 overflow-auto rounded-md bg-sunken p-2 font-mono text-xs whitespace-pre-wrap"
      >
        {text}
      </pre>
    </details>
  );
}
