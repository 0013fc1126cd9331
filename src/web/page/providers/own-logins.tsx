/** A user's own log-ins of external agents, for agents with `credentials: own` that this user starts. */
import { Plus } from "lucide-react";
import { useState } from "react";
import { api, client, type Schemas } from "../../api/client.ts";
import { Confirm } from "../../kit/confirm.tsx";
import { FormDialog } from "../../kit/form-dialog.tsx";
import { RowList } from "../../kit/row-list.tsx";
import { useMe } from "../../session/session.tsx";
import { Button } from "../../ui/button.tsx";
import { Field, Input, SelectField, TextArea } from "../../ui/field.tsx";
import { Section } from "../../ui/page.tsx";

type Login = Schemas["HarnessLogin"];
const LIST = "/v1/settings/harness-logins";
const HARNESSES = ["codex", "claude-code", "opencode"] as const satisfies readonly Login["harness"][];

export function OwnLogins() {
  const me = useMe();
  const [adding, setAdding] = useState(false);
  const [removed, setRemoved] = useState<Login["harness"]>();
  const query = api.useQuery("get", LIST, undefined, { enabled: me.session.kind !== "engine" });
  return (
    <Section
      title="My own log-ins of external agents"
      actions={<Button label="Store a log-in" icon={Plus} iconSize={15} onClick={() => setAdding(true)} />}
    >
      <RowList
        query={query}
        keyOf={({ harness }) => harness}
        className="flex-wrap items-center gap-4 px-4 py-2"
        empty={<p className="text-dim">None. External agents ask this server's gateway, within your budgets.</p>}
      >
        {({ harness, masked_login, agents, not_held }) => (
          <>
            <span className="font-medium">{harness}</span>
            <code className="font-mono text-sm text-dim">{masked_login}</code>
            <span className="mr-auto text-sm">for {agents.join(", ") || "no agent yet"}</span>
            <Button label="Remove" kind="quiet" onClick={() => setRemoved(harness)} />
            <p className="w-full text-sm text-dim">{not_held}</p>
          </>
        )}
      </RowList>
      {removed && (
        <Confirm
          title={`Remove your log-in of ${removed}?`}
          word="Remove the log-in"
          onClose={() => setRemoved(undefined)}
          changes={[LIST]}
          act={() => client.DELETE("/v1/settings/harness-logins/{harness}", { params: { path: { harness: removed } } })}
        >
          It is removed here for good. Work that is running keeps it until it ends.
        </Confirm>
      )}
      {adding && <StoreLogin onClose={() => setAdding(false)} />}
    </Section>
  );
}

function StoreLogin({ onClose }: { onClose(): void }) {
  return (
    <FormDialog
      title="A log-in of your own"
      word="Store it"
      changes={[LIST]}
      said="It is stored. Agents with `credentials: own` use it when you start them."
      submit={({ choice, raw, words }) => {
        const params = { path: { harness: choice<Login["harness"]>("harness") } };
        const body = { login: raw("login"), agents: words("agents") };
        return client.PUT("/v1/settings/harness-logins/{harness}", { params, body });
      }}
      onClose={onClose}
    >
      <SelectField label="External agent" name="harness" options={HARNESSES} />
      <Field
        label="Log-in"
        hint="codex and opencode: the text of their auth.json. claude-code: what `claude setup-token` prints."
        name="login"
      >
        <TextArea required rows={4} autoComplete="off" spellCheck={false} />
      </Field>
      <Field label="Agents that may use it" hint="Separated by commas; * for every agent that you start." name="agents">
        <Input required spellCheck={false} />
      </Field>
    </FormDialog>
  );
}
