/** Notification channels: who may have which, and what is stored. Sending is in deliveries.ts. */

import { randomBytes } from "node:crypto";
import { and, desc, eq, isNull, lt } from "drizzle-orm";
import { type Clock, timestamp } from "../../core/clock.ts";
import { isEmail, normalEmail } from "../../core/email.ts";
import { conflict, forbidden, invalidField, notFound } from "../../core/errors.ts";
import { newId } from "../../core/ids.ts";
import { LIMITS } from "../../core/limits.ts";
import { ownJson } from "../../core/own-json.ts";
import type { Sealer } from "../../core/sealing.ts";
import { actorOf, type Caller } from "../../http/caller.ts";
import { type ListAnswer, listAnswer, type Page } from "../../http/list.ts";
import type { Audit } from "../../store/audit.ts";
import { changeRow } from "../../store/change-row.ts";
import type { Store } from "../../store/store.ts";
import { users } from "../../store/tables/accounts.ts";
import { notificationChannels as table } from "../../store/tables/notification-channels.ts";
import { asSql, readable, WHOSE } from "../../store/whose.ts";
import type {
  ChannelKind,
  NotificationChannel,
  NotificationChannelCreate,
  NotificationChannelMade,
  NotificationChannelUpdate,
} from "./model.ts";
import { type Target, topicOf } from "./wire.ts";

export interface ChannelsDeps {
  store: Store;
  clock: Clock;
  sealer: Sealer;
  audit: Audit;
  /** @throws Problem 422 for a host that is known to be private. */
  assertHost(host: string): void;
  projectExists(id: string): boolean;
  canMail: boolean;
}

export interface Channels {
  /** Own ones; administrators also see those for everyone's runs. Newest first. */
  list(page: Page, caller: Caller): ListAnswer<NotificationChannel>;
  /** @throws Problem 404, also for another user's. */
  get(id: string, caller: Caller): NotificationChannel;
  /** @throws Problem 403 for everyone's runs, 409 too many, 422. */
  create(input: NotificationChannelCreate, caller: Caller): NotificationChannelMade;
  update(id: string, input: NotificationChannelUpdate, caller: Caller): NotificationChannel;
  remove(id: string, caller: Caller): void;
  /** Removes a deleted user's channels. */
  removeOf(userId: string): void;
  /** @throws Problem 404. */
  rowFor(id: string, caller: Caller): ChannelRow;
  /** @throws Error when it was sealed with another key. */
  targetOf(row: ChannelRow): Target;
}

export type ChannelRow = typeof table.$inferSelect;

const DEFAULT_TRIGGERS = ["waiting", "failed", "ended"] as const;
/** Which members say where each kind goes. */
const MEMBERS: Record<ChannelKind, readonly (keyof Target)[]> = {
  ntfy: ["url", "token"],
  webhook: ["url", "secret"],
  mail: ["to"],
};

const present = ({ sealed: _, triggers, ...row }: ChannelRow): NotificationChannel => ({ ...row, on: triggers });

