/** Who may answer in a channel: the chat and the person that a one-time code linked to it. */
import { createHash, randomInt } from "node:crypto";
import { type Clock, timestamp } from "../../core/clock.ts";
import { LIMITS } from "../../core/limits.ts";
import type { Store } from "../../store/store.ts";
import { notificationLinks as table } from "../../store/tables/messengers.ts";
import type { LinkCode } from "./model.ts";

export type LinkRow = typeof table.$inferSelect;

/** Without signs that look alike. 32 of them, so that each is 5 bits. */
const SIGNS = "ABCDEFGHJKLMNPQRSTUVWXYZ23456789";
const CODE_SIGNS = 10;

/** Digest of a code or a token; both have too many values to be tried. */
export const digestOf = (secret: string): string => createHash("sha256").update(secret).digest("hex");

export type Links = ReturnType<typeof createLinks>;

export function createLinks({ store, clock }: { store: Store; clock: Clock }) {
  const rows = store.rows(table);
  const newCode = (): LinkCode & { code_hash: string } => {
    const signs = Array.from({ length: CODE_SIGNS }, () => SIGNS[randomInt(SIGNS.length)]).join("");
    return {
      code: `${signs.slice(0, 5)}-${signs.slice(5)}`,
      code_hash: digestOf(signs),
      expires_at: timestamp(clock.now() + LIMITS.linkCodeMinutes * 60_000),
    };
  };
  return {
    of: (channelId: string): LinkRow | undefined => rows.find({ channel_id: channelId }),
    /** A channel of a messenger, which a code has to link. */
    create(channelId: string, messengerId: string): LinkCode {
      const { code, code_hash, expires_at } = newCode();
      const none = { chat: null, sender: null, sender_name: null, linked_at: null };
      rows.insert({
        channel_id: channelId,
        messenger_id: messengerId,
        code_hash,
        code_expires_at: expires_at,
        ...none,
      });
      return { code, expires_at };
    },
    /** Whether an ntfy topic has buttons. */
    setTopic(channelId: string, hasButtons: boolean): void {
      if (hasButtons) rows.insertIfNew({ channel_id: channelId, messenger_id: null });
      else rows.remove({ channel_id: channelId });
    },
    /** Another code. The chat that is linked stays until the code is used. */
    renew(channelId: string): LinkCode {
      const { code, code_hash, expires_at } = newCode();
      rows.update({ code_hash, code_expires_at: expires_at }, { channel_id: channelId });
      return { code, expires_at };
    },
    /** Links the chat to the channel that the code is of. @returns its id; undefined when there is no such code. */
    redeem(messengerId: string, code: string, by: { chat: string; sender: string; name: string }): string | undefined {
      const code_hash = digestOf(code.toUpperCase().replaceAll("-", ""));
      const row = rows.find({ code_hash, messenger_id: messengerId });
      if (!row?.code_expires_at || row.code_expires_at <= timestamp(clock.now())) return undefined;
      const linked = { chat: by.chat, sender: by.sender, sender_name: by.name.slice(0, 200) };
      const used = { code_hash: null, code_expires_at: null, linked_at: timestamp(clock.now()) };
      rows.update({ ...linked, ...used }, { channel_id: row.channel_id });
      return row.channel_id;
    },
    /** Whether somebody is about to link a chat of this messenger. */
    isAwaited: (messengerId: string): boolean =>
      rows.find({ messenger_id: messengerId }, ["code_expires_at > ?", timestamp(clock.now())]) !== undefined,
    /** Channels of this person in this chat. */
    at: (messengerId: string, chat: string, sender: string): LinkRow[] =>
      rows.list([{ messenger_id: messengerId, chat, sender }]),
    channelsOf: (messengerId: string): string[] =>
      rows.list([{ messenger_id: messengerId }]).map(({ channel_id }) => channel_id),
  };
}
