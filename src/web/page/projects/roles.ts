/** Roles in a project, for showing what a person may do there; the API checks it again. */
import { api, type Schemas } from "../../api/client.ts";

export type Role = Schemas["Project"]["role"];

/** Least first. */
export const ROLES = ["viewer", "contributor", "maintainer", "owner"] as const satisfies readonly Role[];

export const mayDo = (role: Role, least: Role): boolean => ROLES.indexOf(role) >= ROLES.indexOf(least);

/**
 * Says what to offer on work in a project: everything until the project is read, and on work without a project, which is
 * one's own.
 */
export function useMayDo(projectId: string | null | undefined): (least: Role) => boolean {
  const params = { path: { id: projectId ?? "" } };
  const { data } = api.useQuery("get", "/v1/projects/{id}", { params }, { enabled: Boolean(projectId) });
  return (least) => data === undefined || mayDo(data.role, least);
}
