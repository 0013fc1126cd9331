/** One notification channel: what was sent to it, a test, and its settings. */

import { useState } from "react";
import { api, client, must, type Schemas } from "../../api/client.ts";
import { refresh, usePages } from "../../api/queries.ts";
import { useChange } from "../../kit/change.ts";
import { Confirm } from "../../kit/confirm.tsx";
import { List } from "../../kit/list.tsx";
import { Button } from "../../ui/button.tsx";
import { Dialog } from "../../ui/dialog.tsx";
import { FactRow } from "../../ui/facts.tsx";
import { NameLink } from "../../ui/link.tsx";
import { ProblemNote } from "../../ui/problem-note.tsx";
import { Status } from "../../ui/status.tsx";
import type { Column } from "../../ui/table.tsx";
import { Ago } from "../../ui/time.tsx";
import { ChannelForm } from "./channel-form.tsx";
import { type Channel, KINDS, type LinkCode } from "./channels.ts";
import { CodeOnce } from "./shown-once.tsx";

type Delivery = Schemas["NotificationChannelDelivery"];

const COLUMNS: Column<Delivery>[] = [
  {
    title: "Sent",
    className: "w-3/5 min-w-40",
    cell: ({ message, error, run_id }) => (
      <>
        <span className="line-clamp-2 font-medium">
          {run_id ? <NameLink href={`/runs/${run_id}`}>{message.title}</NameLink> : message.title}
        </span>
        <span className={`text-sm ${error ? "text-bad" : "line-clamp-2 text-dim"}`}>{error ?? message.text}</span>
      </>
    ),
  },
  { title: "State", cell: ({ state }) => <Status status={state} /> },
  { title: "Attempts", wide: true, align: "right", cell: ({ attempts }) => attempts },
  { title: "When", align: "right", cell: ({ created_at }) => <Ago at={created_at} /> },
];

export function ChannelView({ channel, onClose }: { channel: Channel; onClose(): void }) {
  const [dialog, setDialog] = useState<"edit" | "delete" | null>(null);
  const [tested, setTested] = useState<Delivery>();
  const action = useChange("/v1/notification-channels");
  const params = { path: { id: channel.id } };
  const project = api.useQuery(
    "get",
    "/v1/projects/{id}",
    { params: { path: { id: channel.project_id ?? "" } } },
    { enabled: channel.project_id !== null },
  );
  const test = () =>
    action.run(async () => {
      setTested(undefined);
      setTested(await must(client.POST("/v1/notification-channels/{id}/test", { params })));
    });
  const [link, setLink] = useState<LinkCode>();
  const makeCode = () =>
    action.run(async () => setLink(await must(client.POST("/v1/notification-channels/{id}/code", { params }))));
  const closeDialog = () => setDialog(null);
  if (link)
    return (
      <CodeOnce
        link={link}
        onClose={() => {
          setLink(undefined);
          void refresh("/v1/notification-channels");
        }}
      />
    );
  if (dialog === "edit") return <ChannelForm channel={channel} onClose={closeDialog} />;
  if (dialog === "delete")
    return (
      <Confirm
        title={`Delete ${channel.name}?`}
        word="Delete the channel"
        onClose={closeDialog}
        changes={["/v1/notification-channels"]}
        act={() => must(client.DELETE("/v1/notification-channels/{id}", { params })).then(onClose)}
      >
        Nothing more is sent there, and the list of what was sent is removed.
      </Confirm>
    );
  return (
    <Dialog title={channel.name} onClose={onClose} wide>
      <FactRow
        facts={[
          ["Kind", KINDS[channel.kind]],
          ["To", channel.target],
          ["Runs of", channel.whose === "everyone" ? "everyone" : "you"],
          ["Project", channel.project_id === null ? "all" : (project.data?.name ?? channel.project_id)],
          ["State", channel.enabled ? "on" : "off"],
          ...answerFacts(channel),
        ]}
      />
      <div className="mb-3 flex flex-wrap gap-2">
        <Button label={action.busy ? "Sending…" : "Send a test"} kind="primary" busy={action.busy} onClick={test} />
        {channel.messenger_id !== null && (
          <Button onClick={makeCode}>{channel.linked_to ? "Link another chat" : "Link a chat"}</Button>
        )}
        <Button onClick={() => setDialog("edit")}>Edit</Button>
        <Button label="Delete" kind="danger" onClick={() => setDialog("delete")} />
      </div>
      <ProblemNote error={action.error} />
      {tested && (
        <p
          role="status"
          className={`mb-3 rounded-md px-3 py-2 ${tested.state === "sent" ? "bg-ok-soft" : "bg-bad-soft"}`}
        >
          {tested.state === "sent" ? "The test was sent." : `The test was not sent: ${tested.error ?? tested.state}`}
        </p>
      )}
      <Deliveries id={channel.id} />
    </Dialog>
  );
}

function answerFacts({ kind, messenger_id, linked_to, answers }: Channel): [string, string][] {
  if (messenger_id !== null) return [["Linked to", linked_to ?? "nobody yet"]];
  return kind === "ntfy" ? [["Buttons", answers ? "answer" : "none"]] : [];
}

function Deliveries({ id }: { id: string }) {
  const query = usePages("/v1/notification-channels/{id}/deliveries", {
    path: { id },
    query: { limit: 20 },
  });
  return (
    <List
      query={query}
      label="Deliveries"
      columns={COLUMNS}
      keyOf={(one) => one.id}
      empty={{ text: "Nothing was sent there yet. Send a test to try it.", cli: `skep notifications test ${id}` }}
    />
  );
}
