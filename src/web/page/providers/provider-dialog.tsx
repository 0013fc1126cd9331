/** One provider: its key and address are tested before they are stored. */

import { ExternalLink } from "lucide-react";
import { useRef, useState } from "react";
import { client, must, type Schemas } from "../../api/client.ts";
import { useChange } from "../../kit/change.ts";
import { Confirm } from "../../kit/confirm.tsx";
import { Button } from "../../ui/button.tsx";
import { Dialog } from "../../ui/dialog.tsx";
import { Check, DataList, Field, Input } from "../../ui/field.tsx";
import { Form, fieldsOf } from "../../ui/form.tsx";
import { formatDuration, pluralize } from "../../ui/format.ts";
import { notify } from "../../ui/notice.tsx";

type Provider = Schemas["Provider"];
type Tested = Schemas["TestProviderAnswer"];

export function ProviderDialog({ provider, onClose }: { provider: Provider; onClose(): void }) {
  const { id, name, base_url, masked_key, enabled, configured, docs_url, env_var } = provider;
  const action = useChange("/v1/settings/providers", "/v1/models");
  const trial = useChange();
  const [tested, setTested] = useState<Tested>();
  const [forgetting, setForgetting] = useState(false);
  const box = useRef<HTMLDivElement>(null);
  const params = { path: { id } };
  const models = tested?.models.length ? tested.models : provider.models;
  const test = () =>
    trial.run(async () => {
      setTested(undefined);
      const form = box.current?.querySelector("form");
      if (!form) return;
      const { raw, pickFilled } = fieldsOf(form);
      const body = { ...pickFilled("base_url"), ...(raw("api_key") ? { api_key: raw("api_key") } : {}) };
      setTested(await must(client.POST("/v1/settings/providers/{id}/test", { params, body })));
    });
  if (forgetting)
    return (
      <Confirm
        title={`Forget ${name}?`}
        word="Forget the provider"
        onClose={onClose}
        changes={["/v1/settings/providers", "/v1/models"]}
        act={async () => {
          await must(client.DELETE("/v1/settings/providers/{id}", { params }));
          notify(`${name} is forgotten.`);
        }}
      >
        Its key and settings here are removed for good.
        {env_var && (
          <>
            {" "}
            If the server's environment holds <code className="font-mono">{env_var}</code>, that key counts again.
          </>
        )}
      </Confirm>
    );
  return (
    <Dialog title={name} onClose={onClose}>
      <div ref={box}>
        {docs_url && (
          <p className="mb-3 text-sm text-dim">
            <a href={docs_url} target="_blank" rel="noreferrer" className="inline-flex items-center gap-1 underline">
              Where keys are made
              <ExternalLink aria-hidden size={12} />
            </a>
            {env_var && (
              <>
                , or set <code>{env_var}</code> where the server starts
              </>
            )}
            .
          </p>
        )}
        <Form
          action={action}
          word="Save"
          submit={async ({ text, raw, isChecked }) => {
            const body: Schemas["UpdateProviderBody"] = {
              enabled: isChecked("enabled"),
              default: text("default") || null,
              ...(raw("api_key") ? { api_key: raw("api_key") } : {}),
              ...(text("base_url") !== (base_url ?? "") ? { base_url: text("base_url") || null } : {}),
            };
            await must(client.PUT("/v1/settings/providers/{id}", { params, body }));
            notify(`${name} is saved.`);
            onClose();
          }}
        >
          <Field
            label="API key"
            hint={masked_key ? `Kept: ${masked_key}. Leave empty to keep it.` : "Sealed here and never shown again."}
            name="api_key"
          >
            <Input type="password" autoComplete="off" spellCheck={false} autoFocus />
          </Field>
          <Field label="Address" hint="Changing the address drops the stored key." name="base_url">
            <Input defaultValue={base_url ?? ""} spellCheck={false} />
          </Field>
          <Field label="Default model" name="default">
            <Input list="provider-models" defaultValue={provider.default ?? ""} spellCheck={false} />
          </Field>
          <DataList id="provider-models" options={models} />
          <Check name="enabled" label="Switched on" defaultChecked={enabled} />
          <div className="mb-3 flex flex-wrap items-center gap-2">
            <Button label={trial.busy ? "Asking it…" : "Test"} busy={trial.busy} onClick={test} />
            {configured && <Button label="Forget…" kind="danger" onClick={() => setForgetting(true)} />}
          </div>
          <TestResult tested={tested} error={trial.error} />
        </Form>
      </div>
    </Dialog>
  );
}

export function TestResult({ tested, error }: { tested: Tested | undefined; error: unknown }) {
  const why = tested?.error ?? (error as { detail?: string } | undefined)?.detail;
  if (why)
    return (
      <p role="alert" className="mb-3 rounded-md bg-bad-soft px-3 py-2">
        It does not work: {why}
      </p>
    );
  if (!tested) return null;
  return (
    <p role="status" className="mb-3 rounded-md bg-ok-soft px-3 py-2">
      It works: {pluralize(tested.models.length, "model")}, answered in {formatDuration(tested.duration_ms)}.
    </p>
  );
}
