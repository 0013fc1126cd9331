/**
 * Opens and seals the values of secrets. Values are masked from the start until long after they were replaced, because
 * a workspace or a running agent may still hold the old one.
 */
import { toTimestamp } from "../../core/clock.ts";
import { newId } from "../../core/ids.ts";
import { LIMITS } from "../../core/limits.ts";
import type { Masking } from "../../core/masking.ts";
import { matchInJson } from "../../store/reader.ts";
import { replacedSecrets, secrets } from "../../store/tables/secrets.ts";
import type { Core } from "../feature.ts";
import type { Notifications } from "../notifications/service.ts";

interface SecretValuesDeps extends Pick<Core, "store" | "clock" | "sealer"> {
  masking: Pick<Masking, "add">;
  notifications: Pick<Notifications, "notify" | "resolve">;
}

interface Sealed {
  id: string;
  name: string;
  sealed: string;
}

export type SecretValues = ReturnType<typeof createSecretValues>;

/** Most old values of one secret that are kept; the newest are kept. */
const REPLACED_KEPT = 20;
const NOTICE = "secrets-damaged";
const MAX_NAMED = 20;

/** Text about secrets that cannot be opened. */
export const damagedText = (names: readonly string[]): string => {
  const shown = names.slice(0, MAX_NAMED).join(", ");
  const more = names.length > MAX_NAMED ? ` and ${names.length - MAX_NAMED} more` : "";
  return `${shown}${more} cannot be opened: damaged, or sealed with another key. Put the right key back (SECRET_ENCRYPTION_KEY or keys/secrets.key), or set new values.`;
};

export function createSecretValues({ store, clock, sealer, masking, notifications }: SecretValuesDeps) {
  const [rows, old] = [store.rows(secrets), store.rows(replacedSecrets)];
  const damaged = new Map<string, string>();
  /** Functions that end the masking of a value, by the id of the value's row. */
  const forget = new Map<string, () => void>();
  let reported = "";

  const tryOpen = (sealed: string): string | undefined => {
    try {
      return sealer.open(sealed);
    } catch {
      return undefined;
    }
  };
  function reportDamage(): void {
    const names = [...damaged.values()].sort();
    if (names.join() === reported) return;
    reported = names.join();
    if (names.length === 0) notifications.resolve(NOTICE);
    else
      notifications.notify({
        level: "error",
        title: names.length === 1 ? `The secret ${names[0]} cannot be opened` : "Secrets cannot be opened",
        detail: damagedText(names),
        key: NOTICE,
      });
  }
  const markSound = (id: string) => {
    if (damaged.delete(id)) reportDamage();
  };

  return {
    /**
     * Opens all stored values, so that they are masked. Administrators are notified of values that cannot be opened.
     */
    load(): void {
      const names = new Map<string, string>();
      for (const row of rows.list([])) {
        names.set(row.id, row.name);
        const value = tryOpen(row.sealed);
        if (value === undefined) damaged.set(row.id, row.name);
        else forget.set(row.id, masking.add(row.name, value));
      }
      for (const { id, secret_id, sealed } of old.list([])) {
        const value = tryOpen(sealed);
        if (value !== undefined) forget.set(id, masking.add(names.get(secret_id) ?? "", value));
      }
      reportDamage();
    },
    /** @returns undefined for a value that is damaged or was sealed with another key. */
    open({ id, name, sealed }: Sealed): string | undefined {
      const value = tryOpen(sealed);
      if (value === undefined) {
        damaged.set(id, name);
        reportDamage();
      } else markSound(id);
      return value;
    },
    /** Seals a value. It is masked from now on. */
    seal({ id, name }: Omit<Sealed, "sealed">, value: string): string {
      forget.set(id, masking.add(name, value));
      markSound(id);
      return sealer.seal(value);
    },
    /** Keeps masking a value that is being replaced. Joins a transaction around it. */
    onReplace({ id: secret_id, sealed }: Sealed): void {
      const id = newId("secret");
      const known = forget.get(secret_id);
      if (known) forget.set(id, known);
      forget.delete(secret_id);
      store.write(() => {
        old.insert({ id, secret_id, sealed, replaced_at: toTimestamp(clock.now()) });
        const all = old.list([{ secret_id }], { order: "replaced_at DESC, id DESC" });
        drop(all.slice(REPLACED_KEPT).map((row) => row.id));
      });
    },
    /** Called when a secret is deleted. Its values stay masked until the server ends. */
    onRemove: ({ id }: Sealed) => markSound(id),
    /** Forgets values that were replaced before that time, ms since the epoch. */
    prune(before: number): boolean {
      const gone = old.list([["replaced_at < ?", toTimestamp(before)]], { limit: LIMITS.pruneRows });
      if (gone.length > 0) store.write(() => drop(gone.map((row) => row.id)));
      return gone.length === LIMITS.pruneRows;
    },
  };

  function drop(ids: string[]): void {
    if (ids.length === 0) return;
    old.remove(matchInJson("id", ids));
    for (const id of ids) {
      forget.get(id)?.();
      forget.delete(id);
    }
  }
}
