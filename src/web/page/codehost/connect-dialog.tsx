/** The dialog for the connection to the code host. Secrets are typed in and never shown again. */

import { useState } from "react";
import { api, client, must, type Schemas, siteUrl } from "../../api/client.ts";
import { useChange } from "../../kit/change.ts";
import { Dialog } from "../../ui/dialog.tsx";
import { Field, Input, InputField, Select, TextArea } from "../../ui/field.tsx";
import { Form } from "../../ui/form.tsx";
import { Await } from "../../ui/note.tsx";
import { notify } from "../../ui/notice.tsx";
import { CopyButton } from "../../ui/page.tsx";

type Connection = Schemas["CodeHostConnection"];
type Kind = Connection["kind"];

const WEBHOOKS = "/v1/codehost/webhooks";
const describeStored = (there: boolean): string => (there ? "One is stored. Leave empty to keep it." : "");

export function ConnectDialog({ onClose }: { onClose(): void }) {
  // Do not use the cache: the form keeps its initial values, which would be those before the last change.
  const query = api.useQuery("get", "/v1/codehost/connection", undefined, { staleTime: 0, gcTime: 0 });
  return (
    <Dialog title="Connect a code host" onClose={onClose}>
      <Await query={query}>{(connection) => <ConnectForm connection={connection} onClose={onClose} />}</Await>
    </Dialog>
  );
}

function ConnectForm({ connection, onClose }: { connection: Connection; onClose(): void }) {
  const action = useChange("/v1/codehost");
  const [kind, setKind] = useState<Kind>(connection.kind);
  const github = kind === "github";
  const stored = connection.source === "settings" && connection.kind === kind;
  return (
    <Form
      action={action}
      word="Connect"
      onCancel={onClose}
      submit={async ({ text, raw }) => {
        const pickSecret = (name: "private_key" | "token" | "webhook_secret") =>
          raw(name).trim() ? { [name]: raw(name).trim() } : {};
        const body: Schemas["UpdateCodehostConnectionBody"] = {
          kind,
          url: text("url") || null,
          ...(github ? { app_id: text("app_id") || null } : {}),
          ...pickSecret("private_key"),
          ...pickSecret("token"),
          ...pickSecret("webhook_secret"),
        };
        await must(client.PUT("/v1/codehost/connection", { body }));
        notify("The connection is saved.");
        onClose();
      }}
    >
      <Field label="Host" name="kind">
        <Select value={kind} onPick={setKind}>
          <option value="github">GitHub</option>
          <option value="gitea">Gitea or Forgejo</option>
        </Select>
      </Field>
      <Guide github={github} />
      <InputField
        label={github ? "Address of the API" : "Address"}
        hint={github ? "Left empty: github.com. For GitHub Enterprise: https://HOST/api/v3." : undefined}
        name="url"
        type="url"
        required={!github}
        defaultValue={stored ? connection.url : ""}
        placeholder={github ? "https://api.github.com" : "https://git.example.org"}
        spellCheck={false}
      />
      {github && (
        <>
          <Field label="App ID" name="app_id">
            <Input defaultValue={connection.app_id ?? ""} inputMode="numeric" spellCheck={false} />
          </Field>
          <Field
            label="Private key of the App"
            hint={describeStored(stored && connection.has_private_key) || "The whole .pem file."}
            name="private_key"
          >
            <TextArea rows={3} spellCheck={false} autoComplete="off" className="font-mono" />
          </Field>
        </>
      )}
      <Field
        label="Access token"
        hint={describeStored(stored && connection.has_token) || (github ? "Only where there is no App." : undefined)}
        name="token"
      >
        <Input type="password" autoComplete="off" spellCheck={false} />
      </Field>
      <Field
        label="Webhook secret"
        hint={
          describeStored(stored && connection.has_webhook_secret) ||
          "16 characters or more; the same as on the host. Without one no rule starts anything."
        }
        name="webhook_secret"
      >
        <Input type="password" autoComplete="off" spellCheck={false} />
      </Field>
    </Form>
  );
}

/** Says what to create on the host first. */
function Guide({ github }: { github: boolean }) {
  const address = new URL(siteUrl(WEBHOOKS), location.origin).href;
  return (
    <details className="mb-3 rounded-lg border border-line px-3 py-2 text-sm">
      <summary className="font-medium">{github ? "How to make the GitHub App" : "What to make on the host"}</summary>
      {github ? (
        <ol className="mt-2 list-decimal space-y-1 pl-5">
          <li>
            <a href="https://github.com/settings/apps/new" target="_blank" rel="noreferrer" className="underline">
              Make a new GitHub App
            </a>{" "}
            with read and write access to contents, issues and pull requests.
          </li>
          <li>Let it subscribe to push, issues, issue comment, pull request and pull request review.</li>
          <li>Generate a private key, and install the App on the repositories that agents may work in.</li>
        </ol>
      ) : (
        <ol className="mt-2 list-decimal space-y-1 pl-5">
          <li>Make an account for Skep and add it to the repositories that agents may work in.</li>
          <li>Make a token for it with read and write access to repositories and issues.</li>
          <li>Add a webhook of the kind Gitea to the repositories or to their owner.</li>
        </ol>
      )}
      <p className="mt-2">The webhook's address, with the content type application/json:</p>
      <p className="flex items-center gap-1">
        <code className="break-all">{address}</code>
        <CopyButton text={address} label="Copy the webhook's address" />
      </p>
    </details>
  );
}
