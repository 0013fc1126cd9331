/** The second set-up step: a provider's key, tested before it is stored, or Ollama, which needs no key. */
import { type ReactNode, useRef, useState } from "react";
import { api, client, fieldError, must, type Schemas } from "../../api/client.ts";
import { refresh } from "../../api/queries.ts";
import { useChange } from "../../kit/change.ts";
import type { Action } from "../../ui/action.ts";
import { Button } from "../../ui/button.tsx";
import { Field, Input, Select, SelectField } from "../../ui/field.tsx";
import { fieldsOf } from "../../ui/form.tsx";
import { pluralize } from "../../ui/format.ts";
import { Await } from "../../ui/note.tsx";
import { ProblemNote } from "../../ui/problem-note.tsx";
import { TestResult } from "../providers/provider-dialog.tsx";
import { inUse } from "./model-in-use.ts";

type Provider = Schemas["Provider"];
type Tested = Schemas["TestProviderAnswer"];

const OLLAMA = "ollama";

const fullId = (provider: string, model: string): string =>
  model.startsWith(`${provider}/`) ? model : `${provider}/${model}`;

async function keep(id: string, body: Schemas["UpdateProviderBody"]): Promise<void> {
  await must(client.PUT("/v1/settings/providers/{id}", { params: { path: { id } }, body }));
  await refresh("/v1/models", "/v1/settings");
}

export function ChooseModel() {
  const providers = api.useQuery("get", "/v1/settings/providers", { params: { query: { limit: 200 } } });
  return (
    <>
      <p className="mb-3 text-dim">
        A key of a provider, or Ollama on this machine. Until there is one a scripted model plays along, for nothing.
      </p>
      <Await query={providers} rows={2}>
        {({ items }) => {
          const ready = items.filter(inUse);
          return (
            <>
              {ready.length > 0 && (
                <p role="status" className="mb-3 rounded-md bg-ok-soft px-3 py-2">
                  Ready: {ready.map(({ name, default: model }) => `${name} (${model})`).join(", ")}.
                </p>
              )}
              <Ollama chosen={ready.some(({ id }) => id === OLLAMA)} />
              <Provided ready={ready.length > 0}>
                <ProviderKey providers={items.filter(({ kind }) => kind !== "scripted")} />
              </Provided>
            </>
          );
        }}
      </Await>
    </>
  );
}

/** Folded once there is a model. */
function Provided({ ready, children }: { ready: boolean; children: ReactNode }) {
  if (!ready) return children;
  return (
    <details>
      <summary className="min-h-6 text-dim">Another provider</summary>
      <div className="mt-2">{children}</div>
    </details>
  );
}

/** If Ollama answers on this machine, one click makes it the default. */
function Ollama({ chosen }: { chosen: boolean }) {
  const action = useChange();
  const params = { path: { id: OLLAMA } };
  const trial = api.useQuery(
    "post",
    "/v1/settings/providers/{id}/test",
    { params, body: {} },
    { staleTime: 60_000, retry: false },
  );
  const models = trial.data?.ok ? trial.data.models : [];
  if (chosen || trial.isPending) return null;
  if (models.length === 0)
    return (
      <p className="mb-3 text-sm text-dim">
        Ollama was not found on this machine. If it runs on another, choose it as the provider and give its address.
      </p>
    );
  const use = (model: string) => action.run(() => keep(OLLAMA, { enabled: true, default: fullId(OLLAMA, model) }));
  return (
    <div className="mb-3 flex flex-wrap items-center justify-between gap-3 rounded-md border border-line px-3 py-2">
      Ollama answers on this machine, with {pluralize(models.length, "model")}.
      <Button label={`Use ${models[0]!.name}`} kind="primary" busy={action.busy} onClick={() => use(models[0]!.id)} />
      <ProblemNote error={action.error} />
    </div>
  );
}

