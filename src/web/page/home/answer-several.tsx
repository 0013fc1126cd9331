/** Answers several questions at once. The effect of each answer is shown beside it, so that nobody approves unread. */

import { useState } from "react";
import { client, must, type Schemas } from "../../api/client.ts";
import { useChange } from "../../kit/change.ts";
import { Button } from "../../ui/button.tsx";
import { Dialog } from "../../ui/dialog.tsx";
import { Field, TextArea } from "../../ui/field.tsx";
import { pluralize } from "../../ui/format.ts";
import { notify } from "../../ui/notice.tsx";
import { ProblemNote } from "../../ui/problem-note.tsx";

type Approval = Schemas["PendingApproval"];

export function AnswerSeveral({ approvals, onClose }: { approvals: Approval[]; onClose(): void }) {
  const action = useChange("/v1/approvals", "/v1/runs", "/v1/steps");
  const [chosen, setChosen] = useState<ReadonlySet<string>>(new Set());
  const [comment, setComment] = useState("");
  const [failed, setFailed] = useState<ReadonlyMap<string, string>>(new Map());
  const toggle = (id: string) =>
    setChosen((before) => new Set(before.has(id) ? [...before].filter((one) => one !== id) : [...before, id]));
  const answer = (approved: boolean) =>
    action.run(async () => {
      const asked = approvals.filter(({ id }) => chosen.has(id));
      const answers = asked.map(({ run_id, step_id }) => ({
        run_id,
        step_id,
        approved,
        ...(comment.trim() ? { comment: comment.trim() } : {}),
      }));
      const { items } = await must(client.POST("/v1/approvals", { body: { answers } }));
      const refused = new Map(items.flatMap(({ ok, detail }, at) => (ok ? [] : [[asked[at]!.id, detail ?? ""]])));
      setFailed(refused);
      setChosen(new Set(refused.keys()));
      if (refused.size > 0) return;
      notify(`${pluralize(items.length, "run")} ${approved ? "approved" : "refused"}.`);
      onClose();
    });
  return (
    <Dialog title="Answer several" wide onClose={onClose}>
      <ul className="mb-3">
        {approvals.map(({ id, message, task_description, step_name, if_approved, if_refused }) => (
          <li key={id} className="border-b border-line py-2 last:border-0">
            <label className="flex items-start gap-2">
              <input
                type="checkbox"
                className="mt-1 size-4 accent-accent"
                checked={chosen.has(id)}
                onChange={() => toggle(id)}
              />
              <span className="min-w-0">
                <b className="font-medium">{message}</b>
                <span className="line-clamp-1 text-sm text-dim">
                  {task_description} · {step_name}
                </span>
                <span className="block text-sm text-dim">Approved: {if_approved.says}</span>
                <span className="block text-sm text-dim">Refused: {if_refused.says}</span>
                {failed.has(id) && <span className="block text-sm text-bad">{failed.get(id)}</span>}
              </span>
            </label>
          </li>
        ))}
      </ul>
      <Field label="Comment" hint="The agents of each read it.">
        <TextArea rows={2} value={comment} onChange={(event) => setComment(event.target.value)} />
      </Field>
      <ProblemNote error={action.error} />
      <div className="flex justify-end gap-2">
        <Button kind="danger" disabled={chosen.size === 0} busy={action.busy} onClick={() => answer(false)}>
          Refuse {chosen.size}
        </Button>
        <Button kind="primary" disabled={chosen.size === 0} busy={action.busy} onClick={() => answer(true)}>
          Approve {chosen.size}
        </Button>
      </div>
    </Dialog>
  );
}
