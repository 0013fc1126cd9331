/** For `skep doctor`: accepted environments with services that cannot run on this server. */
import { ownJson } from "../../core/own-json.ts";
import { projectEnvironments } from "../../store/tables/environments.ts";
import { type Finding, fail } from "../doctor/model.ts";
import type { Core } from "../feature.ts";
import { REMEDY } from "./groups.ts";
import type { EnvironmentServices } from "./model.ts";
import type { EnvironmentServicesService } from "./service.ts";

interface Needs extends Pick<Core, "store"> {
  settings: { get(): { sandbox: { runtime: string | null } } };
  projects: { find(id: string): { name: string } | undefined };
}

export async function findLacks(
  { store, settings, projects }: Needs,
  { lack }: Pick<EnvironmentServicesService, "lack">,
): Promise<Finding[]> {
  const rows = store.rows(projectEnvironments).list([], { order: "project_id" });
  const wanting = rows.flatMap(({ project_id, definition }) => {
    const names = Object.keys(ownJson<{ services?: EnvironmentServices }>(definition).services ?? {});
    return names.length > 0 ? [`${projects.find(project_id)?.name ?? project_id} (${names.join(", ")})`] : [];
  });
  if (wanting.length === 0) return [];
  const why = await lack(settings.get().sandbox.runtime ?? undefined);
  if (why === undefined) return [];
  return wanting.map((name) => fail("services", `${name}: its work fails, since ${why}`, REMEDY));
}
