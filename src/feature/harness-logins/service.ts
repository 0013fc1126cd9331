/**
 * People's own log-ins at the vendors of external agents. They are sealed, and used only for the work of the person who
 * stored them, by the agents that the person named. Nobody can read one back, not even an administrator.
 */

import { attempt } from "../../core/attempt.ts";
import { toTimestamp } from "../../core/clock.ts";
import { conflict, invalidField, notFound } from "../../core/errors.ts";
import { hasOwnLogin, OWN_LOGINS, type OwnLoginName } from "../../core/harness-names.ts";
import { isObject } from "../../core/is-object.ts";
import { readJson } from "../../core/json-reader.ts";
import { LIMITS } from "../../core/limits.ts";
import { loginTokens } from "../../core/login-tokens.ts";
import { type Masking, maskedPreview } from "../../core/masking.ts";
import { shownOf } from "../../core/schema.ts";
import type { Sealer } from "../../core/sealing.ts";
import { actedBy, actorOf, type Caller, personOf } from "../../http/caller.ts";
import { type ListAnswer, type Page, pageOfArray } from "../../http/list.ts";
import { LOCAL_USER, harnessLogins as table } from "../../store/tables/providers.ts";
import type { Core } from "../feature.ts";
import { HarnessLogin, type HarnessLoginUpdate } from "./model.ts";

interface HarnessLoginsDeps extends Pick<Core, "store" | "clock" | "sealer" | "audit"> {
  masking: Pick<Masking, "add">;
  agentExists(id: string): boolean;
  /** Whether the server has no accounts: work without a user then uses the log-ins stored on this server. */
  localUser: boolean;
}

export type HarnessLogins = ReturnType<typeof createHarnessLogins>;

type Row = typeof table.$inferSelect;

const EVERY = "*";
const NOT_HELD =
  "The program asks its vendor, not Skep: budgets do not stop it, its cost is unknown, and tokens that it gets from its vendor while it works are not masked. Its time limit, its max_turns and its network hold.";

export function createHarnessLogins(deps: HarnessLoginsDeps) {
  const { store, clock, sealer, audit, masking, agentExists, localUser } = deps;
  const rows = store.rows(table);
  const readNow = (): string => toTimestamp(clock.now());
  /** Masks each token of a log-in from now on, because a program may print one token without the rest of the file. */
  const mask = (login: string): string => {
    for (const token of loginTokens(login)) masking.add("own log-in", token);
    return login;
  };
  const present = ({ harness, ...row }: Row): HarnessLogin[] =>
    // A log-in of a program that this version does not support is not shown.
    hasOwnLogin(harness)
      ? [{ ...shownOf(HarnessLogin, row), harness, hosts: [...OWN_LOGINS[harness].hosts], not_held: NOT_HELD }]
      : [];
  const assertAgents = (agents: readonly string[]): void => {
    const unknown = agents.find((id) => id !== EVERY && !agentExists(id));
    if (unknown !== undefined) throw invalidField("/agents", `There is no agent ${unknown.slice(0, 64)}`);
  };

  return {
    list(page: Page, caller: Caller): ListAnswer<HarnessLogin> {
      const own = rows.list([{ user_id: personOf(caller) }], { order: "harness" });
      return pageOfArray(own.flatMap(present), page, ({ harness }) => harness);
    },
    /** @throws Problem 422 for a text that is no log-in of that program, or for an unknown agent. */
    set(harness: OwnLoginName, { login, agents }: HarnessLoginUpdate, caller: Caller): HarnessLogin {
      const user_id = personOf(caller);
      const text = login === undefined ? undefined : mask(loginIn(harness, login));
      assertAgents(agents ?? []);
      return store.write(() => {
        const before = rows.find({ user_id, harness });
        if (!before && text === undefined) throw invalidField("/login", `Give the log-in: ${OWN_LOGINS[harness].what}`);
        const at = readNow();
        const sealed = text === undefined ? {} : { sealed_login: sealer.seal(text), masked_login: maskedPreview(text) };
        const change = { ...sealed, ...(agents ? { agents } : {}), updated_at: at };
        const none = { sealed_login: "", masked_login: "", agents: [], last_used_at: null };
        const row = { ...(before ?? { user_id, harness, ...none, created_at: at }), ...change };
        rows.put(row, ["user_id", "harness"]);
        const data = { agents: row.agents, replaced: text !== undefined };
        audit({ action: "harness_login.set", ...actedBy(caller), subject: harness, data });
        return present(row)[0]!;
      });
    },
    /** @throws Problem 404 when there is no such log-in. */
    remove: (harness: OwnLoginName, caller: Caller): void =>
      store.write(() => {
        if (rows.remove({ user_id: personOf(caller), harness }) === 0) throw notFound("log-in");
        const actor = actorOf(caller);
        audit({ action: "harness_login.removed", actor, subject: harness, address: caller.address });
      }),
    /** Opens every log-in once, so that all are masked. One that cannot be opened is reported when it is used. */
    maskAll(): void {
      for (const row of rows.list([])) attempt(() => mask(sealer.open(row.sealed_login)));
    },
    /** Deletes a deleted user's log-ins. They never pass to an heir. */
    removeOf: (user_id: string): void => void store.write(() => rows.remove({ user_id })),
    /**
     * The log-in of the person for whom the work is done. Its use is audited.
     * @param agentIds the agent, and the agents that started it and limit it: the person must have named each of them.
     * @throws Problem 409 `own_login_missing` with what to do.
     */
    open(by: {
      userId: string | undefined;
      harness: OwnLoginName;
      agentIds: readonly string[];
      actor: string;
    }): string {
      const { harness } = by;
      const user_id = by.userId ?? (localUser ? LOCAL_USER : undefined);
      const row = user_id === undefined ? undefined : rows.find({ user_id, harness });
      if (!row) throw createProblem(`You have stored no log-in of ${harness}.`, `skep harness-logins set ${harness}`);
      const denied = by.agentIds.find((id) => !row.agents.includes(EVERY) && !row.agents.includes(id));
      if (denied !== undefined)
        throw createProblem(
          `Your log-in of ${harness} is not for the agent ${denied}.`,
          `skep harness-logins set ${harness} --agents ${[...row.agents, denied].join(",")}`,
        );
      const login = mask(openSealed(row, sealer));
      store.write(() => {
        audit({ action: "harness_login.read", actor: by.actor, subject: harness });
        rows.update({ last_used_at: readNow() }, { user_id: row.user_id, harness });
      });
      return login;
    },
  };
}

const createProblem = (what: string, command: string) =>
  conflict(`${what} Its agent has \`credentials: own\`. Run: ${command}`, "own_login_missing");

function openSealed({ harness, sealed_login }: Row, sealer: Sealer): string {
  try {
    return sealer.open(sealed_login);
  } catch {
    throw createProblem(
      `Your log-in of ${harness} cannot be opened with this server's key.`,
      `skep harness-logins set ${harness}`,
    );
  }
}

/** Checks the text and returns it as the program reads it. @throws Problem 422. */
function loginIn(harness: OwnLoginName, text: string): string {
  const { form, what } = OWN_LOGINS[harness];
  const login = text.trim();
  if (Buffer.byteLength(login) > LIMITS.secretValueBytes || login.includes("\0"))
    throw invalidField("/login", `A log-in has at most ${LIMITS.secretValueBytes} bytes`);
  const isRight = form === "json" ? isObject(attempt(() => readJson(login))) : /^[\x21-\x7e]{8,4096}$/.test(login);
  if (!isRight) throw invalidField("/login", `The log-in of ${harness} is ${what}`);
  return login;
}
