/** The server itself: its health, containers, notifications, requests, the audit log, updates. */
import { Fragment } from "react";
import { api, type Schemas } from "../../api/client.ts";
import { Button } from "../../ui/button.tsx";
import { FactList } from "../../ui/facts.tsx";
import { count, formatDuration, formatField, pluralize } from "../../ui/format.ts";
import { Await } from "../../ui/note.tsx";
import { PageHeader, Panel, Section } from "../../ui/page.tsx";
import { ProblemNote } from "../../ui/problem-note.tsx";
import { Status } from "../../ui/status.tsx";
import { type Column, Table } from "../../ui/table.tsx";
import { Views } from "../../ui/tabs.tsx";
import { Ago } from "../../ui/time.tsx";
import { AuditLog } from "./audit-log.tsx";
import { Backups } from "./backups.tsx";
import { Containers } from "./containers.tsx";
import { Disk } from "./disk.tsx";
import { Hosts } from "./hosts.tsx";

export default function SystemPage() {
  return (
    <>
      <PageHeader title="System" cli="skep doctor" />
      <Views
        label="Views"
        views={[
          { id: "health", title: "Health", view: <Health /> },
          { id: "backups", title: "Backups", view: <Backups /> },
          { id: "disk", title: "Disk", view: <Disk /> },
          { id: "containers", title: "Containers", view: <Containers /> },
          { id: "hosts", title: "Hosts", view: <Hosts /> },
          { id: "audit", title: "Audit log", view: <AuditLog /> },
          { id: "requests", title: "Requests", view: <Requests /> },
        ]}
      />
    </>
  );
}

function Health() {
  const status = api.useQuery("get", "/v1/status");
  return (
    <>
      <Section title="State">
        <Await query={status}>
          {(now) => (
            <Panel className="p-4">
              <FactList
                facts={[
                  ["The server", <Status key="status" status={now.status} />],
                  ["Running for", formatDuration(now.uptime_ms ?? 0)],
                  ["Database", now.database?.connected ? "answers" : "does not answer"],
                  ["Container engine", now.docker?.connected ? `answers, ${now.docker.version}` : "does not answer"],
                  ["Agents work in", <Sandbox key="sandbox" sandbox={now.sandbox} />],
                  ["Readers of events", now.broker.subscribers],
                  ...Object.entries(now.counts ?? {}).map(([name, value]): [string, number] => [
                    COUNTED[name] ?? formatField(name),
                    value,
                  ]),
                ]}
              />
            </Panel>
          )}
        </Await>
      </Section>
      <Version />
    </>
  );
}

/** Counts whose name in the API differs from the pages' words. */
const COUNTED: Record<string, string> = { mcp_servers: "Tool servers", mcp_tools: "Tools of those" };

/** Where agents work, and below it why. */
function Sandbox({ sandbox }: Pick<Schemas["Status"], "sandbox">) {
  if (!sandbox) return "–";
  const place =
    sandbox.kind === "docker"
      ? "containers"
      : sandbox.kind === "kubernetes"
        ? "Pods of a Kubernetes cluster"
        : `this server's process, ${sandbox.shell ? "with a shell" : "without a shell"}`;
  return (
    <>
      {place}
      {sandbox.reason && <span className="block text-sm text-dim">{sandbox.reason}</span>}
    </>
  );
}

function Version() {
  const version = api.useQuery("get", "/v1/updates/version");
  const check = api.useQuery("get", "/v1/updates/check", undefined, {
    enabled: false,
    staleTime: Number.POSITIVE_INFINITY,
  });
  return (
    <Section
      title="Version"
      actions={<Button label="Look for an update" busy={check.isFetching} onClick={() => check.refetch()} />}
    >
      <ProblemNote error={check.error} />
      {check.data && (
        <p role="status" className="mb-2">
          {check.data.update_available ? (
            <>
              <b>{check.data.latest}</b> is there. <code>skep update</code> installs it.
            </>
          ) : check.data.checked ? (
            "This is the newest version."
          ) : (
            (check.data.reason ?? "Not looked for.")
          )}
        </p>
      )}
      <Await query={version} rows={1}>
        {(build) => (
          <Panel className="p-4">
            <FactList
              facts={[
                ["Version", build.version],
                ["Commit", <code key="commit">{build.commit}</code>],
                ["Built", build.built_at ? <Ago key="built" at={build.built_at} sentence /> : "–"],
                ["Runtime", build.runtime],
                ["Platform", build.platform],
              ]}
            />
          </Panel>
        )}
      </Await>
    </Section>
  );
}

/** Lets an address break before slashes instead of within a word. */
const Breakable = ({ path }: { path: string }) =>
  path.split(/(?=\/)/).map((part, at) => (
    <Fragment key={`${at.toString()}${part}`}>
      <wbr />
      {part}
    </Fragment>
  ));

type RouteUse = Schemas["ApiUsage"]["by_route"][number];

const REQUESTS: Column<RouteUse>[] = [
  {
    title: "Route",
    className: "w-1/2",
    cell: ({ method, route }) => (
      <code className="font-mono text-sm">
        {method} <Breakable path={route} />
      </code>
    ),
  },
  { title: "Requests", align: "right", cell: ({ requests }) => count(requests) },
  { title: "Errors", wide: true, align: "right", cell: ({ errors }) => count(errors) },
  { title: "Refused", wide: true, align: "right", cell: ({ refused }) => count(refused) },
  { title: "Mean", align: "right", cell: ({ average_ms }) => `${average_ms.toFixed(1)} ms` },
  { title: "Longest", wide: true, align: "right", cell: ({ max_ms }) => `${Math.round(max_ms)} ms` },
];

function Requests() {
  const usage = api.useQuery("get", "/v1/admin/api-usage");
  return (
    <Await query={usage} rows={6}>
      {({ by_route, totals }) => (
        <>
          <p className="mb-3 text-dim">
            {pluralize(totals.requests, "request")}, {pluralize(totals.errors, "error")}, {count(totals.refused)}{" "}
            refused.
          </p>
          <Table
            label="Requests by route"
            rows={by_route}
            columns={REQUESTS}
            keyOf={({ method, route }) => `${method} ${route}`}
          />
        </>
      )}
    </Await>
  );
}
