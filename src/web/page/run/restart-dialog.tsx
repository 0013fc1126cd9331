/** Restart from a step, with guidance for the agents. */
import { type FormEvent, useState } from "react";
import { api, client, fieldError, must, type Schemas } from "../../api/client.ts";
import { refresh } from "../../api/queries.ts";
import { Button } from "../../ui/button.tsx";
import { Dialog } from "../../ui/dialog.tsx";
import { Field, Input, Select, TextArea } from "../../ui/field.tsx";
import { ProblemNote } from "../../ui/note.tsx";

interface Props {
  run: Schemas["Run"];
  /** The step to restart from; where it stopped, unless one is given. */
  from?: string;
  onClose(): void;
}

export function RestartDialog({ run, from = "", onClose }: Props) {
  const plan = api.useQuery("get", "/v1/runs/{id}/plan", { params: { path: { id: run.id } } });
  const [error, setError] = useState<unknown>();
  const [busy, setBusy] = useState(false);
  const open = plan.data?.steps.find(({ status }) => status !== "succeeded" && status !== "skipped");
  const submit = async (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    const form = new FormData(event.currentTarget);
    const text = (name: string) => String(form.get(name) ?? "").trim();
    setBusy(true);
    setError(undefined);
    try {
      const body = {
        ...(text("from_step") ? { from_step: text("from_step") } : {}),
        ...(text("human_context") ? { human_context: text("human_context") } : {}),
        ...(text("budget_usd") ? { budget_usd: Number(text("budget_usd")) } : {}),
      };
      await must(client.POST("/v1/runs/{id}/restart", { params: { path: { id: run.id } }, body }));
      await refresh("/v1/runs", "/v1/steps");
      onClose();
    } catch (thrown) {
      setError(thrown);
      setBusy(false);
    }
  };
  return (
    <Dialog title="Restart the run" onClose={onClose}>
      <form onSubmit={submit}>
        <Field
          label="From"
          hint="Results of this step and those after it are dropped; earlier ones are kept."
          error={fieldError(error, "from_step")}
        >
          <Select name="from_step" key={plan.data ? "known" : "asked"} defaultValue={from}>
            <option value="">{open ? `${open.name}, where it stopped` : "Where it stopped"}</option>
            {(plan.data?.steps ?? []).map(({ id, name }) => (
              <option key={id} value={id}>
                {name}
              </option>
            ))}
          </Select>
        </Field>
        <Field label="Guidance" hint="Every step from here on reads it." error={fieldError(error, "human_context")}>
          <TextArea
            name="human_context"
            rows={3}
            placeholder="What they should know or do differently this time."
            autoFocus
          />
        </Field>
        <Field
          label="Budget, USD"
          hint="Leave it empty to keep the current one."
          error={fieldError(error, "budget_usd")}
        >
          <Input name="budget_usd" type="number" min="0.01" step="0.01" inputMode="decimal" />
        </Field>
        <ProblemNote error={error} />
        <div className="flex justify-end gap-2">
          <Button onClick={onClose}>Keep it as it is</Button>
          <Button type="submit" kind="primary" busy={busy}>
            Restart
          </Button>
        </div>
      </form>
    </Dialog>
  );
}
