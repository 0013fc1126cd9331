/** Asks before agents start on a task, and shows what they would do. */

import { useLocation } from "wouter";
import { api, client, must } from "../../api/client.ts";
import { refresh } from "../../api/queries.ts";
import { useChange } from "../../kit/change.ts";
import { AgentName } from "../../session/actor.tsx";
import { Button } from "../../ui/button.tsx";
import { Dialog } from "../../ui/dialog.tsx";
import { Await } from "../../ui/note.tsx";
import { ProblemNote } from "../../ui/problem-note.tsx";
import { refreshTasks, type Task } from "./board.ts";

interface Props {
  task: Task;
  /** Moves the task without starting agents; set if a move opened this dialog. */
  onlyMove?: () => void;
  onClose(): void;
}

export function StartDialog({ task, onlyMove, onClose }: Props) {
  const action = useChange();
  const [, navigate] = useLocation();
  const path = { params: { path: { id: task.project_id, tid: task.id } } };
  const plan = api.useQuery("post", "/v1/projects/{id}/tasks/{tid}/resolve-workflow", { ...path, body: {} });
  const start = () =>
    action.run(async () => {
      const run = await must(client.POST("/v1/projects/{id}/tasks/{tid}/execute", { ...path, body: {} }));
      await Promise.all([refreshTasks(), refresh("/v1/runs")]);
      navigate(`/runs/${run.id}`);
    });
  return (
    <Dialog title="Start agents on it?" onClose={onClose}>
      <p className="mb-2 font-medium">{task.title}</p>
      <Await query={plan} rows={2}>
        {({ stages, completed, agent_id, pipeline_id, reason }) => (
          <div className="text-dim">
            {stages.length > 0 ? (
              <ol className="mb-2 list-decimal pl-5">
                {stages
                  .filter(({ disposition }) => disposition !== "skip")
                  .map(({ stage, agent_id, pipeline_id: own, disposition }) => (
                    <li key={stage} className={completed.includes(stage) ? "text-faint line-through" : ""}>
                      {stage}: {agent_id ? <AgentName id={agent_id} /> : (own ?? "by hand")}
                      {disposition === "optional" && " (optional)"}
                    </li>
                  ))}
              </ol>
            ) : (
              <p className="mb-2">
                {agent_id ? (
                  <>
                    The task's agent,{" "}
                    <b className="font-medium text-ink">
                      <AgentName id={agent_id} />
                    </b>
                    , does the work alone.
                  </>
                ) : pipeline_id ? (
                  <>
                    The pipeline <b className="font-medium text-ink">{pipeline_id}</b> does the work.
                  </>
                ) : (
                  reason
                )}
              </p>
            )}
            <p>A run starts at once and costs what its models cost. The task follows it.</p>
          </div>
        )}
      </Await>
      <ProblemNote error={action.error} />
      <div className="mt-4 flex flex-wrap justify-end gap-2">
        <Button onClick={onClose}>Cancel</Button>
        {onlyMove && (
          <Button
            label="Only move it"
            onClick={() => {
              onClose();
              onlyMove();
            }}
          />
        )}
        <Button label="Start a run" kind="primary" busy={action.busy} onClick={start} />
      </div>
    </Dialog>
  );
}
