/** Users: their accounts and roles, and the waitlist. */

import { Plus } from "lucide-react";
import { useState } from "react";
import { client, must, onItsMachine, type Schemas, siteUrl } from "../../api/client.ts";
import { type RowOf, refresh, usePages } from "../../api/queries.ts";
import { useChange } from "../../kit/change.ts";
import { Confirm } from "../../kit/confirm.tsx";
import { DeleteHistory } from "../../kit/delete-history.tsx";
import { FormDialog, stay } from "../../kit/form-dialog.tsx";
import { List } from "../../kit/list.tsx";
import { useMe } from "../../session/session.tsx";
import { Button, ButtonLink } from "../../ui/button.tsx";
import { Dialog } from "../../ui/dialog.tsx";
import { Badge } from "../../ui/facts.tsx";
import { Check, Field, Input, InputField, Select } from "../../ui/field.tsx";
import { Form } from "../../ui/form.tsx";
import { formatBytes } from "../../ui/format.ts";
import { Warning } from "../../ui/note.tsx";
import { notify } from "../../ui/notice.tsx";
import { CopyButton, PageHeader } from "../../ui/page.tsx";
import { type Column, nameColumn } from "../../ui/table.tsx";
import { useParam, Views } from "../../ui/tabs.tsx";
import { Ago } from "../../ui/time.tsx";
import { SignOnProviders } from "./sign-on-providers.tsx";
import { UserKeys } from "./user-keys.tsx";

type User = RowOf<"/v1/admin/users">;

const COLUMNS: Column<User>[] = [
  nameColumn("User", "w-2/5 min-w-44", ({ display_name, email }) => [display_name, email]),
  {
    title: "Role",
    cell: ({ role, active }) =>
      active ? <Badge tone={role === "admin" ? "run" : "plain"}>{role}</Badge> : <Badge tone="bad">switched off</Badge>,
  },
  { title: "2FA", wide: true, cell: ({ two_factor_enabled }) => (two_factor_enabled ? "on" : "–") },
  {
    title: "Stored",
    wide: true,
    align: "right",
    cell: ({ stored_bytes, workspaces_bytes }) => formatBytes(stored_bytes + workspaces_bytes),
  },
  { title: "Last here", wide: true, align: "right", cell: ({ last_login_at }) => <Ago at={last_login_at} /> },
];

export default function UsersPage() {
  const [fresh, setFresh] = useParam("new");
  const adding = fresh !== "";
  const setAdding = (is: boolean) => setFresh(is ? "1" : "");
  return (
    <>
      <PageHeader
        title="Users"
        cli="skep users"
        actions={<Button label="Add a user" kind="primary" icon={Plus} iconSize={15} onClick={() => setAdding(true)} />}
      />
      <Views
        label="Views"
        views={[
          { id: "users", title: "Users", view: <UserList add={() => setAdding(true)} /> },
          { id: "sign-on", title: "Sign-on", view: <SignOnProviders /> },
          { id: "waitlist", title: "Waitlist", view: <WaitlistView /> },
        ]}
      />
      {adding && <AddUser onClose={() => setAdding(false)} />}
    </>
  );
}

function UserList({ add }: { add(): void }) {
  const [open, setOpen] = useParam("user");
  const query = usePages("/v1/admin/users", { query: { limit: 100 } });
  const shown = query.rows.find(({ id }) => id === open);
  return (
    <>
      <List
        label="Users"
        query={query}
        columns={COLUMNS}
        keyOf={({ id }) => id}
        hrefOf={({ id }) => `?user=${id}`}
        empty={{
          text: "Nobody has an account, so people at this machine are administrators. With accounts, others can log in.",
          action: <Button onClick={add}>Add the first</Button>,
          cli: "skep users create NAME@EXAMPLE.ORG",
        }}
      />
      {shown && <EditUser key={shown.id} user={shown} onClose={() => setOpen("")} />}
    </>
  );
}

function AddUser({ onClose }: { onClose(): void }) {
  const [added, setAdded] = useState<Invited>();
  if (added) return <Invitation {...added} onClose={onClose} />;
  return (
    <FormDialog
      title="Add a user"
      word="Add"
      changes={["/v1/admin/users", "/v1/users"]}
      submit={async ({ text, raw, pickFilled }) => {
        const body: Schemas["CreateUserBody"] = {
          email: text("email"),
          role: roleOf(text("role")),
          ...pickFilled("display_name"),
          ...(raw("password") ? { password: raw("password") } : {}),
        };
        await must(client.POST("/v1/users", { body }));
        setAdded({ email: body.email, password: body.password !== undefined });
        return stay;
      }}
      onClose={onClose}
    >
      <InputField label="E-mail" name="email" type="email" required autoFocus autoComplete="off" />
      <InputField label="Name" name="display_name" autoComplete="off" />
      <Field
        label="Password"
        hint="At least ten characters; they can change it. Left empty, they log in through a sign-on provider."
        name="password"
      >
        <Input type="password" autoComplete="new-password" minLength={10} />
      </Field>
      <Field label="Role">
        <RoleSelect />
      </Field>
    </FormDialog>
  );
}

