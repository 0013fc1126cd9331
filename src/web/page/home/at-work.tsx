/**
 * The active runs, one per line: what the run does, a small picture of its steps over time, and its agent's last
 * sentence.
 */

import { api, type Schemas } from "../../api/client.ts";
import { AgentName } from "../../session/actor.tsx";
import { ButtonLink } from "../../ui/button.tsx";
import { costText } from "../../ui/format.ts";
import { MoreLink } from "../../ui/link.tsx";
import { Await } from "../../ui/note.tsx";
import { Section } from "../../ui/page.tsx";
import { plainText } from "../../ui/plain-text.ts";
import { LocalTimes, Took, useNow } from "../../ui/time.tsx";
import { lanesOf } from "./lanes.ts";
import { RunLink } from "./run-link.tsx";

type AtWork = Schemas["RunAtWork"];

const SHOWN = 5;

export function Running() {
  const query = api.useQuery("get", "/v1/runs/at-work", { params: { query: { limit: SHOWN } } });
  return (
    <Await query={query} rows={3}>
      {({ items, next_cursor }) => (
        <Section
          title="Running"
          actions={next_cursor && <MoreLink href="/runs?status=running,queued">All that run</MoreLink>}
        >
          {items.length === 0 ? (
            <div className="flex items-center justify-between gap-3 rounded-lg border border-dashed border-line-strong px-4 py-2">
              <p className="text-dim">Nothing runs now.</p>
              <ButtonLink href="/runs/new">Start a run</ButtonLink>
            </div>
          ) : (
            <ul aria-label="Running" className="overflow-hidden rounded-lg border border-line bg-panel">
              {items.map((one) => (
                <Row key={one.run.id} one={one} />
              ))}
            </ul>
          )}
        </Section>
      )}
    </Await>
  );
}

function Row({ one: { run, steps, agent_id, last_words } }: { one: AtWork }) {
  return (
    <li className="relative border-b border-line px-3 py-2 last:border-0 hover:bg-hover">
      <div className="flex items-center gap-2">
        <RunLink run={run} />
        <span className="text-xs text-dim tabular-nums">
          {run.steps_done}/{run.steps_total} · <Took from={run.started_at ?? run.created_at} to={run.finished_at} />
          {run.cost_usd > 0 && ` · ${costText(run)}`}
        </span>
      </div>
      <Lanes run={run} steps={steps} />
      <p className="line-clamp-1 text-sm text-dim">
        {run.waiting_reason ? (
          <>
            Waits: <LocalTimes text={run.waiting_reason} />
          </>
        ) : last_words ? (
          <>
            {agent_id && (
              <span className="text-faint">
                <AgentName id={agent_id} />:{" "}
              </span>
            )}
            {plainText(last_words)}
          </>
        ) : run.status === "queued" ? (
          "In the queue."
        ) : (
          (run.current_step_name ?? "It begins.")
        )}
      </p>
    </li>
  );
}

const TONE: Record<string, string> = {
  succeeded: "bg-ok",
  failed: "bg-bad",
  running: "bg-run",
  waiting: "bg-wait",
};
const LANE_PX = 6;

/** Steps over time; those that overlap are drawn one below another. */
function Lanes({ run, steps }: Pick<AtWork, "run" | "steps">) {
  const now = useNow();
  const { bars, lanes } = lanesOf(steps, Date.parse(run.started_at ?? run.created_at), now);
  return (
    <span aria-hidden className="relative my-1 block rounded-sm bg-sunken" style={{ height: lanes * LANE_PX }}>
      {bars.map(({ step, left, width, lane }) => (
        <span
          key={step.step_id}
          className={`absolute min-w-1 rounded-sm ${TONE[step.status] ?? "bg-line-strong"} ${step.person ? "hatched" : ""}`}
          style={{ left: `${left}%`, width: `${width}%`, top: lane * LANE_PX, height: LANE_PX - 1 }}
        />
      ))}
    </span>
  );
}
