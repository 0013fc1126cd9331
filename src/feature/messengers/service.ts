/** Messenger bots: which exist, and what is stored about them. Reading their messages is in poller.ts. */
import { createHash } from "node:crypto";
import type { Messenger as Port } from "../../adapter/chat/messenger.ts";
import { toTimestamp } from "../../core/clock.ts";
import { conflict, expectFound, invalidField, overLimit } from "../../core/errors.ts";
import { newId } from "../../core/ids.ts";
import { LIMITS } from "../../core/limits.ts";
import type { Masking } from "../../core/masking.ts";
import { ownJson } from "../../core/own-json.ts";
import { actedBy, type Caller } from "../../http/caller.ts";
import { type ListAnswer, listById, type Page } from "../../http/list.ts";
import type { WriteTx } from "../../store/store.ts";
import { messengers as table } from "../../store/tables/messengers.ts";
import type { Core } from "../feature.ts";
import type { Messenger, MessengerCreate, MessengerKind, MessengerUpdate } from "./model.ts";

/** A bot's addresses and tokens; sealed at rest. */
export interface MessengerAccess {
  server: string;
  token: string;
  app_token?: string | undefined;
}

type MessengerRow = typeof table.$inferSelect;

interface MessengersDeps extends Pick<Core, "store" | "clock" | "sealer" | "audit"> {
  masking: Pick<Masking, "add">;
  /** Address of each messenger's own server. Matrix has none. */
  servers: Readonly<Record<Exclude<MessengerKind, "matrix">, string>>;
  /** @throws Problem 422 for a host that is known to be private. */
  assertHost(host: string): void;
  open(kind: MessengerKind, access: MessengerAccess): Port;
  /** The state of reading from the bot. */
  stateOf(id: string): "connected" | "connecting" | "failed";
}

export type Messengers = ReturnType<typeof createMessengers>;

