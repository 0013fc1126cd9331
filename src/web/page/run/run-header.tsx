/**
 * The header of a run in two lines: its task and state; time, cost and place. The main button is the next thing to do.
 */
import { GitBranch, Play, RotateCw, ScrollText, Square, Trash2 } from "lucide-react";
import { type ReactNode, useState } from "react";
import { Link, useLocation } from "wouter";
import { api, client, type Schemas } from "../../api/client.ts";
import { useVerbs } from "../../keys/verbs.ts";
import { Confirm } from "../../kit/confirm.tsx";
import { DeleteHistory } from "../../kit/delete-history.tsx";
import { Button, ButtonLink } from "../../ui/button.tsx";
import { copyText } from "../../ui/copy.ts";
import { costText, count, formatUsd, pluralize } from "../../ui/format.ts";
import { KeepButton, keepWord, useKeeping } from "../../ui/keep.tsx";
import { NameLink } from "../../ui/link.tsx";
import { CopyButton, useHeading } from "../../ui/page.tsx";
import { ProblemNote } from "../../ui/problem-note.tsx";
import { Status } from "../../ui/status.tsx";
import { Ago, Took } from "../../ui/time.tsx";
import { Value } from "../../ui/value.tsx";
import { useMayDo } from "../projects/roles.ts";
import { RestartDialog } from "./restart-dialog.tsx";
import { focusOn } from "./use-run-keys.ts";
import { isMergeable } from "./what-next.ts";

type Run = Schemas["RunDetail"];

const ENDED = new Set(["succeeded", "failed", "cancelled"]);

interface Props {
  run: Run;
  /** How many files it changed; undefined while that is unknown. */
  files: number | undefined;
  tab: string;
  /** CSS class that hides elements on phones while a step has its own screen. */
  around: string;
}

export function RunHeader({ run, files, tab, around }: Props) {
  const [dialog, setDialog] = useState<"restart" | "cancel" | "delete" | null>(null);
  const [isOpen, setOpen] = useState(false);
  const [, navigate] = useLocation();
  // The page uses the same query, so this costs no extra request.
  const plan = api.useQuery("get", "/v1/runs/{id}/plan", { params: { path: { id: run.id } } });
  const pipelineName = plan.data?.name;
  const ended = ENDED.has(run.status);
  const keeping = useKeeping(run.id, run.created_by);
  const may = useMayDo(run.project_id);
  const mayRestart = may("contributor");
  useVerbs([
    ...(keeping.allowed ? [{ label: keepWord(keeping, "the run"), words: ["retention"], act: keeping.toggle }] : []),
    ...(isMergeable(run)
      ? [
          ...(may("maintainer")
            ? [{ label: "Merge", act: () => navigate(`/runs/${run.id}?tab=changes&merge=1`) }]
            : []),
          { label: "Review the changes", act: () => navigate(`/runs/${run.id}?tab=changes`) },
        ]
      : []),
    ...(mayRestart && ended && run.status !== "succeeded"
      ? [{ label: "Restart with another budget", words: ["raise the budget"], act: () => setDialog("restart") }]
      : []),
    { label: "Copy the run's id", act: () => void copyText(run.id) },
  ]);
  const [title = ""] = run.task_description.split("\n");
  const heading = useHeading(cut(title));
  const isMore =
    cut(title) !== run.task_description || Object.keys(run.inputs).length > 0 || Boolean(run.human_context);
  return (
    <header className="mb-2">
      <div className="flex flex-wrap items-start gap-x-4 gap-y-2">
        <div className="min-w-0 flex-1 basis-72">
          <div className="text-xs text-dim">
            <NameLink href="/runs">Runs</NameLink>
            {" / "}
            <NameLink href={`/pipelines/${run.pipeline_id}`}>{pipelineName ?? run.pipeline_id}</NameLink>
          </div>
          <div className="flex items-center gap-x-3">
            <h1
              ref={heading}
              tabIndex={-1}
              title={run.task_description.length > 60 ? cut(run.task_description, 600) : undefined}
              className="min-w-0 text-xl font-semibold tracking-tight bidi max-sm:line-clamp-3 sm:truncate"
            >
              {cut(title)}
            </h1>
            <Status status={run.status} />
          </div>
        </div>
        <div data-verbs className="flex flex-wrap items-center gap-2">
          {!ended && (
            <Button label="Cancel" data-run-action icon={Square} iconSize={13} onClick={() => setDialog("cancel")} />
          )}
          {ended && <Button label="Delete" kind="danger" icon={Trash2} onClick={() => setDialog("delete")} />}
          {ended && mayRestart && (
            <Button label="Run again" icon={Play} onClick={() => navigate(`/runs/new?again=${run.id}`)} />
          )}
          <Next run={run} files={files} tab={tab} restart={mayRestart ? () => setDialog("restart") : null} />
        </div>
      </div>
      <div
        className={`mt-0.5 flex flex-wrap items-center gap-x-4 text-sm text-dim tabular-nums max-sm:mt-2.5 ${around}`}
      >
        <Facts run={run} />
        {isMore && (
          <button
            type="button"
            aria-expanded={isOpen}
            onClick={() => setOpen(!isOpen)}
            className="inline-flex h-6 items-center gap-1 rounded hover:text-ink hover:underline max-sm:h-11"
          >
            <ScrollText aria-hidden size={13} />
            What it was given
          </button>
        )}
        <KeepButton keeping={keeping} what="the run" />
      </div>
      <ProblemNote error={keeping.error} />
      {isOpen && <Given run={run} around={around} />}
      {dialog === "restart" && <RestartDialog run={run} onClose={() => setDialog(null)} />}
      {dialog === "delete" && (
        <DeleteHistory
          kind="runs"
          id={run.id}
          what="the run"
          onClose={() => setDialog(null)}
          leave={() => navigate("/runs")}
        />
      )}
      {dialog === "cancel" && (
        <Confirm
          title="Cancel the run?"
          word="Cancel the run"
          onClose={() => setDialog(null)}
          changes={["/v1/runs", "/v1/steps", "/v1/approvals"]}
          act={() => client.POST("/v1/runs/{id}/cancel", { params: { path: { id: run.id } } })}
        >
          What is at work stops. What was done stays, and the run can be restarted from where it was.
        </Confirm>
      )}
    </header>
  );
}

