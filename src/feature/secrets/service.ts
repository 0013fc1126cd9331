/** Secrets: sealed at rest, masked in answers, and given in plaintext only to the engine and only when granted. */
import { toTimestamp } from "../../core/clock.ts";
import { conflict, expectFound, invalidField, notFound } from "../../core/errors.ts";
import { newId } from "../../core/ids.ts";
import { LIMITS } from "../../core/limits.ts";
import { isMaskable, MIN_MASKED_LENGTH, maskedPreview } from "../../core/masking.ts";
import { withoutNull } from "../../core/schema.ts";
import { actedBy, type Caller } from "../../http/caller.ts";
import { type ListAnswer, listById, type Page } from "../../http/list.ts";
import { secretGrants, secrets } from "../../store/tables/secrets.ts";
import { isReservedName, type Secret, type SecretCreate, type SecretEdge, type SecretUpdate } from "./model.ts";
import { createReadings, grantedTo, type ReadingsDeps } from "./readings.ts";
import type { SecretValues } from "./values.ts";

interface SecretsDeps extends Omit<ReadingsDeps, "values" | "assertAgent"> {
  values: Pick<SecretValues, "open" | "seal" | "onReplace" | "onRemove">;
  agentExists(agentId: string): boolean;
}

export type Secrets = ReturnType<typeof createSecrets>;

type Row = typeof secrets.$inferSelect;

const CONNECTION_HEADERS = /^(host|connection|content-length|transfer-encoding|te|trailer|upgrade|expect|proxy-.*)$/i;

/** The preview of a value that is too short to be masked. It shows no part of the value. */
const UNMASKED = maskedPreview("");
const WARNING = `The value has fewer than ${MIN_MASKED_LENGTH} characters: it is not masked where an agent shows it.`;
/** Preview of a value. A value that cannot be masked gets none, whatever characters it has. */
const previewOf = (value: string): string => (isMaskable(value) ? maskedPreview(value) : UNMASKED);

const assertSize = (value: string): void => {
  if (Buffer.byteLength(value) > LIMITS.secretValueBytes)
    throw invalidField("/value", `A secret holds at most ${LIMITS.secretValueBytes} bytes`);
  if (value.includes("\0")) throw invalidField("/value", "An environment variable cannot hold a NUL character");
};
/** @throws Problem 422 for a value that cannot be put into a header, or not be blanked in an answer. */
const assertEdge = (edge: SecretEdge, value: string | undefined): void => {
  if (CONNECTION_HEADERS.test(edge.header))
    throw invalidField("/edge/header", "This header belongs to the connection; name another one");
  if (value === undefined) return;
  if (!isMaskable(value))
    throw invalidField("/edge", `A value with fewer than ${MIN_MASKED_LENGTH} characters cannot be blanked in answers`);
  if (!/^[\x20-\x7e]+$/.test(value))
    throw invalidField("/value", "A header holds one line of printable ASCII characters");
};

export function createSecrets(deps: SecretsDeps) {
  const { store, clock, values, audit, agentExists } = deps;
  const [rows, grants] = [store.rows(secrets), store.rows(secretGrants)];
  const find = (idOrName: string): Row =>
    expectFound(rows.find({ id: idOrName }) ?? rows.find({ name: idOrName }), "secret");
  const present = ({ id, sealed: _, ...row }: Row): Secret => ({
    secret_id: id,
    id,
    ...row,
    warning: row.masked_preview === UNMASKED ? WARNING : null,
    granted_agents: grants.list([{ secret_id: id }], { order: "agent_id" }).map(({ agent_id }) => agent_id),
  });
  const assertAgent = (agentId: string): void => {
    if (!agentExists(agentId)) throw notFound("agent");
  };
  const record = (action: string, caller: Caller, row: Row, data: Record<string, unknown> = {}) =>
    audit({ action, ...actedBy(caller), subject: row.id, data: { name: row.name, ...data } });

  return {
    ...createReadings({ ...deps, assertAgent }),
    list(page: Page): ListAnswer<Secret> {
      return listById(rows.page([], page), page, present);
    },
    /** @throws Problem 404. */
    get: (idOrName: string): Secret => present(find(idOrName)),
    /** @throws Problem 409 when the name is taken, 422 for a reserved name or an oversized value. */
    create({ name, description, secret_type = "custom", value, edge = null }: SecretCreate, caller: Caller): Secret {
      if (isReservedName(name)) throw invalidField("/name", "This variable is the sandbox's own; choose another name");
      assertSize(value);
      if (edge) assertEdge(edge, value);
      return store.write(() => {
        if (rows.find({ name })) throw conflict("A secret with this name exists. Update it, or delete it first.");
        const at = toTimestamp(clock.now());
        const id = newId("secret");
        const row: Row = {
          id,
          name,
          description: description ?? "",
          secret_type,
          sealed: values.seal({ id, name }, value),
          masked_preview: previewOf(value),
          edge,
          created_at: at,
          updated_at: at,
          last_used_at: null,
          last_used_by: null,
        };
        rows.insert(row);
        record("secret.created", caller, row);
        return present(row);
      });
    },
    update(idOrName: string, { value, edge, ...fields }: SecretUpdate, caller: Caller): Secret {
      if (value !== undefined) assertSize(value);
      return store.write(() => {
        const row = find(idOrName);
        const bound = edge === undefined ? row.edge : edge;
        if (bound) assertEdge(bound, value ?? values.open(row));
        if (value !== undefined) values.onReplace(row);
        const sealed = value === undefined ? {} : { sealed: values.seal(row, value), masked_preview: previewOf(value) };
        rows.update({ ...withoutNull(fields), edge, ...sealed, updated_at: toTimestamp(clock.now()) }, { id: row.id });
        record("secret.updated", caller, row, { rotated: value !== undefined });
        return present(find(row.id));
      });
    },
    remove(idOrName: string, caller: Caller): void {
      store.write(() => {
        const row = find(idOrName);
        rows.remove({ id: row.id });
        values.onRemove(row);
        record("secret.deleted", caller, row);
      });
    },
    /** Grants a secret to an agent. Idempotent. @throws Problem 404 for an unknown secret or agent. */
    grant(idOrName: string, agentId: string, caller: Caller): Secret {
      assertAgent(agentId);
      return store.write(() => {
        const row = find(idOrName);
        const grant = { secret_id: row.id, agent_id: agentId, granted_at: toTimestamp(clock.now()) };
        if (grants.insertIfNew(grant)) record("secret.granted", caller, row, { agent_id: agentId });
        return present(row);
      });
    },
    revoke(idOrName: string, agentId: string, caller: Caller): void {
      store.write(() => {
        const row = find(idOrName);
        if (grants.remove({ secret_id: row.id, agent_id: agentId }) > 0)
          record("secret.revoked", caller, row, { agent_id: agentId });
      });
    },
    grantedTo(agentId: string, page: Page): ListAnswer<Secret> {
      assertAgent(agentId);
      return listById(rows.page([grantedTo(agentId)], page), page, present);
    },
  };
}
