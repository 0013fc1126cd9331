/** Maps a provider's groups to memberships of projects, within the provider's form. */
import { Plus, X } from "lucide-react";
import { useState } from "react";
import { api, type Schemas } from "../../api/client.ts";
import { Button, IconButton } from "../../ui/button.tsx";
import { Field, Input, Select } from "../../ui/field.tsx";
import type { Fields } from "../../ui/form.tsx";
import { ROLES, type Role } from "../projects/roles.ts";

type GroupRole = Schemas["Oidc"]["group_roles"][number];

/** Most projects in the menu. */
const MOST = 200;
/** Most rows that the server accepts. */
const ROWS_MAX = 200;

/** Reads the rows from the form. */
export function groupRolesOf({ all }: Fields): GroupRole[] {
  const form = all();
  const readColumn = (name: string) => form.getAll(name).map(String);
  const [projects, roles] = [readColumn("group_project"), readColumn("group_role")];
  return readColumn("group").map((group, at) => ({
    group: group.trim(),
    project_id: projects[at] ?? "",
    role: ROLES.find((one) => one === roles[at]) ?? "viewer",
  }));
}

interface RowState {
  key: number;
  saved?: GroupRole;
}

export function GroupFields({ provider }: { provider: Schemas["Oidc"] | undefined }) {
  const [rows, setRows] = useState<RowState[]>(() =>
    (provider?.group_roles ?? []).map((saved, key) => ({ key, saved })),
  );
  const add = () => setRows((old) => [...old, { key: Math.max(-1, ...old.map(({ key }) => key)) + 1 }]);
  return (
    <fieldset className="mb-3">
      <legend className="mb-1 font-medium">Groups and projects</legend>
      <Field label="Claim with the groups" name="group_claim">
        <Input required defaultValue={provider?.group_claim ?? "groups"} spellCheck={false} />
      </Field>
      <p className="mb-2 text-sm text-dim">
        Who is in a group is a member of its projects from the next sign-on, and no longer after one without the group.
      </p>
      <ul aria-label="Groups" className="flex flex-col gap-2">
        {rows.map(({ key, saved }, at) => (
          <GroupRow
            key={key}
            saved={saved}
            at={at}
            remove={() => setRows((old) => old.filter((one) => one.key !== key))}
          />
        ))}
      </ul>
      <Button label="Add a group" className="mt-2" icon={Plus} disabled={rows.length >= ROWS_MAX} onClick={add} />
    </fieldset>
  );
}

function GroupRow({ saved, at, remove }: { saved: GroupRole | undefined; at: number; remove(): void }) {
  const query = api.useQuery("get", "/v1/projects", { params: { query: { limit: MOST } } });
  const items = query.data?.items ?? [];
  const absent = saved !== undefined && !items.some(({ id }) => id === saved.project_id);
  const of = ` of group ${at + 1}`;
  return (
    <li className="flex flex-wrap items-center gap-2">
      <Input
        name="group"
        aria-label={`Name${of}`}
        required
        maxLength={256}
        placeholder="builders"
        defaultValue={saved?.group ?? ""}
        spellCheck={false}
        className="w-40! max-sm:w-full!"
      />
      {/* A select takes its default only when it is created, so the key creates it anew once the projects are
          known. */}
      <Select
        key={query.data ? "known" : "asked"}
        name="group_project"
        aria-label={`Project${of}`}
        required
        defaultValue={saved?.project_id ?? ""}
        className="w-40! max-sm:w-full!"
        options={items}
      >
        <option value="">Which project?</option>
        {absent && <option value={saved.project_id}>{saved.project_id}</option>}
      </Select>
      <Select
        name="group_role"
        aria-label={`Role${of}`}
        defaultValue={saved?.role ?? ("contributor" satisfies Role)}
        className="w-32!"
        options={ROLES}
      />
      <IconButton label={`Remove group ${at + 1}`} onClick={remove} icon={X} />
    </li>
  );
}
