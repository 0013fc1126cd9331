/** Work that was assigned directly to an agent: the request, its state, its result and its log. */

import { useState } from "react";
import { api, client } from "../../api/client.ts";
import { Confirm } from "../../kit/confirm.tsx";
import { Actor } from "../../session/actor.tsx";
import { Button } from "../../ui/button.tsx";
import { Dialog } from "../../ui/dialog.tsx";
import { FactRow } from "../../ui/facts.tsx";
import { costText, count } from "../../ui/format.ts";
import { Await } from "../../ui/note.tsx";
import { Status } from "../../ui/status.tsx";
import { useParam } from "../../ui/tabs.tsx";
import { Took } from "../../ui/time.tsx";
import { Value } from "../../ui/value.tsx";
import { ChangesLink } from "../changes/work-changes.tsx";
import { Transcript } from "../run/transcript.tsx";

export function SpawnedView({ id }: { id: string }) {
  const [, show] = useParam("work");
  const [cancelling, setCancelling] = useState(false);
  const params = { path: { id } };
  const query = api.useQuery("get", "/v1/spawn-executor/{id}", { params });
  return (
    <Dialog title="Piece of work" onClose={() => show("")} wide>
      <Await query={query}>
        {(work) => {
          const live = work.status === "queued" || work.status === "running";
          return (
            <>
              <div className="mb-3 flex items-start gap-3">
                <p className="min-w-0 flex-1 whitespace-pre-wrap">{work.prompt}</p>
                {live && <Button label="Cancel" onClick={() => setCancelling(true)} />}
              </div>
              <FactRow
                facts={[
                  ["State", <Status key="state" status={work.status} />],
                  ["Agent", <Actor key="agent" id={work.agent_id} />],
                  ["Took", <Took key="took" from={work.started_at} to={work.finished_at} />],
                  ["Cost", costText(work)],
                  ["Tokens", count(work.tokens)],
                ]}
              />
              {work.error && <p className="mb-3 rounded-lg bg-bad-soft px-3 py-2">{work.error.message}</p>}
              {(work.output || Object.keys(work.outputs).length > 0) && (
                <div className="mb-3 rounded-lg border border-line px-3 py-2">
                  {work.output && <p className="whitespace-pre-wrap">{work.output}</p>}
                  {Object.keys(work.outputs).length > 0 && <Value given value={work.outputs} />}
                </div>
              )}
              <p className="mb-3 empty:hidden">
                <ChangesLink id={work.id} project={work.project_id} />
              </p>
              <Transcript session={work.session_id} live={live} />
            </>
          );
        }}
      </Await>
      {cancelling && (
        <Confirm
          title="Cancel the work?"
          word="Cancel it"
          onClose={() => setCancelling(false)}
          changes={["/v1/spawn-executor"]}
          act={() => client.POST("/v1/spawn-executor/{id}/cancel", { params })}
        >
          What is at work stops. What was done stays.
        </Confirm>
      )}
    </Dialog>
  );
}