export function createMessengers(deps: MessengersDeps) {
  const { store, clock, sealer, audit } = deps;
  const rows = store.rows(table);
  const changed = new Set<(id: string, tx: WriteTx) => void>();
  const removed = new Set<(id: string) => void>();
  const find = (id: string): MessengerRow => expectFound(rows.find({ id }), "messenger");
  const present = ({ sealed: _, token_hash: _hash, cursor: _cursor, ...row }: MessengerRow): Messenger => ({
    ...row,
    state: row.enabled ? deps.stateOf(row.id) : "off",
  });
  const accessOf = ({ sealed }: MessengerRow) => ownJson<MessengerAccess>(sealer.open(sealed));
  const record = (action: string, caller: Caller, { id, name, kind, target }: MessengerRow) =>
    audit({ action, ...actedBy(caller), subject: id, data: { name, kind, target } });

  function checkAccess(kind: MessengerKind, { server, token, app_token }: Partial<MessengerAccess>): MessengerAccess {
    if (token === undefined) throw invalidField("/token", "Must be given");
    if (kind === "slack" && app_token === undefined)
      throw invalidField("/app_token", "Must be given: Slack's token for the app, xapp-…");
    if (kind !== "slack" && app_token !== undefined) throw invalidField("/app_token", "Is for Slack alone");
    const address = server ?? (kind === "matrix" ? undefined : deps.servers[kind]);
    if (address === undefined) throw invalidField("/server", "Must be given: the address of the Matrix server");
    const url = URL.canParse(address) ? new URL(address) : undefined;
    if (url?.protocol !== "http:" && url?.protocol !== "https:")
      throw invalidField("/server", "Must be an http or https address");
    if (url.username || url.password || url.search || url.hash)
      throw invalidField("/server", "Must be an address without credentials and without a query");
    deps.assertHost(url.hostname);
    return { server: url.href.replace(/\/$/, ""), token, ...(app_token === undefined ? {} : { app_token }) };
  }
  const toStored = (kind: MessengerKind, access: MessengerAccess) => ({
    target: new URL(access.server).host,
    sealed: sealer.seal(JSON.stringify(access)),
    token_hash: createHash("sha256").update(`${kind}\0${access.token}`).digest("hex"),
  });
  function assertOnce({ id, name, token_hash }: Pick<MessengerRow, "id" | "name" | "token_hash">): void {
    for (const other of rows.list([])) {
      if (other.id === id) continue;
      if (other.name === name)
        throw conflict(`There is a messenger ${name} already. Choose another name.`, "name_taken");
      if (other.token_hash === token_hash)
        throw conflict(`${other.name} reads this bot already. A bot has one reader.`, "bot_taken");
    }
  }

  return {
    find,
    accessOf,
    /** @throws Problem 404. */
    get: (id: string): Messenger => present(find(id)),
    /** Newest first. */
    list(page: Page): ListAnswer<Messenger> {
      return listById(rows.page([], page), page, present);
    },
    listEnabled: (): MessengerRow[] => rows.list([{ enabled: true }]),
    /**
     * Opens a messenger's bot. Its tokens are masked until `end` is called.
     * @throws Problem 404, 409 when it is switched off.
     */
    open(id: string): { port: Port; end(): void } {
      const row = find(id);
      if (!row.enabled) throw conflict(`The messenger ${row.name} is switched off.`, "messenger_off");
      const access = accessOf(row);
      const ends = [access.token, access.app_token].map((value) => value && deps.masking.add("messenger", value));
      return {
        port: deps.open(row.kind, access),
        end() {
          for (const end of ends) if (end) end();
        },
      };
    },
    /** @throws Problem 409 when there are too many, or one has the same name or token; 422. */
    create(input: MessengerCreate, caller: Caller): Messenger {
      const { kind, name, enabled = true, ...access } = input;
      const at = toTimestamp(clock.now());
      const row: MessengerRow = {
        id: newId("messenger"),
        kind,
        name,
        ...toStored(kind, checkAccess(kind, access)),
        account: null,
        enabled,
        cursor: null,
        last_error: null,
        created_at: at,
        updated_at: at,
      };
      return store.write((tx) => {
        const count = rows.count();
        if (count >= LIMITS.messengers)
          throw overLimit("too_many_messengers", "messengers", count, LIMITS.messengers, "Delete one first.");
        assertOnce(row);
        rows.insert(row);
        record("messenger.created", caller, row);
        for (const act of changed) act(row.id, tx);
        return present(row);
      });
    },
    /** @throws Problem 404, 409, 422. */
    update(id: string, { name, enabled, ...given }: MessengerUpdate, caller: Caller): Messenger {
      return store.write((tx) => {
        const row = find(id);
        const before = accessOf(row);
        const access = checkAccess(row.kind, {
          server: given.server ?? before.server,
          token: given.token ?? before.token,
          app_token: given.app_token ?? before.app_token,
        });
        const next: MessengerRow = {
          ...row,
          ...toStored(row.kind, access),
          name: name ?? row.name,
          enabled: enabled ?? row.enabled,
          last_error: null,
          updated_at: toTimestamp(clock.now()),
        };
        // Another bot has its own message positions.
        if (next.token_hash !== row.token_hash) Object.assign(next, { cursor: null, account: null });
        assertOnce(next);
        rows.update(next, { id });
        record("messenger.changed", caller, next);
        for (const act of changed) act(id, tx);
        return present(next);
      });
    },
    /** Removes a messenger together with its notification channels. @throws Problem 404. */
    remove(id: string, caller: Caller): void {
      store.write((tx) => {
        const row = find(id);
        for (const act of removed) act(id);
        rows.remove({ id });
        record("messenger.deleted", caller, row);
        for (const act of changed) act(id, tx);
      });
    },
    /** Registers a function that is called in the transaction that creates, changes or deletes a messenger. */
    whenChanged: (act: (id: string, tx: WriteTx) => void): void => void changed.add(act),
    /** Registers a function that is called in the transaction that deletes a messenger, before its row is removed. */
    whenRemoved: (act: (id: string) => void): void => void removed.add(act),
  };
}
