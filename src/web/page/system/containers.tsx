/** The containers of this instance with their live output, and images to pull. */

import { Download } from "lucide-react";
import { useState } from "react";
import { api, client, problemOf, type Schemas } from "../../api/client.ts";
import { FormDialog } from "../../kit/form-dialog.tsx";
import { List } from "../../kit/list.tsx";
import { AgentName } from "../../session/actor.tsx";
import { Button, ButtonLink } from "../../ui/button.tsx";
import { Dialog } from "../../ui/dialog.tsx";
import { Field, Input } from "../../ui/field.tsx";
import { FollowLog } from "../../ui/follow-log.tsx";
import { formatBytes } from "../../ui/format.ts";
import { Empty } from "../../ui/note.tsx";
import { Section } from "../../ui/page.tsx";
import { type Column, nameColumn, TwoLines } from "../../ui/table.tsx";
import { useParam } from "../../ui/tabs.tsx";
import { Ago } from "../../ui/time.tsx";

type Container = Schemas["Container"];

const COLUMNS: Column<Container>[] = [
  nameColumn("Container", "w-2/5 min-w-44", ({ name, image }) => [name, image]),
  { title: "State", cell: ({ state, status }) => <TwoLines first={state} second={status} /> },
  { title: "Agent", wide: true, cell: ({ agent_id }) => (agent_id ? <AgentName id={agent_id} /> : "–") },
  {
    title: "Processor",
    wide: true,
    align: "right",
    cell: ({ cpu_percent }) => (cpu_percent === null ? "–" : `${cpu_percent.toFixed(0)} %`),
  },
  {
    title: "Memory",
    wide: true,
    align: "right",
    cell: ({ memory_bytes }) => (memory_bytes === null ? "–" : formatBytes(memory_bytes)),
  },
  { title: "Since", wide: true, align: "right", cell: ({ created_at }) => <Ago at={created_at} /> },
];

const EVERY_MS = 5_000;

export function Containers() {
  const [open, setOpen] = useParam("container");
  const [pulling, setPulling] = useState(false);
  const query = api.useQuery("get", "/v1/admin/containers", undefined, { refetchInterval: EVERY_MS });
  const absent = query.error ? problemOf(query.error).status === 503 : false;
  return (
    <Section
      title="Of this instance"
      actions={<Button label="Pull an image" icon={Download} onClick={() => setPulling(true)} />}
    >
      {absent ? (
        <Empty
          action={<ButtonLink href="/settings?tab=sandbox">Open the sandbox settings</ButtonLink>}
          cli="skep doctor"
        >
          {problemOf(query.error).detail}
        </Empty>
      ) : (
        <List
          label="Containers"
          query={query}
          columns={COLUMNS}
          keyOf={({ id }) => id}
          hrefOf={({ id }) => `?tab=containers&container=${id}`}
          empty={{
            text: "No agent is at work in a container now. What agents work in shows here while it runs.",
            action: <ButtonLink href="/activity?tab=now">See who is at work</ButtonLink>,
          }}
        />
      )}
      {open && <Logs id={open} onClose={() => setOpen("")} />}
      {pulling && <PullImage onClose={() => setPulling(false)} />}
    </Section>
  );
}

function PullImage({ onClose }: { onClose(): void }) {
  return (
    <FormDialog
      title="Pull an image"
      word="Pull"
      changes={["/v1/jobs"]}
      said="It is being pulled. Background work shows how far it is."
      submit={({ text }) => client.POST("/v1/admin/pull-image", { body: { image: text("image") } })}
      onClose={onClose}
    >
      <Field label="Image" name="image">
        <Input required autoFocus placeholder="registry.example.org/agent:1" spellCheck={false} />
      </Field>
    </FormDialog>
  );
}

function Logs({ id, onClose }: { id: string; onClose(): void }) {
  return (
    <Dialog title="Output of the container" wide onClose={onClose}>
      <FollowLog
        path={`/v1/admin/containers/${encodeURIComponent(id)}/logs?tail=500&follow=true`}
        label="Output"
        className="h-[60dvh]"
      />
    </Dialog>
  );
}
