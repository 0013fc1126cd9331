/** Runs that failed since yesterday, each with its error and what to do next, and what was finished lately. */
import { RotateCw } from "lucide-react";
import { useState } from "react";
import { api, type Schemas } from "../../api/client.ts";
import { Button } from "../../ui/button.tsx";
import { costText, DAY_MS } from "../../ui/format.ts";
import { MoreLink } from "../../ui/link.tsx";
import { Await } from "../../ui/note.tsx";
import { Section } from "../../ui/page.tsx";
import { Ago } from "../../ui/time.tsx";
import { useMayDo } from "../projects/roles.ts";
import { RestartDialog } from "../run/restart-dialog.tsx";
import { RunLink } from "./run-link.tsx";

type Run = Schemas["Run"];

const SHOWN = 3;

/** A day ago, rounded so that the query stays the same for a while. */
const subtractDay = () => new Date(Math.floor((Date.now() - DAY_MS) / 600_000) * 600_000).toISOString();

export function Broken() {
  const [restarted, restart] = useState<Run>();
  const since = subtractDay();
  const query = api.useQuery("get", "/v1/runs", { params: { query: { status: "failed", since, limit: SHOWN } } });
  return (
    <>
      <Await query={query} rows={1}>
        {({ items, next_cursor }) =>
          items.length > 0 && (
            <Section
              title="Broken since yesterday"
              actions={next_cursor && <MoreLink href="/runs?status=failed">All that failed</MoreLink>}
            >
              <ul
                aria-label="Broken since yesterday"
                className="overflow-hidden rounded-lg border border-line bg-panel"
              >
                {items.map((run) => (
                  <li
                    key={run.id}
                    className="relative flex items-center gap-3 border-b border-line px-3 py-2 last:border-0 hover:bg-hover"
                  >
                    <span className="min-w-0 flex-1">
                      <span className="flex items-center gap-2">
                        <RunLink run={run} />
                      </span>
                      <span className="line-clamp-1 pl-[23px] text-sm text-bad">
                        {run.error?.step_id && <span className="text-dim">{brokenStep(run)}: </span>}
                        {run.error?.message ?? "It failed."}
                      </span>
                    </span>
                    <span className="text-xs text-dim">
                      <Ago at={run.finished_at ?? run.created_at} />
                    </span>
                    <Restart run={run} restart={restart} />
                  </li>
                ))}
              </ul>
            </Section>
          )
        }
      </Await>
      {restarted && <RestartDialog run={restarted} onClose={() => restart(undefined)} />}
    </>
  );
}

/** The name of the step that failed. Only its id is known if the run's current step is another one. */
const brokenStep = ({ error, current_step, current_step_name }: Run): string | undefined | null =>
  current_step === error?.step_id ? current_step_name : error?.step_id;

/** The button that restarts a run; hidden from viewers of the run's project. */
function Restart({ run, restart }: { run: Run; restart(run: Run): void }) {
  const may = useMayDo(run.project_id);
  return (
    may("contributor") && (
      <Button
        label="Restart"
        className="relative z-10"
        aria-label={`Restart ${run.task_description.slice(0, 80)}`}
        icon={RotateCw}
        iconSize={13}
        onClick={() => restart(run)}
      />
    )
  );
}

const DONE_SHOWN = 4;

export function DoneLately() {
  const query = api.useQuery("get", "/v1/runs", { params: { query: { status: "succeeded", limit: DONE_SHOWN } } });
  return (
    <Await query={query} rows={1}>
      {({ items }) =>
        items.length > 0 && (
          <Section title="Done lately" actions={<MoreLink href="/runs">All runs</MoreLink>}>
            <ul aria-label="Done lately" className="overflow-hidden rounded-lg border border-line bg-panel">
              {items.map((run) => (
                <li
                  key={run.id}
                  className="relative flex min-h-9 items-center gap-3 border-b border-line px-3 py-1 last:border-0 hover:bg-hover max-sm:min-h-11"
                >
                  <span className="flex min-w-0 flex-1 items-center gap-2">
                    <RunLink run={run} />
                  </span>
                  <span className="text-xs text-dim tabular-nums">{costText(run)}</span>
                  <span className="w-12 text-right text-xs text-dim">
                    <Ago at={run.finished_at ?? run.created_at} />
                  </span>
                </li>
              ))}
            </ul>
          </Section>
        )
      }
    </Await>
  );
}
