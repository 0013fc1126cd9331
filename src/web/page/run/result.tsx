/** The result of a run, as a page that can be sent to somebody: outputs as text, changed files, checks and cost. */
import { FileDiff, Link2 } from "lucide-react";
import { type ReactNode, useState } from "react";
import { Link } from "wouter";
import { api, type Schemas } from "../../api/client.ts";
import { Button, ButtonLink } from "../../ui/button.tsx";
import { copyText } from "../../ui/copy.ts";
import { costText, count, formatDuration, formatField, pluralize } from "../../ui/format.ts";
import { MarkdownText } from "../../ui/markdown-text.tsx";
import { Await, Empty } from "../../ui/note.tsx";
import { Panel } from "../../ui/page.tsx";
import { Status } from "../../ui/status.tsx";
import { Took } from "../../ui/time.tsx";
import { Value } from "../../ui/value.tsx";
import { useMayDo } from "../projects/roles.ts";
import { Screenshots } from "./screenshots.tsx";
import type { Attempt, StepPlan } from "./steps.ts";
import { isMergeable, useChangedFiles } from "./what-next.ts";

type Run = Schemas["RunDetail"];

/** How many steps are listed beside the text. */
const STEPS_SHOWN = 6;
/** How long the button says that the link is copied, in ms. */
const COPIED_MS = 3_000;

export function Result({ run, plan, timeline }: { run: Run; plan: StepPlan[]; timeline: Attempt[] }) {
  const [copied, setCopied] = useState(false);
  const share = async () => {
    const link = new URL(location.href);
    link.search = "?tab=result";
    if (!(await copyText(link.href))) return;
    setCopied(true);
    setTimeout(() => setCopied(false), COPIED_MS);
  };
  return (
    <div className="grid items-start gap-5 lg:grid-cols-[minmax(0,1fr)_20rem]">
      <article aria-label="Result" className="min-w-0">
        <Panel className="p-5 max-sm:p-4">
          <Outputs run={run} plan={plan} />
        </Panel>
        <Screenshots runId={run.id} />
        <Button className="mt-3" icon={Link2} onClick={share}>
          {copied ? "Copied" : "Copy the link to this result"}
        </Button>
      </article>
      <aside aria-label="About the result" className="flex min-w-0 flex-col gap-4">
        {isMergeable(run) && <Changed run={run} />}
        <Checks run={run} plan={plan} timeline={timeline} />
        <Cost run={run} plan={plan} timeline={timeline} />
        {run.human_context && (
          <Box title="Guidance it was given">
            <p className="max-h-60 overflow-y-auto text-sm whitespace-pre-wrap text-dim" tabIndex={0}>
              {run.human_context}
            </p>
          </Box>
        )}
      </aside>
    </div>
  );
}

/** The outputs by step, the last step first: its output is the result, and the others led to it. */
function Outputs({ run, plan }: { run: Run; plan: StepPlan[] }) {
  const places = new Map(plan.map(({ id }, at) => [id, at]));
  const steps = Object.entries(run.outputs)
    .filter(([, value]) => !isNothing(value))
    .sort(([a], [b]) => (places.get(b) ?? 0) - (places.get(a) ?? 0));
  const [last, ...earlier] = steps;
  if (!last) return <LastWords run={run} plan={plan} />;
  const nameOf = (id: string) => plan[places.get(id) ?? -1]?.name ?? formatField(id);
  return (
    <>
      {earlier.length > 0 && <h2 className="mb-2 text-lg font-semibold tracking-tight">{nameOf(last[0])}</h2>}
      <Named value={last[1]} />
      {earlier.map(([id, value]) => (
        <section key={id} aria-label={nameOf(id)} className="mt-5 border-t border-line pt-4">
          <h2 className="mb-2 text-sm font-semibold">{nameOf(id)}</h2>
          <Named value={value} />
        </section>
      ))}
    </>
  );
}

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === "object" && value !== null && !Array.isArray(value);
const isNothing = (value: unknown): boolean =>
  value === "" || value === null || (isObject(value) && Object.values(value).every(isNothing));

/** The outputs of one step, each under its name. A single text needs no name. */
function Named({ value }: { value: unknown }) {
  if (!isObject(value)) return <Output value={value} />;
  const entries = Object.entries(value).filter(([, one]) => !isNothing(one));
  if (entries.length === 1 && typeof entries[0]?.[1] === "string") return <Output value={entries[0][1]} />;
  return entries.map(([name, one]) => (
    <section key={name} aria-label={formatField(name)} className="mb-4 last:mb-0">
      <h3 className="mb-0.5 text-xs font-medium text-faint">{formatField(name)}</h3>
      <Output value={one} />
    </section>
  ));
}

function Output({ value }: { value: unknown }) {
  if (typeof value === "string")
    return (
      <div className="max-w-[46rem]">
        <MarkdownText text={value} />
      </div>
    );
  return <Value given value={value} />;
}

/** For a run whose pipeline declares no outputs: what its last step said. */
function LastWords({ run, plan }: { run: Run; plan: StepPlan[] }) {
  const last = plan.findLast(({ status, kind }) => status === "succeeded" && kind !== "approval");
  const query = api.useQuery(
    "get",
    "/v1/steps/{run_id}/{step_id}/output",
    { params: { path: { run_id: run.id, step_id: last?.id ?? "" } } },
    { enabled: last !== undefined },
  );
  if (!last)
    return (
      <Empty cli={`skep runs ${run.id}`}>
        {run.finished_at ? "The run gave nothing: no step of it succeeded." : "There is no result before the run ends."}
      </Empty>
    );
  return (
    <Await query={query} rows={3}>
      {({ text, outputs }) => (
        <>
          <h2 className="mb-1 text-xs font-medium text-faint">What {last.name} gave</h2>
          {!isNothing(outputs) ? (
            <Named value={outputs} />
          ) : text ? (
            <Output value={text} />
          ) : (
            <p className="text-dim">Nothing in words: what it did is among the steps.</p>
          )}
        </>
      )}
    </Await>
  );
}

