/**
 * Notifications that the system makes when something matters. One open notification per key: raising it again counts
 * up. A dismissed one stays quiet for a day; it closes by itself when its cause is gone.
 */
import { and, desc, eq, gt, isNotNull, isNull, lt } from "drizzle-orm";
import { type Clock, DAY_MS, timestamp } from "../../core/clock.ts";
import { notFound } from "../../core/errors.ts";
import { ADMINISTRATORS } from "../../core/events.ts";
import { newId } from "../../core/ids.ts";
import type { Masking } from "../../core/masking.ts";
import type { Caller } from "../../http/caller.ts";
import { type ListAnswer, listAnswer, type Page } from "../../http/list.ts";
import { removeOld } from "../../store/remove-old.ts";
import type { Store } from "../../store/store.ts";
import { notifications as table } from "../../store/tables/admin.ts";
import { asSql, readable, WHOSE } from "../../store/whose.ts";
import { notification } from "./events.ts";
import type { Notification } from "./model.ts";

export interface Notice {
  level: Notification["level"];
  /** A few words: what is wrong. */
  title: string;
  /** What to do about it. */
  detail?: string | undefined;
  /** What it is about, e.g. `disk-low`: raised twice, it is one notification. */
  key: string;
  /** The user it is for; absent means the administrators. */
  userId?: string | undefined;
}

export interface Notifications {
  /** Joins a transaction around it. */
  notify(notice: Notice): void;
  /** The cause is gone: removes what is open under that key. */
  resolve(key: string, userId?: string): void;
  /** Whether the system's notification under that key is open and not dismissed. */
  isOpen(key: string): boolean;
  /** Open ones unless `dismissed`; administrators see the system's and their own, others their own. */
  list(page: Page, caller: Caller, options?: { dismissed?: boolean | undefined }): ListAnswer<Notification>;
  /** Idempotent. @throws Problem 404, also for another user's. */
  dismiss(id: string, caller: Caller): Notification;
  /** Removes a deleted user's notifications. */
  handOver(from: string): void;
  /** Removes those dismissed before that time. */
  prune(before: number): boolean;
}

export interface NotificationsDeps {
  store: Store;
  clock: Clock;
  masking: Pick<Masking, "text">;
}

type Row = typeof table.$inferSelect;
const QUIET_MS = DAY_MS;

const keyOf = (about: string, userId: string | undefined): string =>
  userId === undefined ? about : `${about}\n${userId}`;
const present = ({ key: _, user_id: __, ...row }: Row): Notification => row;

export function createNotifications({ store, clock, masking }: NotificationsDeps): Notifications {
  const { db } = store;
  const now = () => timestamp(clock.now());
  const mine = (caller: Caller) => asSql(readable(caller, WHOSE.notifications));
  const open = (key: string) =>
    db
      .select()
      .from(table)
      .where(and(eq(table.key, key), isNull(table.dismissed_at)))
      .get();
  const dismissedLately = (key: string) =>
    db
      .select({ id: table.id })
      .from(table)
      .where(and(eq(table.key, key), gt(table.dismissed_at, timestamp(clock.now() - QUIET_MS))))
      .get();

  return {
    notify({ level, key: about, userId, ...said }) {
      const key = keyOf(about, userId);
      const title = masking.text(said.title);
      const detail = said.detail === undefined ? null : masking.text(said.detail);
      store.write(({ emit }) => {
        const at = now();
        const known = open(key);
        if (known) {
          const again = { level, title, detail, times: known.times + 1, updated_at: at };
          db.update(table).set(again).where(eq(table.id, known.id)).run();
          return;
        }
        if (dismissedLately(key)) return;
        const row: Row = {
          id: newId("notification"),
          key,
          level,
          title,
          detail,
          user_id: userId ?? null,
          times: 1,
          created_at: at,
          updated_at: at,
          dismissed_at: null,
        };
        db.insert(table).values(row).run();
        emit(notification, { user_id: userId ?? ADMINISTRATORS, data: { ...present(row) } });
      });
    },
    resolve(about, userId) {
      const which = and(eq(table.key, keyOf(about, userId)), isNull(table.dismissed_at));
      if (db.select({ id: table.id }).from(table).where(which).get() === undefined) return;
      // Removed rather than dismissed, so that it notifies again if it comes back.
      store.write(() => db.delete(table).where(which).run());
    },
    isOpen: (about) => open(keyOf(about, undefined)) !== undefined,
    list(page, caller, { dismissed = false } = {}) {
      const state = dismissed ? isNotNull(table.dismissed_at) : isNull(table.dismissed_at);
      const rows = db
        .select()
        .from(table)
        .where(and(mine(caller), state, page.after === null ? undefined : lt(table.id, page.after)))
        .orderBy(desc(table.id))
        .limit(page.limit + 1)
        .all();
      return listAnswer(rows, page, (row) => row.id, present);
    },
    dismiss(id, caller) {
      return store.write(() => {
        const which = and(eq(table.id, id), mine(caller));
        const row = db.select().from(table).where(which).get();
        if (!row) throw notFound("notification");
        if (row.dismissed_at !== null) return present(row);
        const dismissed_at = now();
        db.update(table).set({ dismissed_at }).where(which).run();
        return present({ ...row, dismissed_at });
      });
    },
    handOver(from) {
      store.write(() => db.delete(table).where(eq(table.user_id, from)).run());
    },
    prune: (before) => removeOld(store, "notifications", "dismissed_at < ?", timestamp(before)),
  };
}
