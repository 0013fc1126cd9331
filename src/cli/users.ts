/** `skep users`: the accounts of a server, for its administrators. */
import type { Command } from "commander";
import { readConfig } from "../core/config.ts";
import { Problem } from "../core/errors.ts";
import { askHidden } from "./ask.ts";
import { type Client, findServer } from "./client.ts";

interface Flags {
  url?: string;
  data?: string;
  json?: boolean;
  name?: string;
  admin?: boolean;
  role?: string;
  active?: string;
  password?: boolean;
  resetTwoFactor?: boolean;
}

interface UserView {
  id: string;
  email: string;
  display_name: string;
  role: string;
  active: boolean;
  two_factor_enabled: boolean;
  last_login_at: string | null;
}

const common = (command: Command): Command =>
  command
    .option("--url <url>", "server to use [SKEP_URL]")
    .option("--data <dir>", "data folder [DATA]")
    .option("--json", "JSON instead of words");
/** Options stand before or after the name of the subcommand. */
const flagsOf = (command: Command): Flags => command.optsWithGlobals<Flags>();
const server = ({ url, data }: Flags): Promise<Client> =>
  findServer({ url, data: readConfig(process.env, data === undefined ? {} : { data }).data });

export function usersCommand(program: Command): void {
  const users = common(program.command("users").description("list the users of a server, or manage them")).action(
    async (_flags: Flags, command: Command) => list(flagsOf(command)),
  );
  common(users.command("list").description("list users")).action(async (_flags: Flags, command: Command) =>
    list(flagsOf(command)),
  );
  common(users.command("create").description("create a user; without --password it signs on through a provider"))
    .argument("<email>")
    .option("--name <text>", "name to show")
    .option("--admin", "make an administrator")
    .option("--password", "ask for a password, or read it from standard input")
    .action(async (email: string, _flags: Flags, command: Command) => create(email, flagsOf(command)));
  common(users.command("update").description("change a user, by address or id"))
    .argument("<user>")
    .option("--name <text>", "name to show")
    .option("--role <role>", "admin or user")
    .option("--active <yes>", "true or false")
    .option("--password", "ask for a new password, or read it from standard input")
    .option("--reset-two-factor", "switch off its two-factor verification")
    .action(async (user: string, _flags: Flags, command: Command) => update(user, flagsOf(command)));
  common(users.command("delete").description("delete a user; what it owned becomes yours"))
    .argument("<user>")
    .action(async (user: string, _flags: Flags, command: Command) => {
      const flags = flagsOf(command);
      const client = await server(flags);
      const { id, email } = await find(client, user);
      await client.call("DELETE", `/v1/users/${id}`);
      console.log(flags.json ? JSON.stringify({ id, deleted: true }) : `${email}: deleted`);
    });
}

async function everybody(client: Client): Promise<UserView[]> {
  const users: UserView[] = [];
  for (let cursor: string | null = ""; cursor !== null; ) {
    const query: string = cursor ? `&cursor=${encodeURIComponent(cursor)}` : "";
    const page: { items: UserView[]; next_cursor: string | null } = await client.call(
      "GET",
      `/v1/users?limit=200${query}`,
    );
    users.push(...page.items);
    cursor = page.next_cursor;
  }
  return users;
}

async function find(client: Client, user: string): Promise<UserView> {
  const wanted = user.trim().toLowerCase();
  const found = (await everybody(client)).find(({ id, email }) => id === user || email === wanted);
  if (!found) throw new Problem(404, "not_found", `There is no user ${user}. List them with: skep users`);
  return found;
}

const said = ({ email, role, active, two_factor_enabled, last_login_at }: UserView): string =>
  [
    email.padEnd(32),
    role.padEnd(6),
    active ? "active" : "off   ",
    two_factor_enabled ? "2fa" : "   ",
    last_login_at ?? "never",
  ].join("  ");

async function list(flags: Flags): Promise<void> {
  const users = await everybody(await server(flags));
  console.log(flags.json ? JSON.stringify(users) : users.map(said).join("\n") || "No users yet.");
}

async function create(email: string, flags: Flags): Promise<void> {
  const client = await server(flags);
  const body = {
    email,
    ...(flags.name ? { display_name: flags.name } : {}),
    ...(flags.admin ? { role: "admin" } : {}),
    ...(flags.password ? { password: await askHidden("password") } : {}),
  };
  const made = await client.call<UserView>("POST", "/v1/users", body);
  console.log(flags.json ? JSON.stringify(made) : said(made));
}

async function update(user: string, flags: Flags): Promise<void> {
  if (flags.active !== undefined && !/^(true|false)$/.test(flags.active))
    throw new Problem(422, "bad_usage", "--active takes true or false.");
  if (flags.role !== undefined && !/^(admin|user)$/.test(flags.role))
    throw new Problem(422, "bad_usage", "--role takes admin or user.");
  const client = await server(flags);
  const { id } = await find(client, user);
  const body = {
    ...(flags.name ? { display_name: flags.name } : {}),
    ...(flags.role ? { role: flags.role } : {}),
    ...(flags.active ? { active: flags.active === "true" } : {}),
    ...(flags.password ? { password: await askHidden("new password") } : {}),
    ...(flags.resetTwoFactor ? { two_factor_enabled: false } : {}),
  };
  const changed = await client.call<UserView>("PUT", `/v1/users/${id}`, body);
  console.log(flags.json ? JSON.stringify(changed) : said(changed));
}