function Box({ title, beside = null, children }: { title: string; beside?: ReactNode; children: ReactNode }) {
  return (
    <section aria-label={title} className="rounded-lg border border-line bg-panel">
      <div className="flex items-baseline justify-between gap-2 px-3 pt-2.5 pb-1">
        <h2 className="text-sm font-semibold">{title}</h2>
        <span className="text-xs text-dim tabular-nums">{beside}</span>
      </div>
      <div className="px-3 pb-3">{children}</div>
    </section>
  );
}

function Changed({ run }: { run: Run }) {
  const query = useChangedFiles(run);
  const may = useMayDo(run.project_id);
  const stats = query.data?.stats;
  const changes = `/runs/${run.id}?tab=changes`;
  return (
    <Box
      title="Changes"
      beside={
        stats && (
          <>
            <span className="text-ok">+{stats.insertions}</span> <span className="text-bad">−{stats.deletions}</span>
          </>
        )
      }
    >
      <Await query={query} rows={2}>
        {({ stats, items }) =>
          stats.files === 0 ? (
            <p className="text-sm text-dim">The run has not changed a file of its repository.</p>
          ) : (
            <>
              <ul className="mb-2.5">
                {items.map(({ path, insertions, deletions }) => (
                  <li key={path} className="flex min-h-6 items-center gap-2 text-sm">
                    <FileDiff aria-hidden size={13} className="shrink-0 text-faint" />
                    <span title={path} className="min-w-0 flex-1 truncate font-mono text-xs">
                      {path.split("/").at(-1)}
                    </span>
                    <span className="text-xs whitespace-nowrap tabular-nums">
                      {insertions !== null && <span className="text-ok">+{insertions}</span>}{" "}
                      {deletions !== null && deletions > 0 && <span className="text-bad">−{deletions}</span>}
                    </span>
                  </li>
                ))}
                {stats.files > items.length && (
                  <li className="text-sm text-dim">{pluralize(stats.files - items.length, "more file")}</li>
                )}
              </ul>
              {run.merged_commit ? (
                <p className="mb-2 text-sm">
                  Merged into {run.merged_into} as{" "}
                  <code className="font-mono text-xs">{run.merged_commit.slice(0, 10)}</code>.
                </p>
              ) : null}
              <div className="flex flex-wrap gap-2">
                <ButtonLink href={changes}>Read the changes</ButtonLink>
                {!run.merged_commit && may("maintainer") && <ButtonLink href={`${changes}&merge=1`}>Merge</ButtonLink>}
              </div>
            </>
          )
        }
      </Await>
    </Box>
  );
}

/** Commands that ran and people who answered: the checks that do not rely on the agents' own word. */
function Checks({ run, plan, timeline }: { run: Run; plan: StepPlan[]; timeline: Attempt[] }) {
  const checks = plan.filter(({ kind, status }) => (kind === "command" || kind === "approval") && status !== "pending");
  const tried = new Map<string, number>();
  for (const { step_id, index } of timeline) if (index === null) tried.set(step_id, (tried.get(step_id) ?? 0) + 1);
  if (checks.length === 0) return null;
  const passed = checks.filter(({ status }) => status === "succeeded").length;
  return (
    <Box title="Checks" beside={`${passed} of ${checks.length} passed`}>
      <ul>
        {checks.map(({ id, name, kind, status }) => (
          <li key={id} className="flex min-h-7 items-center gap-2 text-sm">
            <Status status={status} bare />
            <Link href={`/runs/${run.id}?step=${id}`} className="min-w-0 flex-1 truncate hover:underline max-sm:py-3">
              {name}
            </Link>
            <span className="text-xs text-dim">
              {kind === "approval"
                ? "a person"
                : (tried.get(id) ?? 1) > 1
                  ? pluralize(tried.get(id)!, "try", "tries")
                  : "command"}
            </span>
          </li>
        ))}
      </ul>
    </Box>
  );
}

function Cost({ run, plan, timeline }: { run: Run; plan: StepPlan[]; timeline: Attempt[] }) {
  const names = new Map(plan.map(({ id, name }) => [id, name]));
  const byStep = new Map<string, number>();
  for (const { step_id, cost_usd } of timeline) byStep.set(step_id, (byStep.get(step_id) ?? 0) + cost_usd);
  const dearest = [...byStep].filter(([, cost]) => cost > 0).sort(([, a], [, b]) => b - a);
  const most = dearest[0]?.[1] ?? 0;
  return (
    <Box title="Cost" beside={costText(run)}>
      {dearest.length > 0 && (
        <ul className="mb-2">
          {dearest.slice(0, STEPS_SHOWN).map(([step, cost]) => (
            <li key={step} className="grid grid-cols-[minmax(0,1fr)_5rem_3.5rem] items-center gap-2 text-sm">
              <span className="truncate">{names.get(step) ?? step}</span>
              <span aria-hidden className="h-2 overflow-hidden rounded-sm bg-sunken">
                <span className="block h-full bg-run" style={{ width: `${(cost / most) * 100}%` }} />
              </span>
              <span className="text-right text-xs text-dim tabular-nums">
                {costText({ cost_usd: cost, calls_without_price: 0 })}
              </span>
            </li>
          ))}
        </ul>
      )}
      <p className="text-sm text-dim tabular-nums">
        {count(run.tokens)} tokens in{" "}
        {run.started_at ? <Took from={run.started_at} to={run.finished_at} /> : formatDuration(0)}
      </p>
    </Box>
  );
}
