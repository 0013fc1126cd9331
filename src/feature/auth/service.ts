/** Puts authentication together: passwords, lock-out, sessions, second factor, keys, the first administrator. */
import { join } from "node:path";
import { type Config, isLoopback } from "../../core/config.ts";
import type { ProjectRoles } from "../../core/ownership.ts";
import { createAccessTokens } from "../../http/access-tokens.ts";
import type { Caller } from "../../http/caller.ts";
import type { Core } from "../feature.ts";
import type { UserRow } from "../users/model.ts";
import { createAccountFinder } from "./account-finder.ts";
import { createApiKeys } from "./api-keys.ts";
import { attemptKey, createAttempts } from "./attempts.ts";
import { createLogin } from "./login.ts";
import type { SessionKind } from "./model.ts";
import { assertGoodPassword, createPasswordCheck, createPasswords } from "./passwords.ts";
import { createSessions } from "./sessions.ts";
import { createSetup } from "./setup.ts";
import { createTwoFactor } from "./two-factor.ts";

interface AuthDeps extends Pick<Core, "store" | "clock" | "log" | "audit" | "sealer" | "site"> {
  access: ProjectRoles;
  config: Pick<Config, "host" | "publicUrl" | "trustedProxies">;
  /** Folder in which the setup token is kept. */
  dataRoot: string;
  signingKey: Uint8Array;
}

export type Auth = ReturnType<typeof createAuth>;

export function createAuth({ store, clock, access, log, audit, sealer, site, config, dataRoot, signingKey }: AuthDeps) {
  const passwords = createPasswords();
  const attempts = createAttempts({ store, clock, log });
  const sessions = createSessions({ store, clock, audit, sealer, accessTokens: createAccessTokens(signingKey, clock) });
  const apiKeys = createApiKeys({ store, clock, audit });
  const checkPassword = createPasswordCheck({ attempts, passwords });
  const twoFactor = createTwoFactor({ store, clock, audit, sealer, attempts, checkPassword });
  const login = createLogin({ store, clock, audit, passwords, attempts, sessions, twoFactor });
  const setup = createSetup({
    store,
    clock,
    audit,
    passwords,
    sessions,
    tokenPath: join(dataRoot, "setup-token"),
    // Behind a proxy, a server on a loopback address is open to everybody whom the proxy lets in.
    localOnly: isLoopback(config.host) && !config.publicUrl && config.trustedProxies.length === 0,
  });
  return {
    /** The parts that user management needs. */
    forUsers: {
      passwords,
      assertGoodPassword,
      checkPassword,
      endSessions: sessions.endAll,
      endKeys: apiKeys.passwordChanged,
      unlock(user: UserRow) {
        attempts.clear(attemptKey("password", user.email));
        attempts.clear(attemptKey("second-factor", user.id));
      },
    },
    /** Opens a try to guess the token of a user's invitation. @throws Problem 429 after too many wrong tries. */
    tryInvitation: (userId: string) => attempts.begin(attemptKey("invitation", userId)),
    sessions,
    apiKeys,
    twoFactor,
    login,
    setup,
    /** Opens a session after single sign-on at a provider. Only the provider asks for a second factor. */
    openSignOn: (
      { userId, oidc }: { userId: string; oidc: { slug: string; idToken: string } },
      kind: SessionKind,
      request: Request,
      caller: Caller,
    ) => sessions.open(userId, { kind, oidc, address: caller.address, userAgent: request.headers.get("user-agent") }),
    accounts: createAccountFinder({ sessions, apiKeys, site, projects: access }),
    /** Removes expired sessions and counts. */
    prune() {
      sessions.prune();
      attempts.prune();
    },
  };
}
