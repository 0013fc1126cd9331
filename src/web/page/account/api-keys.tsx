/** API keys for scripts. A key is shown once, when it is created. */

import { Plus } from "lucide-react";
import { useState } from "react";
import { api, client, must, type Schemas } from "../../api/client.ts";
import { Confirm } from "../../kit/confirm.tsx";
import { FormDialog, stay } from "../../kit/form-dialog.tsx";
import { RowList } from "../../kit/row-list.tsx";
import { Button } from "../../ui/button.tsx";
import { Dialog } from "../../ui/dialog.tsx";
import { Badge } from "../../ui/facts.tsx";
import { Field, InputField, Select } from "../../ui/field.tsx";
import { Warning } from "../../ui/note.tsx";
import { CopyButton, Section } from "../../ui/page.tsx";
import { Ago } from "../../ui/time.tsx";

const SCOPES = [
  ["", "Everything that I may do"],
  ["read", "Read"],
  ["runs", "Read, start and steer work"],
  ["write", "And change what needs no administrator"],
  ["publish", "Read, merge, push and open pull requests"],
  ["admin", "And what administrators may do, except with accounts"],
] as const;

export function ApiKeys() {
  const [adding, setAdding] = useState(false);
  const [revoked, setRevoked] = useState<Schemas["ApiKey"]>();
  const query = api.useQuery("get", "/v1/auth/api-keys");
  return (
    <Section
      title="API keys"
      actions={<Button label="New key" icon={Plus} iconSize={15} onClick={() => setAdding(true)} />}
    >
      <RowList
        query={query}
        keyOf={({ id }) => id}
        empty={<p className="text-dim">None. Scripts and other programs log in with a key.</p>}
      >
        {(key) => (
          <>
            <span className="font-medium">{key.name}</span>
            <code className="font-mono text-sm text-dim">{key.preview}</code>
            <Badge tone={key.expired ? "bad" : "plain"}>
              {key.expired ? "expired" : (key.scopes?.join(", ") ?? "all")}
            </Badge>
            <span className="mr-auto text-sm text-dim">
              {key.last_used_at ? (
                <>
                  used <Ago at={key.last_used_at} sentence />
                </>
              ) : (
                "never used"
              )}
            </span>
            <Button label="Revoke" kind="quiet" onClick={() => setRevoked(key)} />
          </>
        )}
      </RowList>
      {revoked && (
        <Confirm
          title={`Revoke ${revoked.name}?`}
          word="Revoke the key"
          onClose={() => setRevoked(undefined)}
          changes={["/v1/auth/api-keys"]}
          act={() => client.DELETE("/v1/auth/api-keys/{id}", { params: { path: { id: revoked.id } } })}
        >
          Programs that log in with it are refused from now on. It cannot be brought back.
        </Confirm>
      )}
      {adding && <AddKey onClose={() => setAdding(false)} />}
    </Section>
  );
}

function AddKey({ onClose }: { onClose(): void }) {
  const [made, setMade] = useState<Schemas["ApiKey"]>();
  if (made?.key)
    return (
      <Dialog title="The key" onClose={onClose}>
        <Warning>Copy it now. It is not shown again.</Warning>
        <p className="flex items-center gap-2 font-mono">
          {made.key}
          <CopyButton text={made.key} label="Copy the key" />
        </p>
      </Dialog>
    );
  return (
    <FormDialog
      title="New API key"
      word="Make it"
      changes={["/v1/auth/api-keys"]}
      submit={async ({ choice, text }) => {
        const scope = choice<"" | "read" | "runs" | "write" | "publish" | "admin">("scope");
        const until = text("expires_at");
        const body: Schemas["CreateApiKeyBody"] = {
          name: text("name"),
          ...(scope ? { scopes: [scope] } : {}),
          ...(until ? { expires_at: new Date(until).toISOString() } : {}),
        };
        setMade(await must(client.POST("/v1/auth/api-keys", { body })));
        return stay;
      }}
      onClose={onClose}
    >
      <InputField label="What it is for" name="name" required autoFocus />
      <Field label="What it may do" name="scopes">
        <Select name="scope" defaultValue="runs" options={SCOPES} />
      </Field>
      <InputField label="Until" hint="Left empty: until it is revoked." name="expires_at" type="date" />
    </FormDialog>
  );
}
