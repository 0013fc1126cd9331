/** What to do first, in order, with finished steps ticked. It is shown until there is a project. */
import { ArrowRight, CircleCheck, CircleDashed } from "lucide-react";
import { type ReactNode, useState } from "react";
import { useLocation } from "wouter";
import { api, client, must } from "../../api/client.ts";
import { useAdmin } from "../../session/session.tsx";
import { Button, ButtonLink } from "../../ui/button.tsx";
import { MoreLink } from "../../ui/link.tsx";
import { Warning } from "../../ui/note.tsx";
import { CliLine, Section } from "../../ui/page.tsx";
import { ProblemNote } from "../../ui/problem-note.tsx";
import { useModelInUse } from "../setup/model-in-use.ts";

/** The run that shows newcomers what a run is. */
export const EXAMPLE = { pipeline_id: "hello", task_description: "Greet me, and say in one sentence what Skep is." };

/** @param seen whether the example was started already. */
export function FirstSteps({ seen }: { seen: boolean }) {
  const admin = useAdmin();
  const [, navigate] = useLocation();
  const [error, setError] = useState<unknown>();
  const [busy, setBusy] = useState(false);
  const real = useModelInUse();
  const start = async () => {
    setBusy(true);
    setError(undefined);
    try {
      const run = await must(client.POST("/v1/runs", { body: EXAMPLE }));
      navigate(`/runs/${run.id}`);
    } catch (thrown) {
      setError(thrown);
      setBusy(false);
    }
  };
  return (
    <Section title="First steps" actions={admin && <MoreLink href="/setup">Step by step</MoreLink>}>
      <ol className="overflow-hidden rounded-lg border border-line bg-panel">
        {admin && (
          <Step
            done={real}
            title="Give the agents a model"
            about="A key of a provider, or Ollama on this machine. Until then a scripted model stands in and costs nothing."
          >
            <ButtonLink href="/providers" kind={real ? "quiet" : "primary"}>
              Model providers
              <ArrowRight aria-hidden size={14} />
            </ButtonLink>
          </Step>
        )}
        <Step
          done={seen}
          title="See a run"
          about="A small example: one agent, a few seconds. You see every word, tool call and cent."
        >
          <Button kind={seen ? "quiet" : real || !admin ? "primary" : "plain"} busy={busy} onClick={start}>
            {seen ? "Start it again" : "Start the example"}
          </Button>
          {!seen && <CliLine line='skep run hello "Greet me" --follow' />}
        </Step>
        <Step
          done={false}
          title="Work on a repository of yours"
          about="Agents work in a worktree, on a branch of their own."
        >
          <div className="flex flex-wrap justify-end gap-2">
            <ButtonLink label="Start with onboarding" kind="quiet" href="/onboarding?new=1" />
            <ButtonLink label="Add a project" href="/projects?new=1" kind={seen ? "primary" : "plain"} />
          </div>
        </Step>
      </ol>
      <ProblemNote error={error} />
      {admin && <NoShell />}
    </Section>
  );
}

/** Says what agents cannot do on a server without containers and shell, why, and what to change. */
export function NoShell() {
  const { data } = api.useQuery("get", "/v1/status");
  if (!data?.sandbox || data.sandbox.kind === "docker" || data.sandbox.shell) return null;
  return (
    <Warning>
      Agents have no shell here: they read and write files, but run neither programs nor tests. {data.sandbox.reason}
    </Warning>
  );
}

function Step({ done, title, about, children }: { done: boolean; title: string; about: string; children: ReactNode }) {
  const Icon = done ? CircleCheck : CircleDashed;
  return (
    <li className="flex flex-wrap items-center gap-x-4 gap-y-2 border-b border-line px-4 py-3 last:border-0">
      <Icon aria-hidden size={18} className={done ? "text-ok" : "text-faint"} />
      <div className="min-w-0 flex-1 basis-64">
        <div className="font-medium">
          {title}
          {done && <span className="sr-only"> (done)</span>}
        </div>
        <div className="text-sm text-dim">{about}</div>
      </div>
      <div className="flex flex-col items-end">{children}</div>
    </li>
  );
}
