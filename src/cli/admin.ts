/** `skep admin`: changes to accounts by the owner of the data folder, without a log-in and without a running server. */
import { existsSync } from "node:fs";
import { join } from "node:path";
import type { Command } from "commander";
import { readConfig } from "../core/config.ts";
import { isEmail, normalEmail } from "../core/email.ts";
import { badUsage, Problem } from "../core/errors.ts";
import { loadAppForData } from "./load-app.ts";
import { ask, askHidden, askUntil, hasPerson } from "./terminal/ask.ts";

interface Flags {
  data?: string;
  email?: string;
  name?: string;
  days?: string;
  scope?: string[];
  json?: boolean;
  /** Whether the command creates a data folder if there is none. */
  makes?: boolean;
}

const SCOPES = ["read", "runs", "write", "publish", "admin"] as const;
type Scope = (typeof SCOPES)[number];

const open = async ({ data }: Flags) => (await loadAppForData()).openLostAccess(readConfig(process.env, { data }));

export function adminCommand(program: Command): void {
  const admin = program
    .command("admin")
    .description("manage accounts on the server's machine, without a log-in: for the first start and lost access");
  const addCommand = (name: string, about: string) =>
    admin
      .command(name)
      .description(about)
      .option("--data <dir>", "data folder (env: DATA; default: ./data)")
      .option("--json", "print JSON instead of text");

  addCommand("create", "create an administrator; the password is asked for, or read from standard input")
    .option("--email <address>", "e-mail address of the account (default: asked for)")
    .option("--name <text>", "display name")
    .action(async (flags: Flags) => {
      const email =
        flags.email ??
        (await askUntil(
          () => ask("e-mail address"),
          // Check the address before the password is typed twice. Piped input is not asked again: its next line is the
          // password.
          (given) =>
            isEmail(normalEmail(given)) || !hasPerson() ? undefined : "An e-mail address has a name, an @ and a host.",
        ));
      const password = await newPassword();
      const user = await runWithAccounts({ ...flags, makes: true }, (accounts) =>
        accounts.createAdmin(email, password, flags.name),
      );
      say(flags, user, `${user.email} is an administrator. Log in in the browser, or with: skep login`);
    });
  addCommand("reset-password", "set an account's password, end its log-ins and locks, and switch the account on")
    .argument("<email>", "e-mail address of the account")
    .option("--all-keys", "also revoke all API keys of the account")
    .action(async (email: string, flags: Flags & { allKeys?: boolean }) => {
      const password = await newPassword();
      const allKeys = flags.allKeys ?? false;
      const user = await runWithAccounts(flags, (accounts) => accounts.resetPassword(email, password, { allKeys }));
      const names = user.api_keys.map(({ name, preview }) => `${name} (${preview})`);
      const left = names.length === 0 ? "no API key is left" : `these API keys stay valid: ${names.join(", ")}`;
      const remedy = names.length === 0 ? "" : "\nEnd them with: skep admin reset-password --all-keys, or one by one";
      say(flags, user, `${user.email}: new password; all log-ins have ended; ${left}${remedy}`);
    });
  addCommand("disable-2fa", "switch off an account's two-factor verification")
    .argument("<email>", "e-mail address of the account")
    .action(async (email: string, flags: Flags) => {
      const user = await runWithAccounts(flags, (accounts) => accounts.disableTwoFactor(email));
      say(flags, user, `${user.email}: two-factor verification is off`);
    });
  addCommand("token", "create an API key and print it")
    .option("--email <address>", "e-mail address of the account (default: the first administrator)")
    .option("--days <n>", "days that the key is valid, from 1 to 3650", "30")
    .option("--scope <word...>", `limit the key to these scopes: ${SCOPES.join(", ")}`)
    .action(async (flags: Flags) => {
      const days = Number(flags.days);
      if (!(days > 0 && days <= 3_650)) throw badUsage("--days takes a number from 1 to 3650.");
      const scopes = flags.scope?.map(scopeOf);
      const made = await runWithAccounts(flags, (accounts) => accounts.token({ email: flags.email, days, scopes }));
      if (!flags.json) console.error(`For ${made.user.email}, until ${made.expires_at}:`);
      say(flags, made, made.key);
    });
}

const say = ({ json }: Flags, object: unknown, words: string): void =>
  console.log(json ? JSON.stringify(object) : words);

function scopeOf(word: string): Scope {
  const scope = SCOPES.find((known) => known === word);
  if (!scope) throw badUsage(`--scope takes ${SCOPES.join(", ")}.`);
  return scope;
}

async function runWithAccounts<T>(
  flags: Flags,
  work: (accounts: Awaited<ReturnType<typeof open>>) => T | Promise<T>,
): Promise<T> {
  const { data } = readConfig(process.env, { data: flags.data });
  // Only `create` may create a data folder: after a mistyped path, the other verbs would leave an empty one behind.
  if (!flags.makes && !existsSync(join(data, "skep.db")))
    throw new Problem(
      404,
      "no_data",
      `${data} is not a data folder of a server. Name it with --data, or start with: skep admin create`,
    );
  const accounts = await open(flags);
  try {
    return await work(accounts);
  } finally {
    accounts.close();
  }
}

async function newPassword(): Promise<string> {
  const password = await askHidden("new password");
  if (process.stdin.isTTY && password !== (await askHidden("the same again")))
    throw badUsage("The two are not the same.");
  if (password.length < 10) throw badUsage("A password has at least 10 characters.");
  return password;
}
