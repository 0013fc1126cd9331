/** All questions to the reader, with their answers, and what was answered before. */

import { CircleCheck, CircleX } from "lucide-react";
import { useState } from "react";
import type { Schemas } from "../../api/client.ts";
import { usePages } from "../../api/queries.ts";
import { List } from "../../kit/list.tsx";
import { Button, ButtonLink } from "../../ui/button.tsx";
import { Await, Empty } from "../../ui/note.tsx";
import { PageHeader } from "../../ui/page.tsx";
import { firstWords } from "../../ui/plain-text.ts";
import { type Column, More, TwoLines } from "../../ui/table.tsx";
import { Views } from "../../ui/tabs.tsx";
import { Ago } from "../../ui/time.tsx";
import { AnswerSeveral } from "../home/answer-several.tsx";
import { ApprovalCard } from "../runs/approval-card.tsx";
import { PermissionCard, workOf } from "../runs/permission-card.tsx";

type Step = Schemas["PendingApproval"];
type Approval = Step | Schemas["PermissionRequest"];

export default function InboxPage() {
  return (
    <>
      <PageHeader title="Inbox" about="Runs and agents that wait for your answer." cli="skep approvals" />
      <Views
        label="Questions"
        views={[
          { id: "waiting", title: "Waiting", view: <Waiting /> },
          { id: "answered", title: "Answered", view: <Answered /> },
        ]}
      />
    </>
  );
}

function Waiting() {
  const query = usePages("/v1/approvals", { query: { limit: 20 } });
  const [several, setSeveral] = useState(false);
  const steps = query.rows.filter((one): one is Step => one.kind === "step");
  return (
    <Await query={query} rows={3}>
      {() =>
        query.rows.length === 0 ? (
          <Empty
            action={<ButtonLink href="/runs/new">Start a run</ButtonLink>}
            cli='skep run hello "Greet me" --follow'
          >
            Nothing waits for you. A run that needs an answer is listed here.
          </Empty>
        ) : (
          <div className="flex max-w-3xl flex-col gap-3">
            {steps.length > 1 && (
              <div>
                <Button onClick={() => setSeveral(true)}>Answer several</Button>
              </div>
            )}
            {query.rows.map((approval) =>
              approval.kind === "step" ? (
                <ApprovalCard key={approval.id} approval={approval} />
              ) : (
                <PermissionCard key={approval.id} request={approval} />
              ),
            )}
            <More query={query} className="text-center" />
            {several && <AnswerSeveral approvals={steps} onClose={() => setSeveral(false)} />}
          </div>
        )
      }
    </Await>
  );
}

const NO_WORDS: Partial<Record<Approval["state"], string>> = {
  expired: "Not answered in time",
  withdrawn: "No longer asked",
};
const COLUMNS: Column<Approval>[] = [
  {
    title: "Question",
    className: "w-1/2",
    cell: (one) => {
      const second = one.kind === "step" ? one.task_description : one.about;
      return <TwoLines first={firstWords(one.message) || one.step_id || ""} second={second} />;
    },
  },
  {
    title: "Answer",
    cell: ({ state }) =>
      state === "approved" || state === "allowed" ? (
        <span className="inline-flex items-center gap-1.5 text-ok">
          <CircleCheck aria-hidden size={15} />
          {state === "approved" ? "Approved" : "Allowed"}
        </span>
      ) : (
        <span className="inline-flex items-center gap-1.5 text-bad">
          <CircleX aria-hidden size={15} />
          {NO_WORDS[state] ?? "Refused"}
        </span>
      ),
  },
  { title: "Comment", wide: true, cell: ({ comment }) => <span className="line-clamp-2 text-dim">{comment}</span> },
  { title: "When", wide: true, align: "right", cell: ({ answered_at }) => <Ago at={answered_at} /> },
];

function Answered() {
  const query = usePages("/v1/approvals", { query: { state: "answered", limit: 50 } });
  return (
    <List
      query={query}
      label="Answered questions"
      columns={COLUMNS}
      keyOf={({ id }) => id}
      hrefOf={(one) => (one.kind === "step" ? `/runs/${one.run_id}?step=${one.step_id}` : (workOf(one) ?? "/inbox"))}
      lines={6}
      empty={{
        text: "Nothing was answered yet. Your answers are kept here, with what was asked.",
        action: <ButtonLink href="/inbox">See what waits</ButtonLink>,
      }}
    />
  );
}
