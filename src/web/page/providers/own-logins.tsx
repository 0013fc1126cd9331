/** A user's own log-ins of external agents: for agents with `credentials: own` that this user starts. */
import { Plus } from "lucide-react";
import { useState } from "react";
import { api, client, fieldError, must, type Schemas } from "../../api/client.ts";
import { refresh } from "../../api/queries.ts";
import { useChange } from "../../kit/change.ts";
import { useMe } from "../../session/session.tsx";
import { Button } from "../../ui/button.tsx";
import { Dialog } from "../../ui/dialog.tsx";
import { Field, Input, Select, TextArea } from "../../ui/field.tsx";
import { Form } from "../../ui/form.tsx";
import { Await } from "../../ui/note.tsx";
import { notify } from "../../ui/notice.tsx";
import { Panel, Section } from "../../ui/page.tsx";
import { ProblemNote } from "../../ui/problem-note.tsx";

type Login = Schemas["HarnessLogin"];
const LIST = "/v1/settings/harness-logins";
const HARNESSES = ["codex", "claude-code", "opencode"] as const satisfies readonly Login["harness"][];

export function OwnLogins() {
  const me = useMe();
  const [adding, setAdding] = useState(false);
  const action = useChange(LIST);
  const query = api.useQuery("get", LIST, undefined, { enabled: me.session.kind !== "engine" });
  const remove = (harness: Login["harness"]) =>
    action.run(() => client.DELETE("/v1/settings/harness-logins/{harness}", { params: { path: { harness } } }));
  return (
    <Section
      title="My own log-ins of external agents"
      actions={
        <Button icon={Plus} iconSize={15} onClick={() => setAdding(true)}>
          Store a log-in
        </Button>
      }
    >
      <ProblemNote error={action.error} />
      <Await query={query} rows={1}>
        {({ items }) =>
          items.length === 0 ? (
            <p className="text-dim">None. External agents ask this server's gateway, within your budgets.</p>
          ) : (
            <Panel>
              <ul>
                {items.map((item) => (
                  <LoginRow key={item.harness} login={item} onRemove={() => remove(item.harness)} />
                ))}
              </ul>
            </Panel>
          )
        }
      </Await>
      {adding && <StoreLogin onClose={() => setAdding(false)} />}
    </Section>
  );
}

function LoginRow({ login, onRemove }: { login: Login; onRemove(): void }) {
  const { harness, masked_login, agents, not_held } = login;
  return (
    <li className="flex flex-wrap items-center gap-4 border-b border-line px-4 py-2 last:border-0">
      <span className="font-medium">{harness}</span>
      <code className="font-mono text-sm text-dim">{masked_login}</code>
      <span className="mr-auto text-sm">for {agents.join(", ") || "no agent yet"}</span>
      <Button kind="quiet" onClick={onRemove}>
        Remove
      </Button>
      <p className="w-full text-sm text-dim">{not_held}</p>
    </li>
  );
}

function StoreLogin({ onClose }: { onClose(): void }) {
  const action = useChange();
  return (
    <Dialog title="A log-in of your own" onClose={onClose}>
      <Form
        action={action}
        word="Store it"
        onCancel={onClose}
        submit={async ({ choice, text, raw }) => {
          const harness = choice<Login["harness"]>("harness");
          const agents = text("agents")
            .split(/[\s,]+/)
            .filter(Boolean);
          const params = { path: { harness } };
          await must(
            client.PUT("/v1/settings/harness-logins/{harness}", { params, body: { login: raw("login"), agents } }),
          );
          notify("It is stored. Agents with `credentials: own` use it when you start them.");
          await refresh(LIST);
          onClose();
        }}
      >
        <Field label="External agent" error={fieldError(action.error, "harness")}>
          <Select name="harness" options={HARNESSES} />
        </Field>
        <Field
          label="Log-in"
          hint="codex and opencode: the text of their auth.json. claude-code: what `claude setup-token` prints."
          error={fieldError(action.error, "login")}
        >
          <TextArea name="login" required rows={4} autoComplete="off" spellCheck={false} />
        </Field>
        <Field
          label="Agents that may use it"
          hint="Separated by commas; * for every agent that you start."
          error={fieldError(action.error, "agents")}
        >
          <Input name="agents" required spellCheck={false} />
        </Field>
      </Form>
    </Dialog>
  );
}
