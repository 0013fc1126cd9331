/** Who may answer in a channel: a one-time code links the chat and the person to it. */
import { createHash, randomInt } from "node:crypto";
import { type Clock, toTimestamp } from "../../core/clock.ts";
import { LIMITS } from "../../core/limits.ts";
import type { Store } from "../../store/store.ts";
import { notificationLinks as table } from "../../store/tables/messengers.ts";
import type { LinkCode } from "./model.ts";

export type LinkRow = typeof table.$inferSelect;

/** The alphabet of codes, without characters that look alike: 32 of them, so each character carries 5 bits. */
const SIGNS = "ABCDEFGHJKLMNPQRSTUVWXYZ23456789";
const CODE_SIGNS = 10;

/** The digest of a code or a token. A plain digest is enough: both have too many possible values to guess. */
export const digestOf = (secret: string): string => createHash("sha256").update(secret).digest("hex");

export type Links = ReturnType<typeof createLinks>;

export function createLinks({ store, clock }: { store: Store; clock: Clock }) {
  const rows = store.rows(table);
  const newCode = (): LinkCode & { code_hash: string } => {
    const signs = Array.from({ length: CODE_SIGNS }, () => SIGNS[randomInt(SIGNS.length)]).join("");
    return {
      code: `${signs.slice(0, 5)}-${signs.slice(5)}`,
      code_hash: digestOf(signs),
      expires_at: toTimestamp(clock.now() + LIMITS.linkCodeMinutes * 60_000),
    };
  };
  return {
    of: (channelId: string): LinkRow | undefined => rows.find({ channel_id: channelId }),
    /** Adds the link of a messenger's channel. It is not linked to a chat until the code is used. */
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
    /** Stores whether the messages of an ntfy topic have buttons. */
    setTopic(channelId: string, hasButtons: boolean): void {
      if (hasButtons) rows.insertIfNew({ channel_id: channelId, messenger_id: null });
      else rows.remove({ channel_id: channelId });
    },
    /** Makes a new code. The linked chat stays linked until the code is used. */
    renew(channelId: string): LinkCode {
      const { code, code_hash, expires_at } = newCode();
      rows.update({ code_hash, code_expires_at: expires_at }, { channel_id: channelId });
      return { code, expires_at };
    },
    /**
     * Links the chat to the channel to which the code belongs. @returns the channel's id; undefined for an invalid
     * code.
     */
    redeem(messengerId: string, code: string, by: { chat: string; sender: string; name: string }): string | undefined {
      const code_hash = digestOf(code.toUpperCase().replaceAll("-", ""));
      const row = rows.find({ code_hash, messenger_id: messengerId });
      if (!row?.code_expires_at || row.code_expires_at <= toTimestamp(clock.now())) return undefined;
      const linked = { chat: by.chat, sender: by.sender, sender_name: by.name.slice(0, 200) };
      const used = { code_hash: null, code_expires_at: null, linked_at: toTimestamp(clock.now()) };
      rows.update({ ...linked, ...used }, { channel_id: row.channel_id });
      return row.channel_id;
    },
    /** Whether a code that links a chat of this messenger is still valid. */
    isAwaited: (messengerId: string): boolean =>
      rows.find({ messenger_id: messengerId }, ["code_expires_at > ?", toTimestamp(clock.now())]) !== undefined,
    /** The links of this person in this chat. */
    at: (messengerId: string, chat: string, sender: string): LinkRow[] =>
      rows.list([{ messenger_id: messengerId, chat, sender }]),
    channelsOf: (messengerId: string): string[] =>
      rows.list([{ messenger_id: messengerId }]).map(({ channel_id }) => channel_id),
  };
}