const cut = (text: string, most = 140): string => (text.length > most ? `${text.slice(0, most)}…` : text);

/** The main button: what a person does next. @param props.restart null for people who may only read. */
function Next({ run, files, tab, restart }: Pick<Props, "run" | "files" | "tab"> & { restart: (() => void) | null }) {
  const toHref = (name: string) => `/runs/${run.id}?tab=${name}`;
  if (run.status === "waiting")
    return restart && <Button label="Answer" kind="primary" onClick={() => focusOn("[data-approve]")} />;
  if (run.status === "failed" || run.status === "cancelled")
    return (
      restart && (
        <Button data-run-action kind="primary" icon={RotateCw} onClick={restart}>
          {run.error?.code.includes("budget") ? "Restart with a higher budget" : "Restart"}
        </Button>
      )
    );
  if (run.status !== "succeeded" || tab === "changes") return null;
  if (isMergeable(run) && files && !run.merged_commit)
    return (
      <ButtonLink kind="primary" href={toHref("changes")}>
        Review {pluralize(files, "file")}
      </ButtonLink>
    );
  return tab === "result" ? null : <ButtonLink label="Read the result" kind="primary" href={toHref("result")} />;
}

function Facts({ run }: { run: Run }) {
  const facts: [name: string, value: ReactNode][] = [
    ["Steps", `${run.steps_done} of ${pluralize(run.steps_total, "step")}`],
    ["Took", <Took key="took" from={run.started_at} to={run.finished_at} />],
    ["Cost", `${costText(run)}${run.budget_usd === null ? "" : ` of ${formatUsd(run.budget_usd)}`}`],
    ["Tokens", `${count(run.tokens)} tokens`],
    ["Started", <Ago key="started" at={run.created_at} sentence />],
  ];
  if (run.project_id)
    facts.push([
      "Project",
      <Link
        key="project"
        href={`/projects/${run.project_id}`}
        className="inline-flex items-center hover:underline max-sm:min-h-11"
      >
        {run.project_name}
      </Link>,
    ]);
  if (run.branch)
    facts.push([
      "Branch",
      <span key="branch" className="inline-flex min-w-0 items-center gap-1 font-mono text-xs">
        <GitBranch aria-hidden size={13} className="shrink-0" />
        <span className="max-w-56 truncate">{run.branch}</span>
        <CopyButton text={run.branch} label="Copy the branch" />
      </span>,
    ]);
  return (
    <dl className="contents">
      {facts.map(([name, value]) => (
        <div key={name} className="inline-flex min-w-0 items-center">
          <dt className="sr-only">{name}</dt>
          <dd className="min-w-0">{value}</dd>
        </div>
      ))}
      <div className="inline-flex items-center text-xs max-xl:hidden">
        <dt className="sr-only">In a terminal</dt>
        <dd className="inline-flex items-center">
          <code className="font-mono text-faint">skep runs …{run.id.slice(-4)}</code>
          <CopyButton text={`skep runs ${run.id}`} label="Copy the command" />
        </dd>
      </div>
    </dl>
  );
}

/** The complete task, the inputs for the pipeline, and the guidance. */
function Given({ run, around }: { run: Run; around: string }) {
  return (
    <section
      aria-label="What the run was given"
      className={`mt-2 rounded-lg border border-line bg-panel p-3 ${around}`}
    >
      <p className="max-h-72 overflow-y-auto whitespace-pre-wrap" tabIndex={0}>
        {run.task_description}
      </p>
      {Object.keys(run.inputs).length > 0 && (
        <section aria-label="Inputs" className="mt-3">
          <h2 className="mb-0.5 text-xs text-faint">Inputs</h2>
          <Value value={run.inputs} />
        </section>
      )}
      {run.human_context && (
        <>
          <h2 className="mt-3 mb-0.5 text-xs text-faint">Guidance</h2>
          <p className="whitespace-pre-wrap">{run.human_context}</p>
        </>
      )}
    </section>
  );
}
