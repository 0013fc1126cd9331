/** Who uses how much disk space, and what the retention settings would remove. */
import { HardDrive } from "lucide-react";
import { useState } from "react";
import { api, client, must, type Schemas } from "../../api/client.ts";
import { refresh } from "../../api/queries.ts";
import { useChange } from "../../kit/change.ts";
import { Button } from "../../ui/button.tsx";
import { FactRow } from "../../ui/facts.tsx";
import { formatBytes, formatField, pluralize } from "../../ui/format.ts";
import { JobProgress } from "../../ui/job-progress.tsx";
import { TextLink } from "../../ui/link.tsx";
import { Await, Empty } from "../../ui/note.tsx";
import { Section } from "../../ui/page.tsx";
import { ProblemNote } from "../../ui/problem-note.tsx";
import { type Column, Table } from "../../ui/table.tsx";
import { Ago } from "../../ui/time.tsx";

interface Row {
  key?: string;
  name: string;
  size: number;
  href?: string;
}

const COLUMNS: Column<Row>[] = [
  {
    title: "What",
    className: "w-2/3 min-w-40",
    cell: ({ name, href }) => (href ? <TextLink href={href}>{name}</TextLink> : name),
  },
  { title: "Size", align: "right", cell: ({ size }) => formatBytes(size) },
];

export function Disk() {
  const query = api.useQuery("get", "/v1/admin/disk");
  const [job, setJob] = useState("");
  const action = useChange();
  const measure = () => action.run(async () => setJob((await must(client.POST("/v1/admin/disk/measure"))).id));
  const button = <Button label="Measure now" kind="primary" busy={action.busy} icon={HardDrive} onClick={measure} />;
  return (
    <Section title="Disk" actions={query.data?.usage ? button : undefined}>
      <ProblemNote error={action.error} />
      {job && (
        <JobProgress
          key={job}
          id={job}
          about="Measuring the disk."
          onEnd={() => refresh("/v1/admin/disk", "/v1/jobs")}
        />
      )}
      <Await query={query}>
        {({ usage }) =>
          usage === null ? (
            <Empty action={button} cli="skep usage disk">
              The disk was never measured.
            </Empty>
          ) : (
            <Measured usage={usage} />
          )
        }
      </Await>
      <div className="mt-6">
        <Retention />
      </div>
    </Section>
  );
}

function Measured({ usage }: { usage: NonNullable<Schemas["DiskUsage"]> }) {
  const parts: [title: string, rows: Row[]][] = [
    ["Kinds", usage.kinds.map(({ kind, count, bytes: size }) => ({ name: `${formatField(kind)}: ${count}`, size }))],
    [
      "Users",
      usage.users.map(({ user_id, name, bytes: size }) => ({
        key: user_id ?? "",
        name: name ?? (user_id ? "A user who is gone" : "Nobody"),
        size,
      })),
    ],
    [
      "Projects",
      usage.projects.map(({ project_id, name, bytes: size }) => ({
        key: project_id,
        name: name ?? "A project that was deleted",
        size,
        ...(name === null ? {} : { href: `/projects/${project_id}` }),
      })),
    ],
    [
      "Largest runs and chats",
      usage.largest.map(({ id, name, bytes: size }) => ({
        key: id,
        name: name ?? (id.startsWith("run_") ? "A run without a title" : "A chat without a title"),
        size,
        ...(id.startsWith("run_") ? { href: `/runs/${id}` } : {}),
      })),
    ],
    [
      "In the container engine",
      (usage.engine ?? []).map(({ kind, project_id, name, count, bytes: size }) => ({
        key: `${kind} ${project_id}`,
        name: `${formatField(kind)} of ${name ?? "a project that was deleted"}: ${count}`,
        size,
        ...(name === null ? {} : { href: `/projects/${project_id}` }),
      })),
    ],
  ];
  return (
    <>
      <FactRow
        facts={[
          ["In all", formatBytes(usage.total_bytes)],
          ["Database", formatBytes(usage.database.bytes)],
          ["Free in it", formatBytes(usage.database.free_bytes)],
          ["Measured", <Ago key="at" at={usage.measured_at} />],
        ]}
      />
      {parts
        .filter(([, rows]) => rows.length > 0)
        .map(([title, rows]) => (
          <Section key={title} title={title}>
            <Table label={title} rows={rows} columns={COLUMNS} keyOf={({ key, name }) => key ?? name} />
          </Section>
        ))}
    </>
  );
}

/** What retention would remove now. */
function Retention() {
  const query = api.useQuery("get", "/v1/admin/retention");
  return (
    <Section title="What goes by age and size">
      <Await query={query}>
        {(found) => (
          <ul className="list-disc pl-5">
            {(["runs", "chats", "transcripts"] as const).map((kind) => {
              const { limit_days, limit_gb, count } = found[kind];
              const limits = [
                ...(limit_days === null ? [] : [pluralize(limit_days, "day")]),
                ...(limit_gb === null ? [] : [`${limit_gb} GB`]),
              ];
              return (
                <li key={kind}>
                  {formatField(kind)}:{" "}
                  {limits.length === 0 ? "kept forever" : `kept ${limits.join(", ")}; ${count} would go now`}
                </li>
              );
            })}
          </ul>
        )}
      </Await>
      <p className="mt-2">
        <TextLink href="/settings?tab=retention">How long history is kept</TextLink>
      </p>
    </Section>
  );
}