export function createChannels(deps: ChannelsDeps): Channels {
  const { store, clock, sealer, audit, projectExists } = deps;
  const { db } = store;
  const targets = createTargets(deps);
  const mine = ({ userId }: Caller) => (userId === undefined ? isNull(table.owner_id) : eq(table.owner_id, userId));
  const visible = (caller: Caller) => asSql(readable(caller, WHOSE.notification_channels));
  const rowFor = (id: string, caller: Caller): ChannelRow => {
    const where = and(eq(table.id, id), visible(caller));
    const row = db.select().from(table).where(where).get();
    if (!row) throw notFound("notification channel");
    return row;
  };
  const assertProject = (id: string | null | undefined): void => {
    if (typeof id === "string" && !projectExists(id)) throw invalidField("/project_id", "There is no such project");
  };
  const record = (action: string, caller: Caller, { id, name, kind, target }: ChannelRow) =>
    audit({ action, actor: actorOf(caller), subject: id, address: caller.address, data: { name, kind, target } });
  const targetOf = ({ sealed }: ChannelRow) => ownJson<Target>(sealer.open(sealed));

  return {
    rowFor,
    targetOf,
    get: (id, caller) => present(rowFor(id, caller)),
    list(page, caller) {
      const rows = db
        .select()
        .from(table)
        .where(and(visible(caller), page.after === null ? undefined : lt(table.id, page.after)))
        .orderBy(desc(table.id))
        .limit(page.limit + 1)
        .all();
      return listAnswer(rows, page, ({ id }) => id, present);
    },
    create(input, caller) {
      const { name, kind, whose = "mine", project_id = null, on = [...DEFAULT_TRIGGERS], enabled = true } = input;
      if (whose === "everyone" && !caller.admin)
        throw forbidden("Only administrators are notified of everyone's runs. Leave `whose` out for your own.");
      assertProject(project_id);
      const made = kind === "webhook" && input.secret === undefined ? newSecret() : undefined;
      const { target, shown } = targets.of(kind, {}, { ...input, ...(made ? { secret: made } : {}) }, caller);
      const at = timestamp(clock.now());
      const row: ChannelRow = {
        ...{ id: newId("notificationChannel"), owner_id: caller.userId ?? null, name, kind, whose, project_id },
        ...{ triggers: on, target: shown, sealed: sealer.seal(JSON.stringify(target)), enabled },
        ...{ last_sent_at: null, last_error: null, created_at: at, updated_at: at },
      };
      return store.write(() => {
        const count = db.select({ id: table.id }).from(table).where(mine(caller)).all().length;
        if (count >= LIMITS.notificationChannelsPerUser)
          throw conflict(`You have ${count} notification channels. Delete one first.`, "too_many_channels");
        db.insert(table).values(row).run();
        record("notification_channel.created", caller, row);
        return { ...present(row), ...(made ? { secret: made } : {}) };
      });
    },
    update(id, { on, name, project_id, enabled, ...given }, caller) {
      assertProject(project_id);
      return store.write(() => {
        const row = rowFor(id, caller);
        const changed: ChannelRow = { ...row, updated_at: timestamp(clock.now()) };
        if (Object.values(given).some((value) => value !== undefined)) {
          const { target, shown } = targets.of(row.kind, targetOf(row), given, caller);
          Object.assign(changed, { target: shown, sealed: sealer.seal(JSON.stringify(target)), last_error: null });
        }
        if (name !== undefined) changed.name = name;
        if (on !== undefined) changed.triggers = on;
        if (project_id !== undefined) changed.project_id = project_id;
        if (enabled !== undefined) changed.enabled = enabled;
        changeRow(db, table, changed, eq(table.id, id));
        record("notification_channel.changed", caller, changed);
        return present(changed);
      });
    },
    remove(id, caller) {
      store.write(() => {
        const row = rowFor(id, caller);
        db.delete(table).where(eq(table.id, id)).run();
        record("notification_channel.deleted", caller, row);
      });
    },
    removeOf(userId) {
      store.write(() => db.delete(table).where(eq(table.owner_id, userId)).run());
    },
  };
}

const newSecret = (): string => `whsec_${randomBytes(32).toString("base64")}`;

/** Where a channel goes, checked, and how that may be shown. */
function createTargets({ store: { db }, assertHost, canMail }: ChannelsDeps) {
  type Given = { [Name in keyof Target]: string | null | undefined };
  const checkedUrl = (kind: ChannelKind, text: string | undefined): URL => {
    if (text === undefined) throw invalidField("/url", "Must be given");
    if (!URL.canParse(text)) throw invalidField("/url", "Must be an http or https address");
    const url = new URL(text);
    if (url.protocol !== "http:" && url.protocol !== "https:")
      throw invalidField("/url", "Must be an http or https address");
    if (url.username || url.password) throw invalidField("/url", "Must not carry credentials");
    if (kind === "ntfy" && !topicOf(text))
      throw invalidField("/url", "Must end in a topic, e.g. https://ntfy.sh/TOPIC");
    assertHost(url.hostname);
    return url;
  };
  const mailbox = (given: string | undefined, caller: Caller): string => {
    if (!canMail)
      throw conflict("This server sends no mail. An operator sets SMTP_URL and SMTP_FROM.", "mail_not_set_up");
    const where = eq(users.id, caller.userId ?? "");
    const own = db.select({ email: users.email }).from(users).where(where).get()?.email;
    if (given === undefined && own === undefined) throw invalidField("/to", "Must be given");
    const to = normalEmail(given ?? own ?? "");
    if (!isEmail(to) || /[,;:\\()[\]]/.test(to)) throw invalidField("/to", "Must be the address of one mailbox");
    if (to !== own && !caller.admin)
      throw forbidden("Notifications by mail go to your account's own address. Leave `to` out.");
    return to;
  };
  return {
    /** @param before what stays where nothing else is given; null removes it. */
    of(kind: ChannelKind, before: Target, given: Given, caller: Caller): { target: Target; shown: string } {
      for (const name of ["url", "token", "secret", "to"] as const)
        if (typeof given[name] === "string" && !MEMBERS[kind].includes(name))
          throw invalidField(`/${name}`, `Is not for a channel of the kind ${kind}`);
      const target: Target = {};
      for (const name of MEMBERS[kind]) {
        const value = given[name] === undefined ? before[name] : given[name];
        if (typeof value === "string") target[name] = value;
      }
      if (kind === "mail") {
        target.to = mailbox(target.to, caller);
        return { target, shown: target.to };
      }
      // The path may be as good as a password.
      return { target, shown: `${checkedUrl(kind, target.url).origin}/…` };
    },
  };
}
