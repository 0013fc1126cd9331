/**
 * Creates the first administrator. It needs the setup token (printed at start, kept in the data folder with mode 0600).
 * It works once: of two requests at the same time one wins, and every later one gets 409.
 */
import { chmodSync, existsSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { toTimestamp } from "../../core/clock.ts";
import { normalEmail } from "../../core/email.ts";
import { conflict, forbidden } from "../../core/errors.ts";
import { newId } from "../../core/ids.ts";
import { sameToken } from "../../http/authenticate.ts";
import { hasAdministrator } from "../../store/administrators.ts";
import { users } from "../../store/tables/accounts.ts";
import type { Core } from "../feature.ts";
import { newUserRow } from "../users/model.ts";
import type { SetupBody } from "./model.ts";
import { assertGoodPassword, type Passwords } from "./passwords.ts";
import type { Opened, Sessions, Visitor } from "./sessions.ts";
import { newToken } from "./tokens.ts";

interface SetupDeps extends Pick<Core, "store" | "clock" | "audit"> {
  passwords: Passwords;
  sessions: Sessions;
  /** Path of the file with the token. */
  tokenPath: string;
  /** True when only this machine can reach the server: then no token is needed. */
  localOnly: boolean;
}

export function createSetup({ store, clock, audit, passwords, sessions, tokenPath, localOnly }: SetupDeps) {
  const people = store.rows(users);
  const token = hasAdministrator(store) ? undefined : keptToken(tokenPath);
  if (token === undefined) rmSync(tokenPath, { force: true });
  const assertOpen = () => {
    if (hasAdministrator(store)) throw conflict("This server is set up. Log in instead.", "already_set_up");
  };
  return {
    /** The token to print at start, as long as there is no administrator and the token is required. */
    tokenToShow: (): string | undefined => (localOnly || hasAdministrator(store) ? undefined : token),
    /**
     * @param viaProxy whether the request shows that another machine may have sent it.
     * @throws Problem 409 `already_set_up`, 403 `setup_token_wrong`, 422.
     */
    async run(
      { email: given, password, display_name, setup_token = "", session = "bearer" }: SetupBody,
      visitor: Visitor,
      viaProxy: boolean,
    ): Promise<Opened> {
      assertOpen();
      if ((viaProxy || !localOnly) && !(token && sameToken(setup_token, token)))
        throw forbidden(
          "The setup token is missing or wrong. The server prints it at start; it is in the data folder's file setup-token.",
          "setup_token_wrong",
        );
      const email = normalEmail(given);
      assertGoodPassword(password, email);
      const password_hash = await passwords.hash(password);
      const at = toTimestamp(clock.now());
      const row = newUserRow({ id: newId("user"), email, display_name, role: "admin", password_hash, at });
      store.write(() => {
        assertOpen();
        // An ordinary account that a provider made is not replaced: its address counts as taken.
        if (!people.insertIfNew(row)) throw conflict("An account has this address. Choose another.", "email_taken");
        audit({ action: "setup.done", actor: row.id, subject: row.id, address: visitor.address });
      });
      rmSync(tokenPath, { force: true });
      return sessions.open(row.id, { kind: session, ...visitor });
    },
  };
}

function keptToken(path: string): string {
  if (existsSync(path)) {
    const kept = readFileSync(path, "utf8").trim();
    chmodSync(path, 0o600);
    if (kept.length >= 32) return kept;
    rmSync(path);
  }
  const token = newToken("setup");
  writeFileSync(path, `${token}\n`, { mode: 0o600, flag: "wx" });
  return token;
}
