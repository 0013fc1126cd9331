/** Asks whether an agent may make a call. It shows the complete call and the possible answers. */

import { useState } from "react";
import { Link } from "wouter";
import { client, must, type Schemas } from "../../api/client.ts";
import { useChange } from "../../kit/change.ts";
import { AgentName } from "../../session/actor.tsx";
import { useAdmin } from "../../session/session.tsx";
import { Button } from "../../ui/button.tsx";
import { useDraft } from "../../ui/draft.ts";
import { TextArea } from "../../ui/field.tsx";
import { notify } from "../../ui/notice.tsx";
import { ProblemNote } from "../../ui/problem-note.tsx";
import { Ago } from "../../ui/time.tsx";
import { useMayDo } from "../projects/roles.ts";
import { ForContributors } from "./approval-card.tsx";

type Request = Schemas["PermissionRequest"];
type Lasts = NonNullable<Schemas["AnswerPermissionRequestBody"]["lasts"]>;

const LASTS: readonly Lasts[] = ["once", "work", "agent"];

/** Address of the work that waits for the answer. */
export const workOf = ({ run_id, step_id, session_id, session_kind }: Request): string | undefined => {
  if (run_id !== null) return `/runs/${run_id}${step_id === null ? "" : `?step=${step_id}`}`;
  return session_kind === "chat" ? `/chat/${session_id}` : undefined;
};

/** @param props.bare omits the work that asks, because it is shown around the card. */
export function PermissionCard({ request, bare = false }: { request: Request; bare?: boolean }) {
  const { agent_id, tool, subject, rules, about, deadline, requested_at } = request;
  const href = workOf(request);
  const mayAnswer = useMayDo(request.project_id)("contributor");
  return (
    <article className="rounded-lg border border-wait/40 bg-panel p-4" aria-label={`Permission for ${tool}`}>
      {!bare && (
        <div className="mb-1 text-sm text-dim">
          {href ? (
            <Link href={href} className="font-medium text-ink hover:underline" data-row>
              <span className="line-clamp-1">{about || "The chat"}</span>
            </Link>
          ) : (
            <span className="line-clamp-1">{about}</span>
          )}
        </div>
      )}
      <p className="text-lg">
        May{" "}
        <b>
          <AgentName id={agent_id} />
        </b>{" "}
        use <code className="font-mono">{tool}</code>?
      </p>
      {subject !== "" && (
        <pre
          // A scrolling region must be focusable, so that keys can scroll it.
          tabIndex={0}
          className="my-2 max-h-44 overflow-auto rounded-md bg-sunken p-2 font-mono text-sm break-words whitespace-pre-wrap"
        >
          <bdi>{subject}</bdi>
        </pre>
      )}
      <p className="text-sm text-dim">
        Asked <Ago at={requested_at} sentence /> by the rule <code className="font-mono">{rules.join("; ")}</code>.
        Without an answer it is refused <Ago at={deadline} sentence />.
      </p>
      {mayAnswer ? <Answers request={request} /> : <ForContributors />}
    </article>
  );
}

/** How long the answer applies, a comment, yes and no. */
function Answers({ request: { id, agent_id, can_remember, run_id } }: { request: Request }) {
  const admin = useAdmin();
  const action = useChange("/v1/approvals", "/v1/permissions", "/v1/runs");
  const { text: comment, set, clear } = useDraft(`permission/${id}`, { what: "a comment on a permission" });
  const [lasts, setLasts] = useState<Lasts>("once");
  const answer = (allow: boolean) =>
    action.run(async () => {
      const said = comment.trim() ? { comment: comment.trim() } : {};
      const body = { allow, ...(allow ? { lasts } : {}), ...said };
      await must(client.POST("/v1/permissions/requests/{id}/answer", { params: { path: { id } }, body }));
      clear();
      notify(allow ? "Allowed. The work continues." : "Refused. The agent is told.");
    });
  const field = `permission-${id}`;
  return (
    <>
      <label htmlFor={`${field}-lasts`} className="mt-3 block text-sm text-dim">
        Allow it
      </label>
      <select
        id={`${field}-lasts`}
        value={lasts}
        disabled={!can_remember}
        onChange={(event) => setLasts(LASTS.find((one) => one === event.target.value) ?? "once")}
        className="min-h-9 w-full rounded-md border border-line bg-panel px-2 max-sm:min-h-11"
      >
        <option value="once">once, this call</option>
        {can_remember && (
          <option value="work">for this {run_id === null ? "chat" : "run"}: all that the rule asks</option>
        )}
        {can_remember && admin && <option value="agent">for {agent_id} in all its work: all that the rule asks</option>}
      </select>
      <label htmlFor={field} className="sr-only">
        Comment
      </label>
      <TextArea
        id={field}
        rows={1}
        value={comment}
        onChange={(event) => set(event.target.value)}
        placeholder="Why not; the agent reads it (optional)"
      />
      <ProblemNote error={action.error} />
      <div className="mt-3 grid gap-x-3 gap-y-2 sm:grid-cols-2">
        <Button label="Allow" kind="primary" busy={action.busy} onClick={() => answer(true)} className="w-full" />
        <Button label="Refuse" kind="danger" busy={action.busy} onClick={() => answer(false)} className="w-full" />
      </div>
    </>
  );
}
