/** The server's notices: for example about a budget that is nearly used, a clone that failed, an update. */

import { client } from "../../api/client.ts";
import { usePages } from "../../api/queries.ts";
import { useChange } from "../../kit/change.ts";
import { RowList } from "../../kit/row-list.tsx";
import { Button, ButtonLink } from "../../ui/button.tsx";
import { Badge } from "../../ui/facts.tsx";
import { Empty } from "../../ui/note.tsx";
import { ProblemNote } from "../../ui/problem-note.tsx";
import { Ago } from "../../ui/time.tsx";

const TONES = { info: "plain", warning: "wait", error: "bad" } as const;

export function Notices() {
  const query = usePages("/v1/admin/notifications", { query: { limit: 50 } });
  const action = useChange("/v1/admin/notifications");
  const dismiss = (id: string) =>
    action.run(() => client.POST("/v1/admin/notifications/{id}/dismiss", { params: { path: { id } } }));
  return (
    <>
      <ProblemNote error={action.error} />
      <RowList
        query={query}
        keyOf={({ id }) => id}
        lines={3}
        className="flex-wrap items-start gap-x-4 gap-y-1 px-4 py-3"
        empty={
          <Empty action={<ButtonLink href="/system">See the health checks</ButtonLink>} cli="skep doctor">
            All is well. What needs an administrator, such as a full disk or a failed backup, shows here.
          </Empty>
        }
      >
        {({ id, level, title, detail, times, updated_at, dismissed_at }) => (
          <>
            <Badge tone={TONES[level]}>{level}</Badge>
            <div className="min-w-0 flex-1 basis-64">
              <p className="font-medium">{title}</p>
              {detail && <p className="text-sm whitespace-pre-wrap text-dim">{detail}</p>}
              <p className="text-xs text-faint">
                <Ago at={updated_at} sentence />
                {times > 1 && ` · ${times} times`}
              </p>
            </div>
            {!dismissed_at && <Button label="Dismiss" kind="quiet" onClick={() => dismiss(id)} />}
          </>
        )}
      </RowList>
    </>
  );
}
