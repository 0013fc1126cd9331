/** Adds an account without a password to a rig. Nobody can log in with it. */
import { users } from "../store/tables/accounts.ts";
import type { Rig } from "./engine-rig.ts";

export function addAccount({ store }: Pick<Rig, "store">, id: string): void {
  const at = new Date().toISOString();
  const row = { id, email: `${id}@example.test`, display_name: id, active: true, created_at: at };
  store.write(() =>
    store.rows(users).insert({ ...row, role: "user", totp_enabled: false, totp_last_step: 0, updated_at: at }),
  );
}