interface Invited {
  email: string;
  /** Whether a password was set; otherwise the user signs on through a provider. */
  password: boolean;
}

/** What the new user needs to know. The password is not repeated, because the administrator who set it knows it. */
function Invitation({ email, password, onClose }: Invited & { onClose(): void }) {
  const text = [
    `Skep: ${new URL(siteUrl("/"), location.href).href}`,
    `E-mail: ${email}`,
    ...(password ? [] : ["Log in with the button of the sign-on provider."]),
  ].join("\n");
  return (
    <Dialog title="Added" onClose={onClose}>
      <p className="mb-2 text-dim">
        {password
          ? "They can log in now. Send them this, and the password separately:"
          : "They can log in through a sign-on provider. Send them this:"}
      </p>
      <div className="flex items-start gap-2 rounded-md bg-sunken p-3">
        <p className="min-w-0 flex-1 whitespace-pre-wrap">{text}</p>
        <CopyButton text={text} label="Copy the invitation" />
      </div>
      {onItsMachine() && (
        <Warning>
          This address leads to the server from this machine alone. For others, start it with{" "}
          <code className="font-mono">skep serve --host 0.0.0.0</code>, or put a proxy with https before it, and send
          the address under which they reach it.
        </Warning>
      )}
      <div className="mt-4 flex justify-end">
        <Button label="Done" kind="primary" onClick={onClose} />
      </div>
    </Dialog>
  );
}

const roleOf = (text: string) => (text === "admin" ? "admin" : "user");

const RoleSelect = ({ value = "user" }: { value?: "admin" | "user" }) => (
  <Select name="role" defaultValue={value}>
    <option value="user">User: works with agents, sees their own runs</option>
    <option value="admin">Administrator: sees and changes everything</option>
  </Select>
);

function EditUser({ user, onClose }: { user: User; onClose(): void }) {
  const me = useMe();
  const action = useChange("/v1/admin/users", "/v1/users");
  const [deleting, setDeleting] = useState(false);
  const [everything, setEverything] = useState(false);
  const params = { path: { id: user.id } };
  if (everything)
    return (
      <DeleteHistory
        kind="users"
        id={user.id}
        what={user.display_name}
        onClose={onClose}
        leave={() => void refresh("/v1/admin/users", "/v1/users")}
      />
    );
  if (deleting)
    return (
      <Confirm
        title={`Delete ${user.display_name}?`}
        word="Delete the user"
        onClose={onClose}
        changes={["/v1/admin/users", "/v1/users"]}
        act={() => client.DELETE("/v1/users/{id}", { params })}
      >
        Their keys and log-ins end at once, their own provider keys are removed. What they made passes to you; runs and
        costs keep saying who started them. This cannot be undone.
        <p className="mt-3">
          <Button kind="quiet" onClick={() => setEverything(true)}>
            Delete their runs, chats and texts as well…
          </Button>
        </p>
      </Confirm>
    );
  return (
    <Dialog title={user.display_name} onClose={onClose}>
      <Form
        action={action}
        word="Save"
        submit={async ({ text, raw, isChecked }) => {
          const body: Schemas["UpdateUserBody"] = {
            email: text("email"),
            display_name: text("display_name"),
            role: roleOf(text("role")),
            active: isChecked("active"),
            ...(raw("password") ? { password: raw("password") } : {}),
            ...(user.two_factor_enabled && !isChecked("two_factor") ? { two_factor_enabled: false as const } : {}),
          };
          await must(client.PUT("/v1/users/{id}", { params, body }));
          notify("Saved.");
          onClose();
        }}
      >
        <InputField label="E-mail" name="email" type="email" defaultValue={user.email} required />
        <InputField label="Name" name="display_name" defaultValue={user.display_name} required />
        <Field label="Role" name="role">
          <RoleSelect value={user.role} />
        </Field>
        {user.id !== me.id && (
          <Field label="New password" hint="Leave empty to keep it." name="password">
            <Input type="password" autoComplete="new-password" minLength={10} />
          </Field>
        )}
        <Check
          name="active"
          label="Active"
          hint="Switched off, they are logged out everywhere at once."
          defaultChecked={user.active}
        />
        {user.two_factor_enabled && (
          <Check
            name="two_factor"
            label="Two-factor verification"
            hint="Untick it when the authenticator is lost."
            defaultChecked
          />
        )}
        {user.id !== me.id && <Button label="Delete…" kind="danger" onClick={() => setDeleting(true)} />}
      </Form>
      <UserKeys id={user.id} />
    </Dialog>
  );
}

function WaitlistView() {
  const query = usePages("/v1/waitlist", { query: { limit: 100 } });
  return (
    <List
      query={query}
      label="Waitlist"
      columns={[
        { title: "E-mail", cell: ({ email }) => email },
        { title: "Since", align: "right", cell: ({ created_at }) => <Ago at={created_at} /> },
      ]}
      keyOf={({ email }) => email}
      empty={{
        text: (
          <>
            Nobody waits. A page of your own can send addresses to <code className="font-mono">POST /v1/waitlist</code>.
          </>
        ),
        action: <ButtonLink href="/users">See the users</ButtonLink>,
      }}
    />
  );
}
