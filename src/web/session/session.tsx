/** The user who is logged in. */
import { createContext, useContext } from "react";
import type { Schemas } from "../api/client.ts";

type Me = Schemas["Me"];

export const Session = createContext<Me | null>(null);

export function useMe(): Me {
  const me = useContext(Session);
  if (!me) throw new Error("shown only to those who are logged in");
  return me;
}

/** For showing what the user may do; the API checks it again. */
export const useAdmin = (): boolean => useMe().role === "admin";

/** What `created_by` holds of what this person made; null on a server without log-in. */
export function useOwnId(): string | null {
  const { id, session } = useMe();
  return session.kind === "local" ? null : id;
}