function ProviderKey({ providers }: { providers: Provider[] }) {
  const [id, setId] = useState(providers[0]?.id ?? "");
  const provider = providers.find((one) => one.id === id);
  if (!provider) return null;
  return (
    <>
      <SelectField label="Provider" value={id} onChange={(event) => setId(event.target.value)} options={providers} />
      <KeyForm key={id} provider={provider} />
    </>
  );
}

/** Tests the typed key or address. If it works, it is stored together with the model that is chosen next. */
function KeyForm({ provider }: { provider: Provider }) {
  const { id, base_url, docs_url, name } = provider;
  const form = useRef<HTMLFormElement>(null);
  const trial = useChange();
  const action = useChange();
  const [tested, setTested] = useState<Tested>();
  const readTyped = () => {
    const { raw, text } = fieldsOf(form.current!);
    return {
      ...(raw("api_key") ? { api_key: raw("api_key") } : {}),
      ...(text("base_url") !== (base_url ?? "") ? { base_url: text("base_url") || null } : {}),
    };
  };
  const test = () =>
    trial.run(async () => {
      setTested(undefined);
      const { base_url: address, ...rest } = readTyped();
      const body = { ...rest, ...(address ? { base_url: address } : {}) };
      setTested(await must(client.POST("/v1/settings/providers/{id}/test", { params: { path: { id } }, body })));
    });
  const save = (model: string) => action.run(() => keep(id, { ...readTyped(), enabled: true, default: model || null }));
  // Ollama runs on the user's own machine, so its address matters.
  const own = id === OLLAMA;
  const address = (
    <Field
      label="Address"
      hint={own && "With /v1 at its end, as in http://192.168.1.20:11434/v1."}
      error={fieldError(trial.error ?? action.error, "base_url")}
    >
      <Input name="base_url" defaultValue={base_url ?? ""} spellCheck={false} />
    </Field>
  );
  return (
    <form
      ref={form}
      onChange={() => setTested(undefined)}
      onSubmit={(event) => {
        event.preventDefault();
        void test();
      }}
    >
      {own && address}
      <Field
        label={own ? "API key, if it wants one" : "API key"}
        hint={
          !own &&
          docs_url && (
            <>
              Sealed here and never shown again. Keys are made at{" "}
              <a href={docs_url} target="_blank" rel="noreferrer" className="underline">
                {new URL(docs_url).host}
              </a>
              .
            </>
          )
        }
        error={fieldError(trial.error ?? action.error, "api_key")}
      >
        <Input name="api_key" type="password" autoComplete="off" spellCheck={false} />
      </Field>
      {!own && (
        <details className="mb-3 text-sm">
          <summary className="min-h-6 text-dim">Another address</summary>
          {address}
        </details>
      )}
      <TestResult tested={tested} error={trial.error} />
      <div className="flex flex-wrap items-end gap-3">
        <Button type="submit" kind={tested?.ok ? "plain" : "primary"} busy={trial.busy}>
          {trial.busy ? "Asking it…" : "Test"}
        </Button>
        {tested?.ok && <KeepModel provider={id} name={name} models={tested.models} action={action} onKeep={save} />}
      </div>
      <ProblemNote error={action.error} />
    </form>
  );
}

interface KeepProps {
  provider: string;
  name: string;
  models: Tested["models"];
  action: Action;
  onKeep(model: string): void;
}

function KeepModel({ provider, name, models, action, onKeep }: KeepProps) {
  const [model, setModel] = useState(models[0] ? fullId(provider, models[0].id) : "");
  return (
    <>
      {models.length > 0 && (
        <div className="-mb-3">
          <Field label="Model of agents that choose none">
            <Select
              value={model}
              onChange={(event) => {
                // The form drops its test result when a field changes, but this field is not part of the test.
                event.stopPropagation();
                setModel(event.target.value);
              }}
              options={models.map((one) => [fullId(provider, one.id), one.name])}
            />
          </Field>
        </div>
      )}
      <Button label={`Use ${name}`} kind="primary" busy={action.busy} onClick={() => onKeep(model)} />
    </>
  );
}
