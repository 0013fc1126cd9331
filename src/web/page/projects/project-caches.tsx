/**
 * What the sandboxes of a user's work in a project keep of their home folders. An administrator sees those of all
 * users.
 */
import { Trash2 } from "lucide-react";
import { useState } from "react";
import { api, client, must, type Schemas } from "../../api/client.ts";
import { Confirm } from "../../kit/confirm.tsx";
import { useAdmin } from "../../session/session.tsx";
import { Button } from "../../ui/button.tsx";
import { formatBytes } from "../../ui/format.ts";
import { Await } from "../../ui/note.tsx";
import { notify } from "../../ui/notice.tsx";
import { type Column, Table } from "../../ui/table.tsx";
import { Ago } from "../../ui/time.tsx";

type Cache = Schemas["ProjectCaches"]["items"][number];

const ADDRESS = "/v1/projects/{id}/caches";

const formatOwner = ({ of, user_id, user_name }: Cache): string =>
  of === "set-up" ? "The set-up" : (user_name ?? user_id ?? "Yours");

const COLUMNS: Column<Cache>[] = [
  { title: "Whose", cell: formatOwner },
  { title: "Made", cell: ({ made_at }) => (made_at === null ? "–" : <Ago at={made_at} />) },
  { title: "Size", align: "right", cell: (cache) => formatBytes(cache.bytes) },
];

/** Loaded only when opened, because the engine has to walk all files to determine the sizes. */
export function ProjectCaches({ id }: { id: string }) {
  const [isShown, setShown] = useState(false);
  return (
    <details onToggle={(event) => setShown(event.currentTarget.open)}>
      <summary className="cursor-pointer text-sm text-dim">What its caches hold</summary>
      {isShown && <Shown id={id} />}
    </details>
  );
}

function Shown({ id }: { id: string }) {
  const query = api.useQuery("get", ADDRESS, { params: { path: { id } } });
  const [isClearing, setClearing] = useState(false);
  return (
    <div className="mt-2 flex flex-col gap-3">
      <Await query={query} rows={1}>
        {({ items, unavailable }) =>
          items.length === 0 ? (
            <p className="text-dim">{unavailable ?? "Nothing is kept yet."}</p>
          ) : (
            <>
              <Table label="Caches" rows={items} columns={COLUMNS} keyOf={formatOwner} />
              <Button label="Clear the caches" icon={Trash2} onClick={() => setClearing(true)} className="self-start" />
            </>
          )
        }
      </Await>
      {isClearing && <Clear id={id} onClose={() => setClearing(false)} />}
    </div>
  );
}

function Clear({ id, onClose }: { id: string; onClose(): void }) {
  const admin = useAdmin();
  const act = async () => {
    const { removed, in_use } = await must(client.DELETE(ADDRESS, { params: { path: { id } } }));
    const left = in_use === 0 ? "" : ` ${in_use} in use by a sandbox: clear again once its work has ended.`;
    notify(`${removed} removed.${left}`);
  };
  return (
    <Confirm title="Clear the caches?" word="Clear" changes={[ADDRESS]} onClose={onClose} act={act}>
      {admin ? "Those of everybody who works in this project are removed." : "Yours in this project are removed."} The
      next work downloads its packages again.
    </Confirm>
  );
}
