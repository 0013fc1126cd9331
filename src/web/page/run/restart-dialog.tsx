/** The dialog that restarts a run from a step, with guidance for the agents. */
import { api, client, must, type Schemas } from "../../api/client.ts";
import { refresh } from "../../api/queries.ts";
import { FormDialog } from "../../kit/form-dialog.tsx";
import { Field, Input, Select, TextArea } from "../../ui/field.tsx";
import type { Fields } from "../../ui/form.tsx";

interface Props {
  run: Schemas["Run"];
  /** The step to restart from; by default the one at which the run stopped. */
  from?: string;
  onClose(): void;
}

export function RestartDialog({ run, from = "", onClose }: Props) {
  const plan = api.useQuery("get", "/v1/runs/{id}/plan", { params: { path: { id: run.id } } });
  const open = plan.data?.steps.find(({ status }) => status !== "succeeded" && status !== "skipped");
  const submit = async ({ number, pickFilled }: Fields) => {
    const budget_usd = number("budget_usd");
    const body = {
      ...pickFilled("from_step", "human_context"),
      ...(budget_usd === undefined ? {} : { budget_usd }),
    };
    await must(client.POST("/v1/runs/{id}/restart", { params: { path: { id: run.id } }, body }));
    await refresh("/v1/runs", "/v1/steps");
  };
  return (
    <FormDialog title="Restart the run" word="Restart" submit={submit} onClose={onClose}>
      <Field
        label="From"
        name="from_step"
        hint="Results of this step and those after it are dropped; earlier ones are kept."
      >
        <Select key={plan.data ? "known" : "asked"} defaultValue={from} options={plan.data?.steps}>
          <option value="">{open ? `${open.name}, where it stopped` : "Where it stopped"}</option>
        </Select>
      </Field>
      <Field label="Guidance" name="human_context" hint="Every step from here on reads it.">
        <TextArea rows={3} placeholder="What they should know or do differently this time." autoFocus />
      </Field>
      <Field label="Budget, USD" name="budget_usd" hint="Leave it empty to keep the current one.">
        <Input type="number" min="0.01" step="0.01" inputMode="decimal" />
      </Field>
    </FormDialog>
  );
}
