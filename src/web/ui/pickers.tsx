/** Fields that choose one of the server's objects: an agent, a project, a pipeline, a model. */
import type { ReactNode } from "react";
import { api } from "../api/client.ts";
import { Field, Select } from "./field.tsx";

const many = { params: { query: { limit: 200 } } };

interface Picker {
  /** Name of the field, as in the API. */
  name?: string;
  label?: string;
  hint?: ReactNode;
  defaultValue?: string | null | undefined;
  /** Label of the option for no choice. Without it, something is always chosen. */
  none?: string;
  required?: boolean;
  disabled?: boolean;
  /** Called with the value whenever the choice changes. */
  onPick?(value: string): void;
}

function PickerField({
  options,
  name = "",
  label = "",
  hint,
  defaultValue,
  none,
  required,
  disabled,
  onPick,
}: PickerProps) {
  const chosen = defaultValue ?? "";
  const listed = options ?? [];
  const missing = chosen !== "" && !listed.some(([value]) => value === chosen);
  return (
    <Field label={label} hint={hint} name={name}>
      {/* A select takes its default only when it is created, so the key creates it anew once the options are known. */}
      <Select
        key={options ? "known" : "asked"}
        defaultValue={chosen}
        required={required}
        disabled={disabled}
        onChange={(event) => onPick?.(event.target.value)}
        options={listed}
      >
        {none !== undefined && <option value="">{none}</option>}
        {missing && <option value={chosen}>{chosen}</option>}
      </Select>
    </Field>
  );
}
type PickerProps = Picker & { options: readonly (readonly [value: string, label: string])[] | undefined };

/** Offers the enabled agents. */
export function AgentField({ name = "agent_id", label = "Agent", ...rest }: Picker) {
  const { data } = api.useQuery("get", "/v1/agents", many);
  const options = data?.items
    .filter(({ enabled }) => enabled)
    .map(
      ({ id, name, role }) =>
        [id, role && role.toLowerCase() !== name.toLowerCase() ? `${name}, ${role}` : name] as const,
    );
  return <PickerField options={options} name={name} label={label} {...rest} />;
}

/** @param byName whether the value is the project's name instead of its id. */
export function ProjectField({
  name = "project_id",
  label = "Project",
  none = "None",
  byName = false,
  ...rest
}: Picker & { byName?: boolean }) {
  const { data } = api.useQuery("get", "/v1/projects", many);
  const options = data?.items.map(({ id, name }) => [byName ? name : id, name] as const);
  return <PickerField options={options} name={name} label={label} none={none} {...rest} />;
}

/** Offers the pipelines that can run. */
export function PipelineField({ name = "pipeline_id", label = "Pipeline", ...rest }: Picker) {
  const { data } = api.useQuery("get", "/v1/pipelines", many);
  const options = data?.items
    .filter(({ valid }) => valid)
    .map(({ id, name }) => [id, name ? `${name} (${id})` : id] as const);
  return <PickerField options={options} name={name} label={label} {...rest} />;
}

export function ModelField({ none = "The agent's own", ...rest }: Pick<Picker, "defaultValue" | "none">) {
  const { data } = api.useQuery("get", "/v1/models", many);
  const options = data?.items.map(({ id }) => [id, id] as const);
  return <PickerField options={options} name="model" label="Model" none={none} {...rest} />;
}
