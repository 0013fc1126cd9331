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

/** Whether the user is an administrator. Use it only to decide what to show; the API checks it again. */
export const useAdmin = (): boolean => useMe().role === "admin";

/** The value of `created_by` on what this user creates; null on a server without log-in. */
export function useOwnId(): string | null {
  const { id, session } = useMe();
  return session.kind === "local" ? null : id;
}
