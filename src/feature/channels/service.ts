/** Notification channels: who may have which channel, and what is stored. deliveries.ts sends the messages. */

import { randomBytes } from "node:crypto";
import { toTimestamp } from "../../core/clock.ts";
import { isEmail, normalEmail } from "../../core/email.ts";
import { conflict, expectFound, forbidden, invalidField } from "../../core/errors.ts";
import { newId } from "../../core/ids.ts";
import { LIMITS } from "../../core/limits.ts";
import { ownJson } from "../../core/own-json.ts";
import type { Asker } from "../../core/ownership.ts";
import { actedBy, type Caller } from "../../http/caller.ts";
import { type ListAnswer, listById, type Page } from "../../http/list.ts";
import { users } from "../../store/tables/accounts.ts";
import { notificationChannels as table } from "../../store/tables/notification-channels.ts";
import { buildReadCondition, WHOSE } from "../../store/whose.ts";
import type { Core } from "../feature.ts";
import type { Links } from "./links.ts";
import type {
  ChannelKind,
  LinkCode,
  NotificationChannel,
  NotificationChannelCreate,
  NotificationChannelMade,
  NotificationChannelUpdate,
} from "./model.ts";
import { type Target, topicOf } from "./wire.ts";

interface ChannelsDeps extends Pick<Core, "store" | "clock" | "sealer" | "audit"> {
  /** @throws Problem 422 for a host that is known to be private. */
  assertHost(host: string): void;
  /** False also for a project that the asker does not see. */
  projectExists(id: string, asker: Asker): boolean;
  links: Links;
  /** @throws Problem 404. */
  messenger(id: string): { name: string };
  /** Whether buttons of ntfy messages can reach this server, because it has a public address. */
  canAnswer: boolean;
  /** Whether a browser's subscription has usable keys. */
  isPushKeys(keys: { p256dh: string; auth: string }): boolean;
  canMail: boolean;
}

export type Channels = ReturnType<typeof createChannels>;

export type ChannelRow = typeof table.$inferSelect;

const DEFAULT_TRIGGERS = ["waiting", "failed", "ended"] as const;
/** The fields of the target that each kind of channel uses. */
const MEMBERS: Record<ChannelKind, readonly (keyof Target)[]> = {
  ntfy: ["url", "token"],
  gotify: ["url", "token"],
  apprise: ["url"],
  messenger: [],
  push: ["url", "p256dh", "auth"],
  webhook: ["url", "secret"],
  mail: ["to"],
};

