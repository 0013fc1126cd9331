/** Links through which people join a project: create, list, revoke. A link is shown once. */
import { Link2 } from "lucide-react";
import { useState } from "react";
import { client, must, type Schemas } from "../../api/client.ts";
import { type RowOf, usePages } from "../../api/queries.ts";
import { Confirm } from "../../kit/confirm.tsx";
import { FormDialog, stay } from "../../kit/form-dialog.tsx";
import { List } from "../../kit/list.tsx";
import { Button } from "../../ui/button.tsx";
import { Dialog } from "../../ui/dialog.tsx";
import { Badge } from "../../ui/facts.tsx";
import { Field, Input, InputField, Select } from "../../ui/field.tsx";
import { shellWord } from "../../ui/format.ts";
import { CopyButton, Section } from "../../ui/page.tsx";
import type { Column } from "../../ui/table.tsx";
import { Ago } from "../../ui/time.tsx";
import { mayDo, ROLES, type Role } from "./roles.ts";

type Project = Schemas["Project"];
type Invitation = RowOf<"/v1/projects/{id}/invitations">;

const ADDRESS = "/v1/projects/{id}/invitations";
const TONES = { open: "ok", used: "plain", expired: "plain", revoked: "plain" } as const;

export function Invitations({ project }: { project: Project }) {
  const { id, name } = project;
  const [isInviting, setInviting] = useState(false);
  const [revoked, setRevoked] = useState<Invitation>();
  const query = usePages(ADDRESS, { path: { id }, query: { limit: 100 } });
  const invite = <Button label="Invite by link" icon={Link2} onClick={() => setInviting(true)} />;
  const columns: Column<Invitation>[] = [
    { title: "Role", cell: ({ role }) => role },
    { title: "State", cell: ({ state }) => <Badge tone={TONES[state]}>{state}</Badge> },
    { title: "Used", cell: ({ uses, max_uses }) => `${uses} of ${max_uses}` },
    { title: "By", cell: ({ created_by_name }) => created_by_name },
    { title: "Ends", cell: ({ expires_at }) => <Ago at={expires_at} /> },
    {
      title: "Actions",
      quiet: true,
      align: "right",
      cell: (one) => one.state === "open" && <Button label="Take back" kind="quiet" onClick={() => setRevoked(one)} />,
    },
  ];
  return (
    <Section title="Invitations" actions={query.rows.length > 0 && invite}>
      <List
        label="Invitations"
        query={query}
        columns={columns}
        keyOf={(one) => one.id}
        empty={{
          text: "Nobody is invited. A link lets people with an account here join by themselves.",
          action: invite,
          cli: `skep projects invite create ${shellWord(name)}`,
        }}
      />
      {isInviting && <Invite project={project} onClose={() => setInviting(false)} />}
      {revoked && (
        <Confirm
          title="Take the invitation back?"
          word="Take back"
          onClose={() => setRevoked(undefined)}
          changes={["/v1/projects"]}
          act={() => {
            const params = { path: { id, invitation_id: revoked.id } };
            return client.DELETE("/v1/projects/{id}/invitations/{invitation_id}", { params });
          }}
        >
          Its link lets nobody in any more. Who has joined by it stays.
        </Confirm>
      )}
    </Section>
  );
}

function Invite({ project: { id, name, role }, onClose }: { project: Project; onClose(): void }) {
  const [token, setToken] = useState<string>();
  if (token !== undefined) return <LinkOnce link={`${location.origin}/join/${token}`} onClose={onClose} />;
  return (
    <FormDialog
      title={`Invite to ${name}`}
      word="Make the link"
      changes={["/v1/projects"]}
      submit={async ({ choice, number }) => {
        const body = { role: choice<Role>("role"), days: number("days") ?? 7, max_uses: number("max_uses") ?? 1 };
        setToken((await must(client.POST(ADDRESS, { params: { path: { id } }, body }))).token);
        return stay;
      }}
      onClose={onClose}
    >
      <Field label="Role" hint="At most your own." name="role">
        <Select defaultValue="contributor" options={ROLES.filter((one) => mayDo(role, one))} />
      </Field>
      <InputField label="Days" name="days" type="number" min="1" max="30" defaultValue="7" required />
      <Field label="How many may use it" name="max_uses">
        <Input type="number" min="1" max="100" defaultValue="1" required />
      </Field>
    </FormDialog>
  );
}

function LinkOnce({ link, onClose }: { link: string; onClose(): void }) {
  return (
    <Dialog title="Link of the invitation" onClose={onClose}>
      <p className="mb-2">Whoever has it and an account here can join. It is shown only now.</p>
      <p className="mb-4 flex items-center gap-2 rounded-md bg-sunken px-3 py-2">
        <code className="min-w-0 break-all">{link}</code>
        <CopyButton text={link} label="Copy the link" />
      </p>
      <Button onClick={onClose}>Done</Button>
    </Dialog>
  );
}
