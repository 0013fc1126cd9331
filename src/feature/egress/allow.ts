/** Adds a host to the allow-list in an agent's file. */

import { conflict } from "../../core/errors.ts";
import { hostEntry } from "../../core/network.ts";
import type { Caller } from "../../http/caller.ts";
import type { AgentChange, AgentDetail } from "../agents/model.ts";
import type { AllowedHost } from "./model.ts";

export interface AllowingAgents {
  get(id: string): AgentDetail;
  configure(id: string, change: AgentChange, caller: Caller): AgentDetail;
}

/** @throws Problem 404, 409 `network_open` for an agent whose network is not limited. */
export function allowHost(
  agents: AllowingAgents,
  id: string,
  { host, port }: AllowedHost,
  caller: Caller,
): AgentDetail {
  const { network } = agents.get(id).config;
  if (network === "bridge")
    throw conflict(`The agent ${id} has the network \`bridge\`: it is not held to a list.`, "network_open");
  const before = network === "none" ? [] : network.allow;
  const entry = hostEntry(host, port);
  if (before.includes(entry)) return agents.get(id);
  return agents.configure(id, { network: { allow: [...before, entry] } }, caller);
}
