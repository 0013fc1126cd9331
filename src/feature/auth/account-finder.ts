/** Finds the caller that belongs to a credential: an access token, an API key, or the browser's session cookie. */
import { forbidden } from "../../core/errors.ts";
import type { ProjectRoles } from "../../core/ownership.ts";
import type { Accounts } from "../../http/authenticate.ts";
import type { Caller } from "../../http/caller.ts";
import { cookieOf, SESSION_COOKIE } from "../../http/cookies.ts";
import type { Site } from "../../http/site.ts";
import type { UserRow } from "../users/model.ts";
import type { ApiKeys } from "./api-keys.ts";
import type { Sessions } from "./sessions.ts";
import { TOKEN_PREFIXES } from "./tokens.ts";

const READING = new Set(["GET", "HEAD", "OPTIONS"]);

interface AccountFinderDeps {
  sessions: Sessions;
  apiKeys: ApiKeys;
  site: Site;
  projects: ProjectRoles;
}

export function createAccountFinder({ sessions, apiKeys, site, projects }: AccountFinderDeps): Accounts {
  const isAdmin = ({ role }: UserRow) => role === "admin";
  function bySession({ session, user }: { session: { id: string }; user: UserRow }): Caller {
    const admin = isAdmin(user);
    const stillValid = () => {
      const now = sessions.findLive(session.id);
      return now !== undefined && isAdmin(now.user) === admin;
    };
    return { kind: "user", admin, userId: user.id, sessionId: session.id, stillValid, projects };
  }
  function byKey(bearer: string): Caller | undefined {
    const found = apiKeys.find(bearer);
    if (!found) return undefined;
    const scopes = found.key.scopes ?? undefined;
    // An administrator's key that lacks the scope `admin` may change only what a plain user may change.
    const mayAdmin = scopes === undefined || scopes.includes("admin");
    const [readsAsAdmin, admin] = [isAdmin(found.user), isAdmin(found.user) && mayAdmin];
    const stillValid = () => {
      const now = apiKeys.findLive(found.key.id);
      return now !== undefined && isAdmin(now.user) === readsAsAdmin;
    };
    const { id: userId } = found.user;
    return { kind: "user", admin, readsAsAdmin, userId, apiKeyId: found.key.id, scopes, stillValid, projects };
  }
  return {
    async find(bearer, request) {
      if (bearer?.startsWith(TOKEN_PREFIXES.apiKey)) return byKey(bearer);
      if (bearer !== undefined) {
        const found = await sessions.byAccessToken(bearer);
        return found && bySession(found);
      }
      const cookie = cookieOf(request, SESSION_COOKIE);
      const found = cookie === undefined ? undefined : sessions.byCookie(cookie);
      if (!found) return undefined;
      if (!READING.has(request.method) && !site.ownPage(request))
        throw forbidden("A change by session cookie must come from a page of this server.", "foreign_origin");
      return bySession(found);
    },
  };
}
