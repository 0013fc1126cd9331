/** Every question to the reader, with its answers; and what was answered before. */
import { CircleCheck, CircleX } from "lucide-react";
import { useState } from "react";
import type { Schemas } from "../../api/client.ts";
import { usePages } from "../../api/queries.ts";
import { Button } from "../../ui/button.tsx";
import { Await, Empty } from "../../ui/note.tsx";
import { PageHeader } from "../../ui/page.tsx";
import { type Column, Table, TwoLines } from "../../ui/table.tsx";
import { Tabs, useParam } from "../../ui/tabs.tsx";
import { Ago } from "../../ui/time.tsx";
import { AnswerSeveral } from "../home/answer-several.tsx";
import { ApprovalCard } from "../runs/approval-card.tsx";

type Approval = Schemas["PendingApproval"];

export default function InboxPage() {
  const [tab] = useParam("tab");
  return (
    <>
      <PageHeader title="Inbox" about="Runs that wait for your answer." cli="skep approve" />
      <Tabs
        label="Questions"
        tabs={[
          { id: "waiting", title: "Waiting" },
          { id: "answered", title: "Answered" },
        ]}
      />
      {tab === "answered" ? <Answered /> : <Waiting />}
    </>
  );
}

function Waiting() {
  const query = usePages("/v1/approvals", { query: { limit: 20 } });
  const [several, setSeveral] = useState(false);
  return (
    <Await query={query} rows={3}>
      {() =>
        query.rows.length === 0 ? (
          <Empty>Nothing waits for you. A run that needs an answer is listed here.</Empty>
        ) : (
          <div className="flex max-w-3xl flex-col gap-3">
            {query.rows.length > 1 && (
              <div>
                <Button onClick={() => setSeveral(true)}>Answer several</Button>
              </div>
            )}
            {query.rows.map((approval) => (
              <ApprovalCard key={approval.id} approval={approval} />
            ))}
            {query.hasNextPage && (
              <div className="text-center">
                <Button busy={query.isFetchingNextPage} onClick={() => query.fetchNextPage()}>
                  Show more
                </Button>
              </div>
            )}
            {several && <AnswerSeveral approvals={query.rows} onClose={() => setSeveral(false)} />}
          </div>
        )
      }
    </Await>
  );
}

const COLUMNS: Column<Approval>[] = [
  {
    title: "Question",
    className: "w-1/2",
    cell: ({ message, task_description, step_id }) => (
      <TwoLines first={message.split("\n")[0] || step_id} second={task_description} />
    ),
  },
  {
    title: "Answer",
    cell: ({ state }) =>
      state === "approved" ? (
        <span className="inline-flex items-center gap-1.5 text-ok">
          <CircleCheck aria-hidden size={15} />
          Approved
        </span>
      ) : (
        <span className="inline-flex items-center gap-1.5 text-bad">
          <CircleX aria-hidden size={15} />
          Refused
        </span>
      ),
  },
  { title: "Comment", wide: true, cell: ({ comment }) => <span className="line-clamp-2 text-dim">{comment}</span> },
  { title: "When", wide: true, align: "right", cell: ({ answered_at }) => <Ago at={answered_at} /> },
];

function Answered() {
  const query = usePages("/v1/approvals", { query: { state: "answered", limit: 50 } });
  return (
    <Await query={query} rows={6}>
      {() =>
        query.rows.length === 0 ? (
          <Empty>Nothing was answered yet.</Empty>
        ) : (
          <Table
            label="Answered questions"
            rows={query.rows}
            columns={COLUMNS}
            keyOf={({ id }) => id}
            hrefOf={({ run_id, step_id }) => `/runs/${run_id}?step=${step_id}`}
            more={query}
          />
        )
      }
    </Await>
  );
}
