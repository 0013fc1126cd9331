/** The user's own account: name, password, second factor, keys, log-ins, and how the dashboard behaves. */

import { useState } from "react";
import { client, must } from "../../api/client.ts";
import { keysOn, setKeysOn } from "../../keys/single-keys.ts";
import { useChange } from "../../kit/change.ts";
import { useMe } from "../../session/session.tsx";
import { Check, Field, Input, InputField } from "../../ui/field.tsx";
import { Form } from "../../ui/form.tsx";
import { notify } from "../../ui/notice.tsx";
import { PageHeader, Section } from "../../ui/page.tsx";
import { ApiKeys } from "./api-keys.tsx";
import { SecondFactor } from "./second-factor.tsx";
import { Sessions } from "./sessions.tsx";

export default function AccountPage() {
  const me = useMe();
  const local = me.session.kind !== "user";
  return (
    <div className="max-w-2xl">
      <PageHeader
        title="My account"
        cli="skep whoami"
        about={local ? "This machine is the administrator; no log-in is asked for." : me.email}
      />
      {!local && (
        <>
          <Name />
          {me.has_password && <Password />}
          <SecondFactor />
          <ApiKeys />
          <Sessions />
        </>
      )}
      <Section title="This browser" panel>
        <SingleKeys />
      </Section>
    </div>
  );
}

function SingleKeys() {
  const [on, setOn] = useState(keysOn);
  return (
    <Check
      label="Single-key shortcuts"
      hint="Switch them off if you use speech input. Ctrl K works in any case."
      checked={on}
      onChange={(event) => {
        setKeysOn(event.target.checked);
        setOn(event.target.checked);
      }}
    />
  );
}

function Name() {
  const me = useMe();
  const action = useChange("/v1/auth/me");
  return (
    <Section title="Name" panel>
      <Form
        action={action}
        word="Save"
        submit={async ({ text }) => {
          const body = { display_name: text("display_name") };
          await must(client.PUT("/v1/users/{id}", { params: { path: { id: me.id } }, body }));
          notify("Saved.");
        }}
      >
        <InputField label="Shown to others as" name="display_name" defaultValue={me.display_name} required />
      </Form>
    </Section>
  );
}

function Password() {
  const me = useMe();
  const action = useChange();
  const [round, setRound] = useState(0);
  return (
    <Section title="Password" panel>
      <Form
        key={round}
        action={action}
        word="Change"
        submit={async ({ raw }) => {
          const body = { password: raw("password"), current_password: raw("current_password") };
          await must(client.PUT("/v1/users/{id}", { params: { path: { id: me.id } }, body }));
          notify("The password is changed. Other log-ins have ended.");
          setRound(round + 1);
        }}
      >
        <Field label="Current password" name="current_password">
          <Input type="password" autoComplete="current-password" required />
        </Field>
        <Field label="New password" hint="At least ten characters." name="password">
          <Input type="password" autoComplete="new-password" minLength={10} required />
        </Field>
      </Form>
    </Section>
  );
}
