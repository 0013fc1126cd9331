/** One model: its context window, prices and abilities, which can be corrected, and a trial of the model. */

import { useState } from "react";
import { api, client, must, type Schemas } from "../../api/client.ts";
import { refresh } from "../../api/queries.ts";
import { useChange } from "../../kit/change.ts";
import { FormDialog } from "../../kit/form-dialog.tsx";
import { Button } from "../../ui/button.tsx";
import { FactList } from "../../ui/facts.tsx";
import { Check, Field, Input, Select } from "../../ui/field.tsx";
import type { Fields } from "../../ui/form.tsx";
import { formatDuration, formatField, formatUsd } from "../../ui/format.ts";
import { JobProgress } from "../../ui/job-progress.tsx";
import { ProblemNote } from "../../ui/problem-note.tsx";
import { Ago } from "../../ui/time.tsx";

type Model = Schemas["Model"];
type Trial = NonNullable<Schemas["ModelTrial"]["trial"]>;

const NUMBERS = [
  ["context_window", "Window, tokens", "What is served. Ollama is asked for it in each call."],
  ["max_output_tokens", "Longest reply, tokens", "Empty: the provider's own limit."],
  ["input_usd_per_mtok", "Price in, USD a million", "For what it reads."],
  ["output_usd_per_mtok", "Price out, USD a million", "For what it writes."],
] as const;
const ABILITIES = [
  ["tools", "Calls tools"],
  ["images", "Sees pictures"],
  ["reasoning", "Thinks first"],
] as const;

/**
 * Only the changed fields. The others keep what the server or the price table says; an emptied field returns to that.
 */
function changesOf(model: Model, { number, choice }: Fields): Omit<Schemas["UpdateModelBody"], "model"> {
  const numbers = NUMBERS.flatMap(([name]) => {
    const value = number(name) ?? null;
    return value === model[name] ? [] : [[name, value] as const];
  });
  const abilities = ABILITIES.flatMap(([name]) => {
    const value = choice<"keep" | "auto" | "yes" | "no">(name);
    return value === "keep" ? [] : [[name, value === "auto" ? null : value === "yes"] as const];
  });
  return Object.fromEntries([...numbers, ...abilities]);
}

export function ModelDialog({ model, onClose }: { model: Model; onClose(): void }) {
  const save = async (fields: Fields) => {
    const changes = changesOf(model, fields);
    if (Object.keys(changes).length > 0)
      await must(client.PUT("/v1/settings/models", { body: { model: model.id, ...changes } }));
  };
  return (
    <FormDialog
      title={model.id}
      word="Save"
      changes={["/v1/models", "/v1/settings/providers"]}
      said={`${model.id} is saved.`}
      submit={save}
      onClose={onClose}
      after={<TryModel model={model.id} />}
    >
      <div className="grid gap-x-3 sm:grid-cols-2">
        {NUMBERS.map(([name, label, hint]) => (
          <Field key={name} label={label} hint={hint} name={name}>
            <Input type="number" min={0} step={name.endsWith("mtok") ? "any" : 1} defaultValue={model[name] ?? ""} />
          </Field>
        ))}
        {ABILITIES.map(([name, label]) => (
          <Field key={name} label={label} name={name}>
            <Select defaultValue="keep">
              <option value="keep">As now: {model[name] ? "yes" : "no"}</option>
              <option value="auto">What the server says</option>
              <option value="yes">Yes</option>
              <option value="no">No</option>
            </Select>
          </Field>
        ))}
      </div>
    </FormDialog>
  );
}

const foundWord = ({ ok, detail }: Trial["tools"]): string =>
  [ok === null ? "" : ok ? "yes" : "no", detail].filter(Boolean).join(". ");

function TryModel({ model }: { model: string }) {
  const action = useChange();
  const served = useChange();
  const last = api.useQuery("get", "/v1/settings/models/trial", { params: { query: { model } } });
  const [begun, setBegun] = useState("");
  const [isDeep, setDeep] = useState(false);
  const [said, setSaid] = useState("");
  const job = begun || last.data?.job_id;
  const tryIt = () =>
    action.run(async () =>
      setBegun((await must(client.POST("/v1/settings/models/try", { body: { model, needle: isDeep } }))).id),
    );
  const ask = () =>
    served.run(async () => {
      const found = await must(client.POST("/v1/settings/models/window", { body: { model } }));
      const tokens = found.context_window?.toLocaleString();
      setSaid(
        found.advice ?? (tokens ? `It serves ${tokens} tokens.` : "The server does not say which window it serves."),
      );
    });
  return (
    <section aria-label="Trial" className="mt-4 border-t border-line pt-3">
      <div className="flex flex-wrap items-center gap-2">
        <Button label="Try it" busy={action.busy} onClick={() => void tryIt()} />
        <Button label="Ask for its window" busy={served.busy} onClick={() => void ask()} />
      </div>
      <div className="mt-2">
        <Check
          label="Fill its window, too"
          hint="One more call, of nine tenths of the window: it takes long."
          checked={isDeep}
          onChange={({ target }) => setDeep(target.checked)}
        />
      </div>
      <p className="mt-1 text-sm text-dim">A trial makes three real calls, which cost what calls cost.</p>
      <ProblemNote error={action.error ?? served.error} />
      {said && (
        <p role="status" className="mt-2">
          {said}
        </p>
      )}
      {job && (
        <JobProgress
          key={job}
          id={job}
          about="Trying the model."
          onEnd={() => refresh("/v1/settings/models/trial", "/v1/jobs")}
          renderEnd={({ state, error }) =>
            state !== "succeeded" && <p role="status">{error?.message ?? formatField(state)}</p>
          }
        />
      )}
      {last.data?.trial && <Found trial={last.data.trial} />}
    </section>
  );
}

/** The results of the last trial. */
function Found({ trial }: { trial: Trial }) {
  const { calls, cost_usd } = trial;
  return (
    <div role="status" className="mt-2">
      <FactList
        facts={[
          ["Answers", foundWord(trial.answers)],
          ["Piece by piece", trial.streams ? "yes" : "no, at once"],
          ["Calls tools", foundWord(trial.tools)],
          ["Sees pictures", foundWord(trial.images)],
          ["Thinks", trial.reasoning ? "yes" : "it did not, here"],
          ["Window", trial.context_window?.toLocaleString() ?? "not known"],
          ["End of window", trial.needle.ok === null ? "not tried" : foundWord(trial.needle)],
          ["Took", formatDuration(trial.duration_ms)],
          [
            "Cost",
            cost_usd === null
              ? "unknown: it has no price"
              : `${formatUsd(cost_usd)}, ${formatUsd(cost_usd / calls)} a call`,
          ],
          ["Tried", <Ago key="at" at={trial.tried_at} />],
        ]}
      />
    </div>
  );
}
