/** Fields that choose one of what the server has: an agent, a project, a pipeline, a model. */
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
  /** The label for choosing nothing; without it something is always chosen. */
  none?: string;
  required?: boolean;
  disabled?: boolean;
  /** Called with the choice whenever it changes. */
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
      {/* A select takes its default when it is made: it is made again once the options are there. */}
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

/** Agents that are switched on. */
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

/** @param byName its value is the project's name instead of its id. */
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

/** Pipelines that can run. */
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
