/** Stops all work at once, and first says what will be stopped. */
import { api, client, must } from "../../api/client.ts";
import { Confirm } from "../../kit/confirm.tsx";
import { useAdmin } from "../../session/session.tsx";
import { pluralize } from "../../ui/format.ts";
import { Await } from "../../ui/note.tsx";
import { notify } from "../../ui/notice.tsx";

const AHEAD = "running,queued,waiting";
/** How many runs one request cancels. */
const AT_ONCE = 100;
/** Runs are stopped in rounds. The limit ends this even if somebody keeps starting runs. */
const ROUNDS = 50;

async function cancelRuns(): Promise<number> {
  let cancelled = 0;
  for (let round = 0; round < ROUNDS; round++) {
    const { items } = await must(client.GET("/v1/runs", { params: { query: { status: AHEAD, limit: AT_ONCE } } }));
    if (items.length === 0) break;
    const run_ids = items.map(({ id }) => id);
    const answer = await must(client.POST("/v1/runs/bulk", { body: { action: "cancel", run_ids } }));
    const done = answer.items.filter(({ ok }) => ok).length;
    cancelled += done;
    // Runs that cannot be cancelled would be listed again in each round.
    if (done === 0) break;
  }
  return cancelled;
}

async function cancelSwarms(): Promise<void> {
  const { items } = await must(client.GET("/v1/swarm", { params: { query: { limit: AT_ONCE } } }));
  for (const { id } of items.filter(({ status }) => status === "running"))
    await must(client.POST("/v1/swarm/{id}/cancel", { params: { path: { id } } }));
}

async function stopReplies(): Promise<void> {
  const query = { status: "active" as const, limit: AT_ONCE };
  const { items } = await must(client.GET("/v1/chat/sessions", { params: { query } }));
  for (const { id } of items.filter(({ status }) => status === "busy"))
    await must(client.POST("/v1/chat/sessions/{id}/stop", { params: { path: { id } } }));
}

export default function StopEverything({ onClose }: { onClose(): void }) {
  const admin = useAdmin();
  const runs = api.useQuery("get", "/v1/runs", { params: { query: { status: AHEAD, limit: AT_ONCE } } });
  const stop = async () => {
    const cancelled = await cancelRuns();
    await cancelSwarms();
    await stopReplies();
    notify(`Stopped. ${pluralize(cancelled, "run")} cancelled.`);
  };
  return (
    <Confirm
      title="Stop everything?"
      word="Stop everything"
      changes={["/v1/runs", "/v1/steps", "/v1/approvals", "/v1/swarm", "/v1/chat/sessions", "/v1/status"]}
      act={stop}
      onClose={onClose}
    >
      <Await query={runs} rows={1}>
        {({ items, next_cursor }) => {
          const many = `${items.length}${next_cursor ? " or more" : ""} ${items.length === 1 ? "run" : "runs"}`;
          const countByStatus = (status: string) => items.filter((run) => run.status === status).length;
          return (
            <>
              <p>
                <b className="font-medium text-ink">{items.length === 0 ? "No run" : many}</b>
                {items.length > 0 &&
                  ` (${countByStatus("running")} at work, ${countByStatus("queued")} in the queue, ${countByStatus("waiting")} waiting for an answer)`}
                {items.length > 0 ? " end as cancelled" : " is at work"}
                {admin ? ", of all users" : ""}. Swarms and replies that are running stop as well.
              </p>
              <p className="mt-2">
                What was done stays, and each run can be restarted from where it was. Routines start work again at their
                next time.
              </p>
            </>
          );
        }}
      </Await>
    </Confirm>
  );
}
