/** What one execution recalled and wrote, and a button that undoes everything it wrote. */

import { api, client, must } from "../../api/client.ts";
import { useChange } from "../../kit/change.ts";
import { Button } from "../../ui/button.tsx";
import { Dialog } from "../../ui/dialog.tsx";
import { pluralize } from "../../ui/format.ts";
import { TextLink } from "../../ui/link.tsx";
import { Await } from "../../ui/note.tsx";
import { notify } from "../../ui/notice.tsx";
import { ProblemNote } from "../../ui/problem-note.tsx";
import { entryHref, useVaultName } from "./memory.ts";

export function WrittenBy({ execution, onClose }: { execution: string; onClose(): void }) {
  const action = useChange("/v1/memory", "/v1/memory-scores");
  const params = { path: { execution_id: execution } };
  const query = api.useQuery("get", "/v1/memory/executions/{execution_id}", { params });
  const takeBack = () =>
    action.run(async () => {
      const { taken_back, left } = await must(
        client.POST("/v1/memory/executions/{execution_id}/take-back", { params }),
      );
      notify(
        `${pluralize(taken_back.length, "entry", "entries")} taken back${left.length > 0 ? `, ${left.length} left: ${left[0]?.reason}` : ""}.`,
      );
      onClose();
    });
  return (
    <Dialog title="What its execution wrote" onClose={onClose}>
      <Await query={query}>
        {({ recalled, written }) => (
          <>
            <List title="Wrote" entries={written} none="nothing that is still there" />
            <List title="Recalled" entries={recalled} none="nothing" />
            <ProblemNote error={action.error} />
            <p className="mt-3 text-dim">Taking back undoes all that it wrote, except what was changed since.</p>
            <div className="mt-3 flex justify-end gap-2">
              <Button onClick={onClose}>Close</Button>
              <Button kind="danger" busy={action.busy} disabled={written.length === 0} onClick={takeBack}>
                Take back all it wrote
              </Button>
            </div>
          </>
        )}
      </Await>
    </Dialog>
  );
}

function List({
  title,
  entries,
  none,
}: {
  title: string;
  entries: { agent_id: string; entry: string }[];
  none: string;
}) {
  const vaultName = useVaultName();
  return (
    <div className="mb-3">
      <h3 className="mb-1 text-sm font-semibold">{title}</h3>
      {entries.length === 0 ? (
        <p className="text-dim">{none}</p>
      ) : (
        <ul className="list-disc pl-5">
          {entries.map(({ agent_id, entry }) => (
            <li key={`${agent_id}/${entry}`}>
              <TextLink href={entryHref(agent_id, entry)}>
                {vaultName(agent_id)}: {entry}
              </TextLink>
            </li>
          ))}
        </ul>
      )}
    </div>
  );
}