export function createChannels(deps: ChannelsDeps) {
  const { store, clock, sealer, audit, projectExists, links } = deps;
  const rows = store.rows(table);
  const present = ({ sealed: _, triggers, ...row }: ChannelRow): NotificationChannel => {
    const link = links.of(row.id);
    const linked = { messenger_id: link?.messenger_id ?? null, linked_to: link?.sender_name ?? null };
    return { ...row, ...linked, answers: link !== undefined, on: triggers };
  };
  function assertAnswers(kind: ChannelKind, answers: boolean | undefined): void {
    if (answers === undefined || kind === "messenger") return;
    if (kind !== "ntfy") throw invalidField("/answers", `Is not for a channel of the kind ${kind}`);
    if (answers && !deps.canAnswer)
      throw conflict("Buttons need an address that your phone reaches. An operator sets PUBLIC_URL.", "no_public_url");
  }
  const targets = createTargets(deps);
  const toOwner = ({ userId }: Caller) => ({ owner_id: userId ?? null });
  const restrictTo = (caller: Caller) => buildReadCondition(caller, WHOSE.notification_channels);
  const rowFor = (id: string, caller: Caller): ChannelRow =>
    expectFound(rows.find({ id }, restrictTo(caller)), "notification channel");
  const assertProject = (id: string | null | undefined, caller: Caller): void => {
    if (typeof id === "string" && !projectExists(id, caller))
      throw invalidField("/project_id", "There is no such project");
  };
  const record = (action: string, caller: Caller, { id, name, kind, target }: ChannelRow) =>
    audit({ action, ...actedBy(caller), subject: id, data: { name, kind, target } });
  const targetOf = ({ sealed }: ChannelRow) => ownJson<Target>(sealer.open(sealed));

  return {
    find: (id: string): ChannelRow | undefined => rows.find({ id }),
    /** @throws Problem 404. */
    rowFor,
    /** @throws Error when the target was sealed with another key. */
    targetOf,
    /** @throws Problem 404, also for another user's channel. */
    get: (id: string, caller: Caller): NotificationChannel => present(rowFor(id, caller)),
    /** The caller's channels; administrators also see those for everyone's runs. Newest first. */
    list: (page: Page, caller: Caller): ListAnswer<NotificationChannel> =>
      listById(rows.page([restrictTo(caller)], page), page, present),
    /** @throws Problem 403 for everyone's runs, 409 too many channels, 422. */
    create(input: NotificationChannelCreate, caller: Caller): NotificationChannelMade {
      const { name, kind, whose = "mine", project_id = null, on = [...DEFAULT_TRIGGERS], enabled = true } = input;
      if (whose === "everyone" && !caller.admin)
        throw forbidden("Only administrators are notified of everyone's runs. Leave `whose` out for your own.");
      assertProject(project_id, caller);
      assertAnswers(kind, input.answers);
      if (kind !== "messenger" && input.messenger_id !== undefined)
        throw invalidField("/messenger_id", `Is not for a channel of the kind ${kind}`);
      if (kind === "messenger" && input.messenger_id === undefined)
        throw invalidField("/messenger_id", "Must be given");
      const made = kind === "webhook" && input.secret === undefined ? newSecret() : undefined;
      const { target, shown } = targets.of(kind, {}, { ...input, ...(made ? { secret: made } : {}) }, caller);
      const at = toTimestamp(clock.now());
      const row: ChannelRow = {
        id: newId("notificationChannel"),
        owner_id: caller.userId ?? null,
        name,
        kind,
        whose,
        project_id,
        triggers: on,
        target: shown,
        sealed: sealer.seal(JSON.stringify(target)),
        enabled,
        last_sent_at: null,
        last_error: null,
        created_at: at,
        updated_at: at,
      };
      return store.write(() => {
        const count = rows.count(toOwner(caller));
        if (count >= LIMITS.notificationChannelsPerUser)
          throw conflict(`You have ${count} notification channels. Delete one first.`, "too_many_channels");
        rows.insert(row);
        record("notification_channel.created", caller, row);
        if (input.answers && kind === "ntfy") links.setTopic(row.id, true);
        const link = input.messenger_id === undefined ? {} : { link: links.create(row.id, input.messenger_id) };
        return { ...present(row), ...(made ? { secret: made } : {}), ...link };
      });
    },
    update(
      id: string,
      { on, name, project_id, enabled, answers, ...given }: NotificationChannelUpdate,
      caller: Caller,
    ): NotificationChannel {
      assertProject(project_id, caller);
      return store.write(() => {
        const row = rowFor(id, caller);
        assertAnswers(row.kind, answers);
        if (row.kind === "ntfy" && answers !== undefined) links.setTopic(id, answers);
        const changed: ChannelRow = { ...row, updated_at: toTimestamp(clock.now()) };
        if (Object.values(given).some((value) => value !== undefined)) {
          const { target, shown } = targets.of(row.kind, targetOf(row), given, caller);
          Object.assign(changed, { target: shown, sealed: sealer.seal(JSON.stringify(target)), last_error: null });
        }
        if (name !== undefined) changed.name = name;
        if (on !== undefined) changed.triggers = on;
        if (project_id !== undefined) changed.project_id = project_id;
        if (enabled !== undefined) changed.enabled = enabled;
        rows.update(changed, { id });
        record("notification_channel.changed", caller, changed);
        return present(changed);
      });
    },
    remove: (id: string, caller: Caller): void =>
      store.write(() => {
        const row = rowFor(id, caller);
        rows.remove({ id });
        record("notification_channel.deleted", caller, row);
      }),
    /** Makes a new code to link a chat. @throws Problem 404, 409 for a channel that is not a messenger's. */
    newCode: (id: string, caller: Caller): LinkCode =>
      store.write(() => {
        const row = rowFor(id, caller);
        if (row.kind !== "messenger")
          throw conflict("Only channels of messengers are linked with a code.", "no_messenger");
        record("notification_channel.code", caller, row);
        return links.renew(id);
      }),
    /** Removes a channel whose receiver is gone for good. */
    drop: (id: string): void => void store.write(() => rows.remove({ id })),
    /** Removes the channels that use a messenger. */
    removeWith(messengerId: string): void {
      for (const id of links.channelsOf(messengerId)) rows.remove({ id });
    },
    /** Removes a deleted user's channels. */
    removeOf(userId: string): void {
      store.write(() => rows.remove({ owner_id: userId }));
    },
  };
}

