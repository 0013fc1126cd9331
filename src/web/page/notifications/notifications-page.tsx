/** The channels on which you are notified about runs, and the server's notices. */
import { BellPlus } from "lucide-react";
import type { Schemas } from "../../api/client.ts";
import { usePages } from "../../api/queries.ts";
import { List } from "../../kit/list.tsx";
import { Button } from "../../ui/button.tsx";
import { Badge } from "../../ui/facts.tsx";
import { PageHeader } from "../../ui/page.tsx";
import { type Column, nameColumn } from "../../ui/table.tsx";
import { useParam, Views } from "../../ui/tabs.tsx";
import { Ago } from "../../ui/time.tsx";
import { ChannelForm } from "./channel-form.tsx";
import { ChannelView } from "./channel-view.tsx";
import { KINDS, TRIGGERS } from "./channels.ts";
import { Messengers } from "./messengers.tsx";
import { Notices } from "./notices.tsx";
import { PushButton } from "./push-button.tsx";

type Channel = Schemas["NotificationChannel"];

function State({ channel: { enabled, last_error, last_sent_at } }: { channel: Channel }) {
  if (!enabled) return <Badge>off</Badge>;
  if (last_error) return <Badge tone="bad">failed</Badge>;
  return last_sent_at ? <Badge tone="ok">works</Badge> : <Badge>never used</Badge>;
}

const COLUMNS: Column<Channel>[] = [
  nameColumn("Channel", "w-2/5 min-w-36", ({ name, kind, target }) => [name, `${KINDS[kind]}, ${target}`]),
  { title: "State", className: "whitespace-nowrap", cell: (channel) => <State channel={channel} /> },
  {
    title: "When",
    wide: true,
    cell: ({ on }) => (on.length === 3 ? "always" : on.map((one) => TRIGGERS[one]).join(", ")),
  },
  { title: "Runs of", wide: true, cell: ({ whose }) => (whose === "everyone" ? "everyone" : "you") },
  { title: "Last sent", align: "right", cell: ({ last_sent_at }) => <Ago at={last_sent_at} /> },
];

export default function NotificationsPage() {
  return (
    <>
      <PageHeader
        title="Notifications"
        about="Skep can tell you that a run waits for you, failed or ended, where you will see it."
        cli="skep notifications"
      />
      <Views
        label="Views of notifications"
        views={[
          { id: "channels", title: "Channels", view: <Channels /> },
          { id: "messengers", title: "Messengers", view: <Messengers /> },
          { id: "notices", title: "Notices", view: <Notices /> },
        ]}
      />
    </>
  );
}

function Channels() {
  const [shown, show] = useParam("channel");
  const query = usePages("/v1/notification-channels", { query: { limit: 100 } });
  const channel = query.rows.find(({ id }) => id === shown);
  const add = <Button label="Add a channel" kind="primary" icon={BellPlus} iconSize={15} onClick={() => show("new")} />;
  return (
    <>
      <List
        label="Channels"
        query={query}
        columns={COLUMNS}
        keyOf={({ id }) => id}
        hrefOf={({ id }) => `/notifications?channel=${id}`}
        bar={
          <div className="mb-3 flex flex-wrap justify-end gap-2">
            <PushButton channels={query.rows} />
            {add}
          </div>
        }
        empty={{
          text: "Nothing is sent to you yet. Add a messenger, an ntfy topic, a webhook or your mailbox.",
          action: (
            <>
              {add} <PushButton channels={query.rows} />
            </>
          ),
          cli: "skep notifications add ntfy phone --address https://ntfy.sh/TOPIC",
        }}
      />
      {shown === "new" && <ChannelForm channel={undefined} onClose={() => show("")} onMade={show} />}
      {channel && <ChannelView key={channel.id} channel={channel} onClose={() => show("")} />}
    </>
  );
}
