/**
 * Checks the caller's role in the projects that a request names. It runs once for every operation, after its input is
 * read and before its handler. A project that the caller does not see is answered as if it did not exist: here for
 * paths below `/v1/projects/{id}`, elsewhere by the policy of each table (`store/whose.ts`).
 */
import { notFound } from "../core/errors.ts";
import { ID_PREFIXES } from "../core/ids.ts";
import { membersOf } from "../core/is-object.ts";
import { assertRole, type ProjectRole, roleIn } from "../core/ownership.ts";
import type { Store } from "../store/store.ts";
import type { Caller } from "./caller.ts";
import type { Operation } from "./operation.ts";

export type ProjectGate = ReturnType<typeof createProjectGate>;

const BELOW_PROJECT = "/v1/projects/:id";
const ofSession = (table: string) =>
  `SELECT sessions.project_id FROM ${table} JOIN sessions ON sessions.id = ${table}.session_id WHERE ${table}.id = ?`;

/** SQL for the project of an object, by the prefix of the object's id. */
const PROJECT_OF: ReadonlyMap<string, string> = new Map([
  [ID_PREFIXES.project, "SELECT id AS project_id FROM projects WHERE id = ?"],
  [ID_PREFIXES.run, "SELECT project_id FROM runs WHERE id = ?"],
  [ID_PREFIXES.session, "SELECT project_id FROM sessions WHERE id = ?"],
  [ID_PREFIXES.execution, ofSession("executions")],
  [ID_PREFIXES.swarm, ofSession("swarms")],
  [ID_PREFIXES.permission, ofSession("permission_requests")],
  [ID_PREFIXES.document, "SELECT project_id FROM documents WHERE id = ?"],
  [ID_PREFIXES.routine, "SELECT project_id FROM pulse_routines WHERE id = ?"],
  [ID_PREFIXES.job, "SELECT project_id FROM jobs WHERE id = ?"],
]);
const BY_NAME = "SELECT id AS project_id FROM projects WHERE name = ? COLLATE NOCASE";

/** The least role for an operation. Default: `viewer` for reading, `contributor` for a change. */
const leastOf = ({ project, method, scope }: Operation): ProjectRole =>
  project ?? (method === "GET" || scope === "read" ? "viewer" : "contributor");

export function createProjectGate({ statement }: Pick<Store, "statement">) {
  const find = (sql: string, value: string) => statement<string | null>(sql).pluck().get(value) ?? undefined;
  function projectOf(id: unknown): string | undefined {
    if (typeof id !== "string") return undefined;
    const sql = PROJECT_OF.get(id.slice(0, id.lastIndexOf("_")));
    return sql && find(sql, id);
  }
  /** @throws Problem 403 `project_role`, 404. */
  return (operation: Operation, input: { params: unknown; body: unknown }, caller: Caller): void => {
    if (caller.admin) return;
    const params = membersOf(input.params);
    const { id } = params;
    if (operation.path.startsWith(BELOW_PROJECT) && typeof id === "string" && roleIn(caller, id) === null)
      throw notFound("project");
    const least = leastOf(operation);
    // Everybody who sees the project is at least a viewer.
    if (least === "viewer") return;
    const { project_id, project_name, session_id, run_id } = membersOf(input.body);
    for (const named of [...Object.values(params), project_id, session_id, run_id])
      assertRole(caller, projectOf(named), least);
    if (typeof project_name === "string") assertRole(caller, find(BY_NAME, project_name), least);
  };
}
