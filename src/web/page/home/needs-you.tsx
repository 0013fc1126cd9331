/** What waits for the reader: the first question with its answers, the others as lines that can be opened. */
import { ChevronRight, CirclePause } from "lucide-react";
import { useState } from "react";
import { Link } from "wouter";
import { api, type Schemas } from "../../api/client.ts";
import { Button } from "../../ui/button.tsx";
import { Await } from "../../ui/note.tsx";
import { Section } from "../../ui/page.tsx";
import { firstWords } from "../../ui/plain-text.ts";
import { Ago } from "../../ui/time.tsx";
import { ApprovalCard } from "../runs/approval-card.tsx";
import { PermissionCard } from "../runs/permission-card.tsx";
import { AnswerSeveral } from "./answer-several.tsx";

type Step = Schemas["PendingApproval"];
type Approval = Step | Schemas["PermissionRequest"];

/** How many questions are shown here; the inbox has all. */
const SHOWN = 4;

export function NeedsYou() {
  const query = api.useQuery("get", "/v1/approvals", { params: { query: { limit: 20 } } });
  const [several, setSeveral] = useState(false);
  const [chosen, choose] = useState("");
  return (
    <Await query={query} rows={2}>
      {({ items, next_cursor }) => {
        const open = items.find(({ id }) => id === chosen) ?? items[0];
        const steps = items.filter((one): one is Step => one.kind === "step");
        const many = `${items.length}${next_cursor ? "+" : ""}`;
        return (
          <Section
            title={items.length > 0 ? `Needs you (${many})` : "Needs you"}
            actions={steps.length > 1 && <Button onClick={() => setSeveral(true)}>Answer several</Button>}
          >
            {!open && <Quiet>Nothing waits for you.</Quiet>}
            <div className="flex flex-col gap-2">
              {items
                .slice(0, SHOWN)
                .map((approval) =>
                  approval.id === open?.id ? (
                    <Card key={approval.id} approval={approval} />
                  ) : (
                    <Line key={approval.id} approval={approval} open={() => choose(approval.id)} />
                  ),
                )}
            </div>
            {items.length > SHOWN && (
              <Link
                href="/inbox"
                className="mt-2 inline-flex min-h-6 items-center text-sm text-dim hover:underline max-sm:min-h-11"
              >
                All {many} in the inbox
              </Link>
            )}
            {several && <AnswerSeveral approvals={steps} onClose={() => setSeveral(false)} />}
          </Section>
        );
      }}
    </Await>
  );
}

/** The line of a section that has nothing to show. */
export const Quiet = ({ children }: { children: string }) => (
  <p className="rounded-lg border border-dashed border-line-strong px-4 py-3 text-dim">{children}</p>
);

const Card = ({ approval }: { approval: Approval }) =>
  approval.kind === "step" ? <ApprovalCard approval={approval} compact /> : <PermissionCard request={approval} />;

function Line({ approval, open }: { approval: Approval; open(): void }) {
  const { message, step_id, requested_at } = approval;
  return (
    <button
      type="button"
      data-row
      onClick={open}
      className="flex min-h-11 w-full items-center gap-2.5 rounded-lg border border-wait/40 bg-panel px-3 py-1.5 text-left hover:bg-hover"
    >
      <CirclePause aria-hidden size={15} className="shrink-0 text-wait" />
      <span className="min-w-0 flex-1">
        <span className="line-clamp-1 font-medium">{firstWords(message) || step_id}</span>
        <span className="line-clamp-1 text-sm text-dim">
          {approval.kind === "step" ? approval.task_description : approval.about}
        </span>
      </span>
      <span className="text-xs text-dim">
        <Ago at={requested_at} />
      </span>
      <ChevronRight aria-hidden size={15} className="shrink-0 text-faint" />
    </button>
  );
}
