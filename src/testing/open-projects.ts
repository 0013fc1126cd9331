/** For callers that tests make by hand: every project is open to all, as on a server where nobody closed one. */
import { OPEN_ROLE, type ProjectRoles } from "../core/ownership.ts";

export const OPEN_PROJECTS: ProjectRoles = { roleOf: () => OPEN_ROLE };
