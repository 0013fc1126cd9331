/** Roles in a project, for showing what a person may do there; the API checks it again. */
import type { Schemas } from "../../api/client.ts";

export type Role = Schemas["Project"]["role"];

/** Least first. */
export const ROLES = ["viewer", "contributor", "maintainer", "owner"] as const satisfies readonly Role[];

export const mayDo = (role: Role, least: Role): boolean => ROLES.indexOf(role) >= ROLES.indexOf(least);
