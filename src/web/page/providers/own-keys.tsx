/**
 * A user's own provider keys. They are used first for what that user starts, and the provider bills them to the user.
 */

import { Plus } from "lucide-react";
import { useState } from "react";
import { api, client, must } from "../../api/client.ts";
import type { RowOf } from "../../api/queries.ts";
import { Confirm } from "../../kit/confirm.tsx";
import { FormDialog } from "../../kit/form-dialog.tsx";
import { RowList } from "../../kit/row-list.tsx";
import { useMe } from "../../session/session.tsx";
import { Button } from "../../ui/button.tsx";
import { Field, Input, InputField } from "../../ui/field.tsx";
import { notify } from "../../ui/notice.tsx";
import { Section } from "../../ui/page.tsx";

type OwnKey = RowOf<"/v1/settings/user-providers">;

export function OwnKeys() {
  const me = useMe();
  const [adding, setAdding] = useState(false);
  const [removed, setRemoved] = useState<OwnKey>();
  const query = api.useQuery("get", "/v1/settings/user-providers", undefined, { enabled: me.session.kind === "user" });
  if (me.session.kind !== "user") return null;
  return (
    <Section
      title="My own keys"
      actions={<Button label="Add a key" icon={Plus} iconSize={15} onClick={() => setAdding(true)} />}
    >
      <RowList
        query={query}
        keyOf={({ provider }) => provider}
        className="items-center gap-4 px-4 py-2"
        empty={<p className="text-dim">None. What you start is paid with this server's keys.</p>}
      >
        {(own) => (
          <>
            <span className="font-medium">{own.name}</span>
            <code className="mr-auto font-mono text-sm text-dim">{own.masked_key}</code>
            <Button label="Remove" kind="quiet" onClick={() => setRemoved(own)} />
          </>
        )}
      </RowList>
      {removed && (
        <Confirm
          title={`Remove your key of ${removed.name}?`}
          word="Remove the key"
          onClose={() => setRemoved(undefined)}
          changes={["/v1/settings/user-providers", "/v1/models"]}
          act={() => {
            const params = { path: { provider: removed.provider } };
            return client.DELETE("/v1/settings/user-providers/{provider}", { params });
          }}
        >
          It is removed here for good. What you start is then paid with this server's keys.
        </Confirm>
      )}
      {adding && <AddKey onClose={() => setAdding(false)} />}
    </Section>
  );
}

function AddKey({ onClose }: { onClose(): void }) {
  return (
    <FormDialog
      title="A key of your own"
      word="Keep it"
      changes={["/v1/settings/user-providers", "/v1/models"]}
      submit={async ({ text, raw }) => {
        const params = { path: { provider: text("provider") } };
        await must(client.PUT("/v1/settings/user-providers/{provider}", { params, body: { api_key: raw("api_key") } }));
        const tested = await must(client.POST("/v1/settings/user-providers/{provider}/test", { params }));
        notify(tested.ok ? "It is kept, and it works." : `It is kept, but does not work: ${tested.error}`);
      }}
      onClose={onClose}
    >
      <Field label="Provider" hint="Its short name: anthropic, openai, google, …" name="provider">
        <Input required autoFocus spellCheck={false} />
      </Field>
      <InputField label="API key" name="api_key" type="password" required autoComplete="off" />
    </FormDialog>
  );
}
