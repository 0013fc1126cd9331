/**
 * The code host: the connection's state, its repositories, the rules that start runs, and the webhooks that it sent.
 */

import { Plug } from "lucide-react";
import { type ReactNode, useState } from "react";
import { api, client, type Schemas, siteUrl } from "../../api/client.ts";
import { usePages } from "../../api/queries.ts";
import { Confirm } from "../../kit/confirm.tsx";
import { List } from "../../kit/list.tsx";
import { useAdmin } from "../../session/session.tsx";
import { Button } from "../../ui/button.tsx";
import { Badge, FactList } from "../../ui/facts.tsx";
import { TextLink } from "../../ui/link.tsx";
import { Await, Empty, Warning } from "../../ui/note.tsx";
import { CopyButton, PageHeader, Panel } from "../../ui/page.tsx";
import { ProblemNote } from "../../ui/problem-note.tsx";
import { Status } from "../../ui/status.tsx";
import { type Column, nameColumn } from "../../ui/table.tsx";
import { useParam, Views } from "../../ui/tabs.tsx";
import { Ago } from "../../ui/time.tsx";
import { AddProject } from "../projects/project-form.tsx";
import { ConnectDialog } from "./connect-dialog.tsx";
import { Deliveries } from "./deliveries.tsx";
import { RulesView } from "./rules.tsx";

type HostStatus = Schemas["CodeHostStatus"];
type Repository = Schemas["HostRepository"];

const LINES: Record<string, string> = {
  repositories: "skep codehost repos",
  rules: "skep codehost",
  deliveries: "skep codehost deliveries",
};

export default function CodeHostPage() {
  const admin = useAdmin();
  const [tab] = useParam("tab");
  const more = [
    { id: "rules", title: "Rules", view: <RulesView /> },
    { id: "deliveries", title: "Deliveries", view: <Deliveries /> },
  ];
  return (
    <>
      <PageHeader
        title="Code host"
        about="GitHub, Gitea or Forgejo: private repositories are cloned from there, issues start runs, and runs open pull requests."
        cli={LINES[tab] ?? "skep codehost status"}
      />
      <Views
        label="Views of the code host"
        views={[
          { id: "status", title: "Connection", view: <ConnectionView /> },
          { id: "repositories", title: "Repositories", view: <Repositories /> },
          ...(admin ? more : []),
        ]}
      />
    </>
  );
}

function ConnectionView() {
  const admin = useAdmin();
  const [connecting, setConnecting] = useState(false);
  const query = api.useQuery("get", "/v1/codehost/app/status");
  return (
    <Await query={query} rows={5}>
      {(status) =>
        status.configured ? (
          <Connected status={status} onEdit={admin ? () => setConnecting(true) : undefined}>
            {connecting && <ConnectDialog onClose={() => setConnecting(false)} />}
          </Connected>
        ) : (
          <>
            {status.error && <Warning>{status.error.message}</Warning>}
            <Empty
              cli="skep codehost connect --kind github --app-id ID --app-key FILE"
              action={
                admin && (
                  <Button kind="primary" icon={Plug} iconSize={15} onClick={() => setConnecting(true)}>
                    Connect a code host
                  </Button>
                )
              }
            >
              {admin
                ? "No code host is connected: only public repositories can be cloned."
                : "No code host is connected. An administrator can connect one."}
            </Empty>
            {connecting && <ConnectDialog onClose={() => setConnecting(false)} />}
          </>
        )
      }
    </Await>
  );
}

function Connected({
  status,
  onEdit,
  children,
}: {
  status: HostStatus;
  onEdit: (() => void) | undefined;
  children: ReactNode;
}) {
  const [forgetting, setForgetting] = useState(false);
  const { connected, kind, url, login, name, permissions, error, webhook } = status;
  const address = new URL(siteUrl(webhook.path), location.origin).href;
  const allowed = Object.entries(permissions).map(([what, level]) => `${what.replaceAll("_", " ")}: ${level}`);
  const { queued, done, ignored, failed } = webhook.deliveries;
  return (
    <>
      {error && <ProblemNote error={{ detail: error.message, code: error.code }} />}
      <Panel className="p-4">
        <FactList
          facts={[
            ["State", <Status key="state" status={connected ? "ok" : "failed"} />],
            [
              "Host",
              <span key="host" className="break-all">
                {kind === "gitea" ? "Gitea or Forgejo" : "GitHub"}, {url}
              </span>,
            ],
            ["Acts as", login === null ? "nobody yet" : name && name !== login ? `${name} (${login})` : login],
            allowed.length > 0 ? ["May", allowed.join(", ")] : null,
            [
              "Webhook",
              webhook.configured ? (
                <span key="webhook" className="inline-flex items-center gap-1">
                  <code className="break-all">{address}</code>
                  <CopyButton text={address} label="Copy the webhook's address" />
                </span>
              ) : (
                "no secret is set, so all deliveries are refused"
              ),
            ],
            [
              "Last delivery",
              webhook.last_delivery_at ? <Ago key="last" at={webhook.last_delivery_at} sentence /> : "none yet",
            ],
            ["Deliveries", `${done} acted on, ${ignored} ignored, ${queued} waiting, ${failed} failed`],
          ]}
        />
      </Panel>
      {onEdit && (
        <div className="mt-3 flex flex-wrap gap-2">
          <Button onClick={onEdit}>Change the connection</Button>
          <Button label="Disconnect" kind="danger" onClick={() => setForgetting(true)} />
        </div>
      )}
      {children}
      {forgetting && (
        <Confirm
          title="Disconnect the code host?"
          word="Disconnect"
          onClose={() => setForgetting(false)}
          changes={["/v1/codehost"]}
          act={() => client.DELETE("/v1/codehost/connection")}
        >
          Its secrets are removed here, and no run can reach it. Rules stay. Where the server's environment holds
          CODEHOST_… variables, they count again.
        </Confirm>
      )}
    </>
  );
}

function Repositories() {
  const query = usePages("/v1/codehost/repos", { query: { limit: 50 } });
  const [adding, setAdding] = useState<Repository>();
  const columns: Column<Repository>[] = [
    nameColumn("Repository", "w-1/2 min-w-40", ({ full_name, description }) => [full_name, description]),
    {
      title: "Kind",
      wide: true,
      cell: (one) => (
        <span className="inline-flex gap-1.5">
          <Badge>{one.private ? "private" : "public"}</Badge>
          {one.archived && <Badge tone="wait">archived</Badge>}
        </span>
      ),
    },
    { title: "Branch", wide: true, cell: ({ default_branch }) => <code>{default_branch}</code> },
    {
      title: "Project",
      align: "right",
      cell: (one) =>
        one.project_id ? (
          <TextLink href={`/projects/${one.project_id}`}>Open the project</TextLink>
        ) : (
          <Button label="Add" onClick={() => setAdding(one)} aria-label={`Add ${one.full_name} as a project`} />
        ),
    },
  ];
  return (
    <>
      <List
        query={query}
        label="Repositories"
        columns={columns}
        keyOf={({ full_name }) => full_name}
        lines={5}
        empty={{
          text: "The account that Skep acts as reaches no repository. Let it into one on the host.",
          cli: "skep codehost repos",
        }}
      />
      {adding && (
        <AddProject
          name={adding.full_name.split("/").at(-1)}
          repository={adding.clone_url}
          onClose={() => setAdding(undefined)}
        />
      )}
    </>
  );
}
