/** Whether there is anybody left who can administer. Asked wherever a role, an account or a setup may change that. */
import { and, asc, eq, ne } from "drizzle-orm";
import type { Db } from "./store.ts";
import { users } from "./tables/accounts.ts";

/** Whether an administrator was ever made, active or not. */
export const hasAdministrator = (db: Db): boolean =>
  db.select({ id: users.id }).from(users).where(eq(users.role, "admin")).limit(1).get() !== undefined;

/** The first active administrator other than this user. */
export const otherAdministrator = (db: Db, userId: string): string | undefined =>
  db
    .select({ id: users.id })
    .from(users)
    .where(and(eq(users.role, "admin"), eq(users.active, true), ne(users.id, userId)))
    .orderBy(asc(users.created_at))
    .limit(1)
    .get()?.id;
