/** The runs, chats and other work in which an entry was recalled, newest first. */

import { Link } from "wouter";
import type { Schemas } from "../../api/client.ts";
import { usePages } from "../../api/queries.ts";
import { RowList } from "../../kit/row-list.tsx";
import { AgentName } from "../../session/actor.tsx";
import { Section } from "../../ui/page.tsx";
import { More } from "../../ui/table.tsx";
import { Ago } from "../../ui/time.tsx";

type Recall = Schemas["MemoryRecall"];

const hrefOf = ({ kind, run_id, session_id }: Recall): string | undefined =>
  run_id ? `/runs/${run_id}` : kind === "chat" ? `/chat/${session_id}` : undefined;
/** Names for work without a title, or that was deleted. */
const WORK: Record<string, string> = {
  chat: "A chat",
  pulse: "A routine",
  swarm: "A task of a swarm",
  onboarding: "An onboarding",
  spawn: "A piece of work",
};
const nameOf = ({ title, run_id, kind }: Recall): string =>
  title ?? (run_id ? "A run" : (WORK[kind] ?? "A piece of work"));

export function RecalledBy({ agent, entry }: { agent: string; entry: string }) {
  const query = usePages("/v1/memory/vaults/{agent_id}/entries/{entry}/recalls", {
    path: { agent_id: agent, entry },
    query: { limit: 10 },
  });
  return (
    <Section title="Recalled by">
      <RowList
        query={query}
        keyOf={({ execution_id }) => execution_id}
        className="flex-wrap items-center gap-x-3 px-3 py-2"
        empty={<p className="text-dim">No work has recalled it yet.</p>}
      >
        {(recall) => {
          const href = hrefOf(recall);
          return (
            <>
              <span className="min-w-0 flex-1 basis-48 break-words">
                {href ? (
                  <Link href={href} className="inline-flex items-center hover:underline max-sm:min-h-11">
                    {nameOf(recall)}
                  </Link>
                ) : (
                  nameOf(recall)
                )}
              </span>
              <span className="text-sm text-dim">
                <AgentName id={recall.agent_id} />
              </span>
              <span className="text-sm text-faint">
                <Ago at={recall.at} sentence />
              </span>
            </>
          );
        }}
      </RowList>
      <More query={query} quiet className="mt-2 text-center" />
    </Section>
  );
}
