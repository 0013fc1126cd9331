/**
 * Entries that seem to contradict each other: a person says which one is right, or that both are. Also consolidates a
 * vault on demand.
 */

import { Sparkles } from "lucide-react";
import { useState } from "react";
import { Link } from "wouter";
import { client, must, type Schemas } from "../../api/client.ts";
import { usePages } from "../../api/queries.ts";
import { useChange } from "../../kit/change.ts";
import { Button } from "../../ui/button.tsx";
import { Badge } from "../../ui/facts.tsx";
import { pluralize, shellWord } from "../../ui/format.ts";
import { JobProgress } from "../../ui/job-progress.tsx";
import { Await, Empty } from "../../ui/note.tsx";
import { Panel } from "../../ui/page.tsx";
import { ProblemNote } from "../../ui/problem-note.tsx";
import { Ago } from "../../ui/time.tsx";
import { entryHref, refreshMemory } from "./memory.ts";

type Contradiction = Schemas["MemoryContradiction"];
type Side = Contradiction["a"];

export function Contradictions({ agent }: { agent: string }) {
  const query = usePages("/v1/memory/contradictions", { query: { agent_id: agent, limit: 50 } });
  return (
    <>
      <Consolidation agent={agent} />
      <Await query={query}>
        {() =>
          query.rows.length === 0 ? (
            <Empty cli={`skep memory contradictions ${shellWord(agent)}`}>
              No two entries are known to contradict each other. Consolidate the memory to look for some.
            </Empty>
          ) : (
            <ul aria-label="Contradictions" className="flex flex-col gap-4">
              {query.rows.map((one) => (
                <li key={one.id}>
                  <Pair contradiction={one} />
                </li>
              ))}
            </ul>
          )
        }
      </Await>
    </>
  );
}

function Pair({ contradiction: { id, agent_id, a, b, found_at } }: { contradiction: Contradiction }) {
  const action = useChange("/v1/memory", "/v1/memory-scores");
  const settle = (keep: string | null) =>
    action.run(() => {
      const params = { path: { contradiction_id: id } };
      return client.PUT("/v1/memory/contradictions/{contradiction_id}", { params, body: { keep } });
    });
  return (
    <Panel className="p-4">
      <div className="grid gap-4 md:grid-cols-2">
        {[a, b].map((side) => (
          <SideView key={side.entry} agent={agent_id} side={side} busy={action.busy} keep={() => settle(side.entry)} />
        ))}
      </div>
      <div className="mt-3 flex flex-wrap items-center gap-3 border-t border-line pt-3">
        <span className="mr-auto text-sm text-faint">
          found <Ago at={found_at} sentence />
        </span>
        <Button label="Both are true" busy={action.busy} onClick={() => settle(null)} />
      </div>
      <ProblemNote error={action.error} />
    </Panel>
  );
}

interface SideProps {
  agent: string;
  side: Side;
  busy: boolean;
  keep(): void;
}

function SideView({ agent, side: { entry, title, type, content, trusted, says, updated_at }, busy, keep }: SideProps) {
  return (
    <section aria-label={title} className="flex min-w-0 flex-col gap-2">
      <h2 className="flex flex-wrap items-center gap-2 font-medium">
        <Link href={entryHref(agent, entry)} className="break-words hover:underline">
          {title}
        </Link>
        <Badge>{type}</Badge>
        {!trusted && <Badge tone="wait">unconfirmed</Badge>}
      </h2>
      <p className="line-clamp-6 break-words whitespace-pre-wrap text-dim">{content}</p>
      {says.length > 0 && (
        <p className="text-sm">
          <span className="text-dim">Only here: </span>
          {says.map((word) => (
            <mark key={word} className="mr-1 rounded bg-wait-soft px-1 text-wait">
              {word}
            </mark>
          ))}
        </p>
      )}
      <div className="mt-auto flex flex-wrap items-center gap-3">
        <Button label="This one holds" busy={busy} onClick={keep} aria-label={`This one holds: ${title}`} />
        <span className="text-xs text-faint">
          changed <Ago at={updated_at} sentence />
        </span>
      </div>
    </section>
  );
}

/** Merges entries that say the same and lists contradictions. Each change can be undone. */
function Consolidation({ agent }: { agent: string }) {
  const action = useChange();
  const [job, setJob] = useState<string>();
  const start = () =>
    action.run(async () => {
      const params = { path: { agent_id: agent } };
      setJob((await must(client.POST("/v1/memory/vaults/{agent_id}/consolidate", { params }))).id);
    });
  return (
    <div className="mb-4">
      {job ? (
        <JobProgress
          key={job}
          id={job}
          about="The vault is gone through."
          onEnd={refreshMemory}
          renderEnd={({ state, error, result }) => (
            <p role="status" className={`rounded-md px-3 py-2 ${state === "succeeded" ? "bg-ok-soft" : "bg-bad-soft"}`}>
              {state === "succeeded"
                ? `Done: ${pluralize(Number(result?.["merged"] ?? 0), "entry", "entries")} merged, ${pluralize(Number(result?.["contradictions"] ?? 0), "contradiction")} listed.`
                : (error?.message ?? "It was stopped.")}{" "}
              <button type="button" className="underline" onClick={() => setJob(undefined)}>
                Close
              </button>
            </p>
          )}
        />
      ) : (
        <div className="flex flex-wrap items-center gap-3">
          <p className="min-w-0 flex-1 basis-64 text-dim">
            What says the same becomes one entry, what contradicts is listed here. It also happens once a day, unless
            that is switched off.
          </p>
          <Button label="Go through it now" busy={action.busy} icon={Sparkles} onClick={start} />
        </div>
      )}
      <ProblemNote error={action.error} />
    </div>
  );
}
