/** The server's backups: make one, download or delete existing ones. */

import { Archive, Download, Trash2 } from "lucide-react";
import { useState } from "react";
import { Link } from "wouter";
import { api, client, must, type Schemas, siteUrl } from "../../api/client.ts";
import { refresh, usePages } from "../../api/queries.ts";
import { useChange } from "../../kit/change.ts";
import { Confirm } from "../../kit/confirm.tsx";
import { List } from "../../kit/list.tsx";
import { BackupTrouble } from "../../ui/backup-trouble.tsx";
import { Button, IconButton } from "../../ui/button.tsx";
import { Badge, FactRow } from "../../ui/facts.tsx";
import { formatBytes, pluralize } from "../../ui/format.ts";
import { JobProgress } from "../../ui/job-progress.tsx";
import { TextLink } from "../../ui/link.tsx";
import { Await } from "../../ui/note.tsx";
import { CliLine, Section } from "../../ui/page.tsx";
import { ProblemNote } from "../../ui/problem-note.tsx";
import type { Column } from "../../ui/table.tsx";
import { Ago } from "../../ui/time.tsx";

type Backup = Schemas["Backup"];

const COLUMNS: Column<Backup>[] = [
  {
    title: "Backup",
    className: "w-1/2 min-w-40",
    cell: ({ id, left_out, scheduled }) => (
      <>
        <code className="text-sm">{id}</code>
        {scheduled && (
          <span className="ml-2">
            <Badge>Scheduled</Badge>
          </span>
        )}
        <LeftOut paths={left_out ?? []} />
      </>
    ),
  },
  { title: "Size", align: "right", cell: (one) => formatBytes(one.bytes) },
  { title: "Made", wide: true, align: "right", cell: ({ created_at }) => <Ago at={created_at} /> },
  { title: "Actions", quiet: true, align: "right", cell: (one) => <Actions backup={one} /> },
];

export function Backups() {
  const query = usePages("/v1/admin/backups", { query: { limit: 50 } });
  // A backup that is already being made is shown as well.
  const running = api.useQuery("get", "/v1/jobs", { params: { query: { limit: 50 } } });
  const [started, setStarted] = useState("");
  const action = useChange();
  const job =
    started || running.data?.items.find(({ kind, finished_at }) => kind === "backup" && finished_at === null)?.id;
  const make = () => action.run(async () => setStarted((await must(client.POST("/v1/admin/backups"))).id));
  const button = <Button label="Make a backup" kind="primary" busy={action.busy} icon={Archive} onClick={make} />;
  return (
    <Section title="Backups" actions={query.rows.length > 0 && button}>
      <p className="max-w-prose text-dim">
        Everything kept here in one file, but the keys of its secrets: keep a copy of the data folder's{" "}
        <code>keys/</code> elsewhere, once. Backups lie in the data folder, so download them too.{" "}
        <TextLink href="/settings?tab=retention">How long those made by hand are kept</TextLink>
      </p>
      <div className="mb-3">
        <CliLine line="skep backup skep.tar.gz" />
      </div>
      <Schedule />
      <ProblemNote error={action.error} />
      {job && (
        <JobProgress
          key={job}
          id={job}
          about="Making a backup."
          onEnd={() => refresh("/v1/admin/backups", "/v1/admin/backup-schedule", "/v1/jobs")}
          renderEnd={({ state, error }) =>
            state === "failed" ? (
              <p role="alert" className="mb-3 rounded-md bg-bad-soft px-3 py-2">
                No backup was made: {error?.message}
              </p>
            ) : null
          }
        />
      )}
      <List
        query={query}
        label="Backups"
        columns={COLUMNS}
        keyOf={({ id }) => id}
        empty={{ text: "There is no backup yet.", action: button, cli: "skep backup skep.tar.gz" }}
      />
    </Section>
  );
}

/** When the next scheduled backup is due, and how the last one went. */
function Schedule() {
  const query = api.useQuery("get", "/v1/admin/backup-schedule");
  return (
    <Await query={query} rows={1}>
      {({ schedule, timezone, folder, next_at, last_success_at, error, overdue }) => (
        <>
          <BackupTrouble error={error} overdue={overdue} />
          <FactRow
            facts={[
              [
                "Made by itself",
                <Link key="when" href="/settings?tab=backup" className="underline">
                  {schedule === null ? "Never" : `${schedule} ${timezone}`}
                </Link>,
              ],
              schedule === null
                ? null
                : ["Last success", last_success_at ? <Ago key="at" at={last_success_at} /> : "None yet"],
              next_at === null ? null : ["Next", new Date(next_at).toLocaleString()],
              schedule === null ? null : ["Folder", <code key="folder">{folder}</code>],
            ]}
          />
        </>
      )}
    </Await>
  );
}

function LeftOut({ paths }: { paths: string[] }) {
  if (paths.length === 0) return null;
  return (
    <details className="mt-1 text-sm text-dim">
      <summary>Left out: {pluralize(paths.length, "path")}</summary>
      <p className="mt-1">Links that lead away, and files that agents closed to the server:</p>
      <ul className="max-h-60 overflow-y-auto">
        {paths.map((path) => (
          <li key={path} className="font-mono text-xs break-all">
            {path}
          </li>
        ))}
      </ul>
    </details>
  );
}

function Actions({ backup: { id } }: { backup: Backup }) {
  const [deleting, setDeleting] = useState(false);
  const params = { path: { id } };
  return (
    <span className="inline-flex items-center gap-1">
      <a
        href={siteUrl(`/v1/admin/backups/${id}/content`)}
        download={`${id}.tar.gz`}
        aria-label={`Download ${id}`}
        title="Download"
        className="inline-flex size-8 items-center justify-center rounded-md text-dim hover:bg-hover hover:text-ink max-sm:size-11"
      >
        <Download aria-hidden size={15} />
      </a>
      <IconButton label={`Delete ${id}`} onClick={() => setDeleting(true)} icon={Trash2} iconSize={15} />
      {deleting && (
        <Confirm
          title="Delete the backup?"
          word="Delete the backup"
          onClose={() => setDeleting(false)}
          changes={["/v1/admin/backups"]}
          act={() => client.DELETE("/v1/admin/backups/{id}", { params })}
        >
          {id} cannot be brought back. A file that was downloaded stays.
        </Confirm>
      )}
    </span>
  );
}
