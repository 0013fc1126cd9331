/** The configuration's options as flags of a command: `AGENT_IMAGE` is `--agent-image`. */

import { type Command, Option } from "commander";
import { type Config, flagOf, OPTIONS, readConfig } from "../core/config.ts";
import { keysOf } from "../core/typed-keys.ts";

const names = keysOf(OPTIONS);
const toCamel = (flag: string) => flag.slice(2).replace(/-([a-z])/g, (_, letter: string) => letter.toUpperCase());

/** Adds the options as flags. Secrets have no flag, since other users can read a process's arguments. */
export function addConfigFlags(command: Command): Command {
  for (const name of names) {
    const option: {
      env: string;
      about: string;
      accepts: string;
      default: unknown;
      choices?: readonly string[];
      secret?: boolean;
    } = OPTIONS[name];
    if (option.secret) continue;
    const { env, about, accepts, choices, default: value } = option;
    const unset = value === undefined || (Array.isArray(value) && value.length === 0);
    const notes = [...(choices ? [] : [accepts]), ...(unset ? [] : [`default: ${value}`]), `$${env}`].join("; ");
    const flag = new Option(`${flagOf(env)} <value>`, `${about} (${notes})`);
    command.addOption(choices ? flag.choices([...choices]) : flag);
  }
  return command;
}

/** Reads the configuration from parsed flags and the environment. @throws Problem 422. */
export function configFrom(parsed: Record<string, unknown>): Config {
  const flags: Partial<Record<keyof typeof OPTIONS, string>> = {};
  for (const name of names) {
    const value = parsed[toCamel(flagOf(OPTIONS[name].env))];
    if (typeof value === "string") flags[name] = value;
  }
  return readConfig(process.env, flags);
}
