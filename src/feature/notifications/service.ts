/**
 * Notifications that the system makes when something matters. There is at most one open notification per key; raising
 * it again counts up. A dismissed one stays quiet for a day. It is removed when its cause is gone.
 */
import { DAY_MS, toTimestamp } from "../../core/clock.ts";
import { expectFound } from "../../core/errors.ts";
import { ADMINISTRATORS } from "../../core/events.ts";
import { newId } from "../../core/ids.ts";
import type { Masking } from "../../core/masking.ts";
import type { Caller } from "../../http/caller.ts";
import { type ListAnswer, listById, type Page } from "../../http/list.ts";
import type { Condition } from "../../store/reader.ts";
import { removeOld } from "../../store/remove-old.ts";
import { notifications as table } from "../../store/tables/admin.ts";
import { buildReadCondition, WHOSE } from "../../store/whose.ts";
import type { Core } from "../feature.ts";
import { notification } from "./events.ts";
import type { Notification } from "./model.ts";

interface Notice {
  level: Notification["level"];
  /** A few words: what is wrong. */
  title: string;
  /** What to do about it. */
  detail?: string | undefined;
  /** What the notification is about, e.g. `disk-low`. Raising the same key twice gives one notification. */
  key: string;
  /** The user it is for; absent means the administrators. */
  userId?: string | undefined;
}

export type Notifications = ReturnType<typeof createNotifications>;

interface NotificationsDeps extends Pick<Core, "store" | "clock"> {
  masking: Pick<Masking, "text">;
}

type Row = typeof table.$inferSelect;
const QUIET_MS = DAY_MS;

const keyOf = (about: string, userId: string | undefined): string =>
  userId === undefined ? about : `${about}\n${userId}`;
const present = ({ key: _, user_id: __, ...row }: Row): Notification => row;

export function createNotifications({ store, clock, masking }: NotificationsDeps) {
  const rows = store.rows(table);
  const readNow = () => toTimestamp(clock.now());
  const restrictTo = (caller: Caller) => buildReadCondition(caller, WHOSE.notifications);
  const open = (key: string) => rows.find({ key, dismissed_at: null });
  const wasDismissedLately = (key: string) =>
    rows.find({ key }, ["dismissed_at > ?", toTimestamp(clock.now() - QUIET_MS)]) !== undefined;

  return {
    /** Raises a notification. Joins a transaction around it, if any. */
    notify({ level, key: about, userId, ...said }: Notice): void {
      const key = keyOf(about, userId);
      const title = masking.text(said.title);
      const detail = said.detail === undefined ? null : masking.text(said.detail);
      store.write(({ emit }) => {
        const at = readNow();
        const known = open(key);
        if (known) {
          const again = { level, title, detail, times: known.times + 1, updated_at: at };
          rows.update(again, { id: known.id });
          return;
        }
        if (wasDismissedLately(key)) return;
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
        rows.insert(row);
        emit(notification, { user_id: userId ?? ADMINISTRATORS, data: { ...present(row) } });
      });
    },
    /** Removes the open notification of that key, because its cause is gone. */
    resolve(about: string, userId?: string): void {
      const which = { key: keyOf(about, userId), dismissed_at: null };
      if (rows.find(which) === undefined) return;
      // It is removed rather than dismissed, so that people are notified again if the cause comes back.
      store.write(() => rows.remove(which));
    },
    /** Whether the administrators' notification of that key is open and not dismissed. */
    isOpen: (about: string): boolean => open(keyOf(about, undefined)) !== undefined,
    /**
     * Lists open notifications, or dismissed ones with `dismissed`. Administrators see the system's and their own,
     * others only their own.
     */
    list(
      page: Page,
      caller: Caller,
      { dismissed = false }: { dismissed?: boolean | undefined } = {},
    ): ListAnswer<Notification> {
      const state: Condition = [`dismissed_at IS ${dismissed ? "NOT " : ""}NULL`];
      return listById(rows.page([restrictTo(caller), state], page), page, present);
    },
    /** Dismisses a notification; doing so again changes nothing. @throws Problem 404, also for another user's. */
    dismiss: (id: string, caller: Caller): Notification =>
      store.write(() => {
        const row = expectFound(rows.find({ id }, restrictTo(caller)), "notification");
        if (row.dismissed_at !== null) return present(row);
        const dismissed_at = readNow();
        rows.update({ dismissed_at }, { id });
        return present({ ...row, dismissed_at });
      }),
    /** Removes a deleted user's notifications. */
    handOver(from: string): void {
      store.write(() => rows.remove({ user_id: from }));
    },
    /** Removes notifications that were dismissed before that time, ms since the epoch. */
    prune: (before: number): boolean => removeOld(store, "notifications", "dismissed_at < ?", toTimestamp(before)),
  };
}