const newSecret = (): string => `whsec_${randomBytes(32).toString("base64")}`;

/** Checks the target of a channel, and says how it may be shown. */
function createTargets({ store, assertHost, canMail, messenger, isPushKeys }: ChannelsDeps) {
  const accounts = store.rows(users);
  type Given = { [Name in keyof Target]: string | null | undefined } & { messenger_id?: string | undefined };
  const checkedUrl = (kind: ChannelKind, text: string | undefined): URL => {
    if (text === undefined) throw invalidField("/url", "Must be given");
    if (!URL.canParse(text)) throw invalidField("/url", "Must be an http or https address");
    const url = new URL(text);
    if (url.protocol !== "http:" && url.protocol !== "https:")
      throw invalidField("/url", "Must be an http or https address");
    if (url.username || url.password) throw invalidField("/url", "Must not carry credentials");
    if (kind === "ntfy" && !topicOf(text))
      throw invalidField("/url", "Must end in a topic, e.g. https://ntfy.sh/TOPIC");
    if (kind === "apprise" && !/\/notify\/[A-Za-z0-9_-]{1,128}\/?$/.test(url.pathname))
      throw invalidField("/url", "Must end in notify/ and a key, e.g. https://apprise.example.org/notify/KEY");
    assertHost(url.hostname);
    return url;
  };
  const requireMailbox = (given: string | undefined, caller: Caller): string => {
    if (!canMail)
      throw conflict("This server sends no mail. An operator sets SMTP_URL and SMTP_FROM.", "mail_not_set_up");
    const own = accounts.find({ id: caller.userId ?? "" })?.email;
    if (given === undefined && own === undefined) throw invalidField("/to", "Must be given");
    const to = normalEmail(given ?? own ?? "");
    if (!isEmail(to) || /[,;:\\()[\]]/.test(to)) throw invalidField("/to", "Must be the address of one mailbox");
    if (to !== own && !caller.admin)
      throw forbidden("Notifications by mail go to your account's own address. Leave `to` out.");
    return to;
  };
  return {
    /** @param before the current target: fields that `given` leaves out keep their value, and null removes one. */
    of(kind: ChannelKind, before: Target, given: Given, caller: Caller): { target: Target; shown: string } {
      for (const name of ["url", "token", "secret", "to", "p256dh", "auth"] as const)
        if (typeof given[name] === "string" && !MEMBERS[kind].includes(name))
          throw invalidField(`/${name}`, `Is not for a channel of the kind ${kind}`);
      const target: Target = {};
      for (const name of MEMBERS[kind]) {
        const value = given[name] === undefined ? before[name] : given[name];
        if (typeof value === "string") target[name] = value;
      }
      if (kind === "messenger") return { target, shown: messenger(given.messenger_id ?? "").name };
      if (kind === "mail") {
        target.to = requireMailbox(target.to, caller);
        return { target, shown: target.to };
      }
      if (kind === "push" && !isPushKeys({ p256dh: target.p256dh ?? "", auth: target.auth ?? "" }))
        throw invalidField("/p256dh", "Must be given with `auth`, as the browser's subscription has them");
      if (kind === "gotify" && target.token === undefined)
        throw invalidField("/token", "Must be given: the token of a Gotify application");
      // Only the origin is shown: the path may work like a password.
      return { target, shown: `${checkedUrl(kind, target.url).origin}/…` };
    },
  };
}
