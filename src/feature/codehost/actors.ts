/** Decides who may start something. Only the host's answer counts, never what a payload says. */
import type { CodeHost } from "../../adapter/codehost/code-host.ts";
import type { Rule } from "./model.ts";

const RANKS = ["none", "read", "write", "admin"];

export type ActorRule = Pick<Rule, "permission" | "bots">;
export const WRITERS: ActorRule = { permission: "write", bots: [] };

/** @returns the obstacle, or undefined when the actor may. */
export async function obstacleOf(
  host: Pick<CodeHost, "isBot" | "permission">,
  repository: string,
  actor: string,
  { permission, bots }: ActorRule,
): Promise<string | undefined> {
  const isActor = (login: string) => login.toLowerCase() === actor.toLowerCase();
  if (actor === "") return "The event names no actor.";
  if (bots.some(isActor)) return (await host.isBot(repository, actor)) ? undefined : `${actor} is not a bot.`;
  // A bot has the permissions of its App, not those of a person. It may start something only if the rule names it.
  if (actor.toLowerCase().endsWith("[bot]")) return `The bot ${actor} is not named by the rule.`;
  const has = await host.permission(repository, actor);
  if (RANKS.indexOf(has) >= RANKS.indexOf(permission)) return undefined;
  return `${actor} has the permission ${has} in ${repository}; ${permission} is needed.`;
}
