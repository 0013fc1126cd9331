/**
 * For callers that tests create by hand: every project is open to everybody, as on a server where no project was
 * closed.
 */
import { OPEN_ROLE, type ProjectRoles } from "../core/ownership.ts";

export const OPEN_PROJECTS: ProjectRoles = { roleOf: () => OPEN_ROLE };
