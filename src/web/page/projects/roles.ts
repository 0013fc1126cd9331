/** Roles in a project. The pages use them to decide what to offer; the API checks them again. */
import { api, type Schemas } from "../../api/client.ts";

export type Role = Schemas["Project"]["role"];

/** From the least to the most powerful. */
export const ROLES = ["viewer", "contributor", "maintainer", "owner"] as const satisfies readonly Role[];

export const mayDo = (role: Role, least: Role): boolean => ROLES.indexOf(role) >= ROLES.indexOf(least);

/**
 * @returns a function that says whether to offer an action. Everything is offered until the project is loaded, and on
 * work without a project, which only its owner sees.
 */
export function useMayDo(projectId: string | null | undefined): (least: Role) => boolean {
  const params = { path: { id: projectId ?? "" } };
  const { data } = api.useQuery("get", "/v1/projects/{id}", { params }, { enabled: Boolean(projectId) });
  return (least) => data === undefined || mayDo(data.role, least);
}
