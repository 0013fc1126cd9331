/**
 * A question to a person, with everything needed to answer it: what came before, what it cost, and the effect of each
 * answer.
 */
import { ChevronRight } from "lucide-react";
import { type ReactNode, useRef, useState } from "react";
import { Link } from "wouter";
import { client, must, type Schemas } from "../../api/client.ts";
import { refresh } from "../../api/queries.ts";
import { useVerbs } from "../../keys/verbs.ts";
import { Button } from "../../ui/button.tsx";
import { useDraft } from "../../ui/draft.ts";
import { TextArea } from "../../ui/field.tsx";
import { costText, formatUsd } from "../../ui/format.ts";
import { MarkdownText } from "../../ui/markdown-text.tsx";
import { notify } from "../../ui/notice.tsx";
import { firstWords } from "../../ui/plain-text.ts";
import { ProblemNote } from "../../ui/problem-note.tsx";
import { Ago } from "../../ui/time.tsx";
import { Value } from "../../ui/value.tsx";
import { useMayDo } from "../projects/roles.ts";

type Approval = Schemas["PendingApproval"];

/** In characters. A longer message is assumed to contain the results of the earlier steps, so these start folded. */
const SHORT = 200;

interface Props {
  approval: Approval;
  /** Omits the run that asks, because it is shown around the card. */
  bare?: boolean;
  /** Makes the text scroll within the card, so that the answers stay in sight. */
  compact?: boolean;
}

export function ApprovalCard({ approval, bare = false, compact = false }: Props) {
  const draft = useDraft(`approval/${approval.id}`, { what: "a comment on an approval" });
  const comment = draft.text;
  const [busy, setBusy] = useState<"yes" | "no" | null>(null);
  const [error, setError] = useState<unknown>();
  const { run_id, step_id, message, results, if_approved, if_refused } = approval;
  const answer = async (approved: boolean) => {
    setBusy(approved ? "yes" : "no");
    setError(undefined);
    try {
      const body = { step_id, approved, ...(comment.trim() ? { comment: comment.trim() } : {}) };
      await must(client.POST("/v1/runs/{id}/approve", { params: { path: { id: run_id } }, body }));
      draft.clear();
      notify(approved ? "Approved. The run continues." : "Refused.");
      await refresh("/v1/approvals", "/v1/runs", "/v1/steps");
    } catch (thrown) {
      setError(thrown);
      setBusy(null);
    }
  };
  const id = `comment-${approval.id}`;
  const mayAnswer = useMayDo(approval.project_id)("contributor");
  const card = useRef<HTMLElement>(null);
  useVerbs(
    mayAnswer
      ? [
          {
            label: `Approve or refuse: ${firstWords(message).slice(0, SHORT) || step_id}`,
            words: ["answer"],
            // The palette only leads to the buttons, so that nobody approves unread.
            act() {
              const button = card.current?.querySelector<HTMLElement>("[data-approve]");
              button?.scrollIntoView({ block: "center" });
              button?.focus();
            },
          },
        ]
      : [],
  );
  return (
    <article ref={card} className="rounded-lg border border-wait/40 bg-panel p-4" aria-label={`Approval ${step_id}`}>
      {/* A scrolling region must be focusable, so that keys can scroll it. */}
      <div className={compact ? "max-h-44 overflow-y-auto pr-1" : ""} tabIndex={compact ? 0 : undefined}>
        {!bare && (
          <div className="mb-1 text-sm text-dim">
            <Link href={`/runs/${run_id}?step=${step_id}`} className="font-medium text-ink hover:underline" data-row>
              <span className="line-clamp-1">{approval.task_description}</span>
            </Link>
            {approval.pipeline_name} · {approval.step_name}
            {approval.project_name && ` · ${approval.project_name}`}
          </div>
        )}
        <div className={compact ? "my-1" : "my-2 text-lg"}>
          <MarkdownText text={message} />
        </div>
        {results.map(({ step_id: from, step_name, outputs }) => (
          <details
            key={from}
            className="group my-1 rounded-md bg-sunken"
            open={results.length === 1 && message.length < SHORT}
          >
            <summary className="flex min-h-8 items-center gap-1 px-2 text-sm text-dim max-sm:min-h-11">
              <ChevronRight aria-hidden size={14} className="transition-transform group-open:rotate-90" />
              What <b className="font-medium text-ink">{step_name}</b> gave
            </summary>
            <div className="px-3 pb-2">
              <Value given value={outputs} />
            </div>
          </details>
        ))}
      </div>
      {/* The answers stay in sight while a long question is read. */}
      <div className="sticky bottom-0 -mx-4 -mb-4 rounded-b-lg bg-panel px-4 pt-2 pb-4">
        <div className="mb-2 flex flex-wrap items-center gap-x-4 gap-y-1 text-sm">
          <dl className="contents">
            <Fact name="Asked">
              <Ago at={approval.requested_at} sentence />
            </Fact>
            <Fact name="Cost so far">
              {costText(approval)}
              {approval.budget_usd !== null && ` of ${formatUsd(approval.budget_usd)}`}
            </Fact>
            {approval.branch && !compact && (
              <Fact name="Branch">
                <code className="font-mono">{approval.branch}</code>
              </Fact>
            )}
            {approval.deadline && (
              <Fact name={approval.on_timeout === "approve" ? "Approves itself" : "Refuses itself"}>
                <Ago at={approval.deadline} />
              </Fact>
            )}
          </dl>
          {!bare && (
            <Link
              href={`/runs/${run_id}?step=${step_id}`}
              className="inline-flex min-h-6 items-center underline max-sm:min-h-11"
            >
              Read more
            </Link>
          )}
        </div>
        {mayAnswer ? (
          <>
            <label htmlFor={id} className="sr-only">
              Comment
            </label>
            <TextArea
              id={id}
              rows={1}
              value={comment}
              onChange={(event) => draft.set(event.target.value)}
              placeholder="A comment for the agents (optional)"
            />
            <ProblemNote error={error} />
            <div className="mt-3 grid gap-x-3 gap-y-2 sm:grid-cols-2">
              <Answer says={if_approved.says}>
                <Button
                  label="Approve"
                  data-approve
                  kind="primary"
                  busy={busy !== null}
                  onClick={() => answer(true)}
                  className="w-full"
                />
              </Answer>
              <Answer says={if_refused.says}>
                <Button kind="danger" busy={busy !== null} onClick={() => answer(false)} className="w-full">
                  Refuse
                </Button>
              </Answer>
            </div>
          </>
        ) : (
          <ForContributors />
        )}
      </div>
    </article>
  );
}

/** A button with its effect below it. */
const Answer = ({ says, children }: { says: string; children: ReactNode }) => (
  <div>
    {children}
    <p className="mt-1 text-sm text-dim">{says}</p>
  </div>
);

/** Shown in place of the answers to viewers of the project. */
export const ForContributors = () => (
  <p className="text-sm text-dim">Contributors of the project answer this. You are a viewer here.</p>
);

function Fact({ name, children }: { name: string; children: ReactNode }) {
  return (
    <div className="flex gap-1.5">
      <dt className="text-faint">{name}</dt>
      <dd>{children}</dd>
    </div>
  );
}
