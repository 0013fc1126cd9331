/** Whether anybody is left who can administer. Asked wherever a role, an account or a setup may change that. */
import type { Store } from "./store.ts";

/** Whether an administrator ever existed, active or not. */
export const hasAdministrator = ({ statement }: Pick<Store, "statement">): boolean =>
  statement("SELECT 1 FROM users WHERE role = 'admin' LIMIT 1").get() !== undefined;

/** The first active administrator other than this user. */
export const otherAdministrator = ({ statement }: Pick<Store, "statement">, userId: string): string | undefined =>
  statement<{ id: string }>(
    "SELECT id FROM users WHERE role = 'admin' AND active = 1 AND id <> ? ORDER BY created_at LIMIT 1",
  ).get(userId)?.id;
