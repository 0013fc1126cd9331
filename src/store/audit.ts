/** The audit log of security events. Rows say who did what to which object; they never hold secret values. */
import { type Clock, toTimestamp } from "../core/clock.ts";
import { newId } from "../core/ids.ts";
import type { Store } from "./store.ts";
import { audit } from "./tables/foundation.ts";

interface AuditEntry {
  /** e.g. `secret.env_read`. */
  action: string;
  /** From `actorOf(caller)`. */
  actor: string;
  subject?: string | undefined;
  address?: string | undefined;
  data?: Record<string, unknown>;
}

export type Audit = (entry: AuditEntry) => void;

export function createAudit(store: Store, clock: Clock): Audit {
  const rows = store.rows(audit);
  return ({ action, actor, subject, address, data = {} }) => {
    const at = toTimestamp(clock.now());
    store.write(() => rows.insert({ id: newId("audit"), at, action, actor, subject, address, data }));
  };
}
