/** The dialog for the names of the board's columns and how many tasks each may hold. */

import { client, must } from "../../api/client.ts";
import { FormDialog } from "../../kit/form-dialog.tsx";
import { Input } from "../../ui/field.tsx";
import { type Project, wordOf } from "./board.ts";

export function ColumnsDialog({ project, onClose }: { project: Project; onClose(): void }) {
  return (
    <FormDialog
      title="Columns"
      word="Save"
      changes={["/v1/projects"]}
      submit={async ({ text, number }) => {
        const columns = project.columns.map(({ id, statuses }) => ({
          id,
          statuses,
          name: text(`name:${id}`),
          wip_limit: number(`limit:${id}`) ?? null,
        }));
        const call = client.PUT("/v1/projects/{id}", { params: { path: { id: project.id } }, body: { columns } });
        await must(call);
      }}
      onClose={onClose}
    >
      <p className="mb-3 text-dim">A limit keeps more from being started than is finished. Empty: no limit.</p>
      <table className="mb-3 w-full text-left">
        <thead className="text-xs text-faint">
          <tr>
            <th className="pb-1 font-medium">Name</th>
            <th className="w-24 pb-1 font-medium">Limit</th>
          </tr>
        </thead>
        <tbody>
          {project.columns.map(({ id, name, wip_limit, statuses }) => (
            <tr key={id} className="align-top">
              <td className="pr-2 pb-2">
                <Input name={`name:${id}`} aria-label={`Name of ${name}`} required defaultValue={name} />
                <span className="text-xs text-faint">{statuses.map(wordOf).join(", ")}</span>
              </td>
              <td>
                <Input
                  name={`limit:${id}`}
                  aria-label={`Limit of ${name}`}
                  type="number"
                  min="1"
                  defaultValue={wip_limit ?? undefined}
                />
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </FormDialog>
  );
}
