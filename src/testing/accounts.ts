/** Creates accounts for tests over HTTP, as a person would. */
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { generateSync } from "otplib";
import type { TestServer } from "./server.ts";

export const PASSWORD = "correct horse battery";

export interface Account {
  id: string;
  email: string;
  token: string;
  refresh: string;
}

interface SignedIn {
  access_token: string;
  refresh_token: string;
  user: { id: string; email: string };
}

const account = ({ access_token, refresh_token, user }: SignedIn): Account => ({
  id: user.id,
  email: user.email,
  token: access_token,
  refresh: refresh_token,
});

let visitors = 0;
/** A header that makes each request seem to come from a new address, for servers that trust a proxy on loopback. */
export const elsewhere = (): Record<string, string> => ({
  "X-Forwarded-For": `10.${(visitors >> 16) & 255}.${(visitors >> 8) & 255}.${visitors++ & 255}`,
});

/** Creates the first administrator of a fresh server. @throws Error with the answer if the server refuses. */
export async function setupAdmin(server: TestServer, email = "admin@example.test"): Promise<Account> {
  const path = join(server.data, "setup-token");
  const setup_token = existsSync(path) ? readFileSync(path, "utf8").trim() : undefined;
  const body = { email, password: PASSWORD, setup_token };
  const made = await server.request<SignedIn>("POST", "/v1/auth/setup", { body });
  if (made.status !== 201) throw new Error(`setup answered ${made.status}: ${JSON.stringify(made.body)}`);
  return account(made.body);
}

/** @param from the address to log in from, for servers that trust a proxy on loopback. */
export async function logIn(server: TestServer, email: string, password = PASSWORD, from?: string): Promise<Account> {
  const headers: Record<string, string> = from ? { "X-Forwarded-For": from } : {};
  const made = await server.request<SignedIn>("POST", "/v1/auth/login", { body: { email, password }, headers });
  if (made.status !== 200) throw new Error(`login answered ${made.status}: ${JSON.stringify(made.body)}`);
  return account(made.body);
}

/** Creates a user and logs in. */
export async function makeUser(server: TestServer, admin: Account, email: string, role = "user"): Promise<Account> {
  const body = { email, password: PASSWORD, role };
  const made = await server.request("POST", "/v1/users", { token: admin.token, body });
  if (made.status !== 201) throw new Error(`user creation answered ${made.status}: ${JSON.stringify(made.body)}`);
  return logIn(server, email);
}

/**
 * If the current time step of authenticators is nearly over, waits for the next one. The codes of this step and the one
 * before then stay valid for at least 3 s.
 */
export async function steadyStep(): Promise<void> {
  const left = 30_000 - (Date.now() % 30_000);
  if (left < 3_000) await Bun.sleep(left + 50);
}

/** The code of an authenticator, `steps` steps of 30 s from now. */
export const totp = (secret: string, steps = 0): string =>
  generateSync({ secret, epoch: Math.floor(Date.now() / 1_000) + steps * 30 });

/** Enables two-factor verification. This uses up the code of the step before the current one. */
export async function enableTwoFactor(
  server: TestServer,
  { token }: Account,
): Promise<{ secret: string; recovery: string[] }> {
  const { body } = await server.request<{ secret: string }>("POST", "/v1/auth/2fa/enable", { token });
  await steadyStep();
  const verified = await server.request<{ recovery_codes: string[] }>("POST", "/v1/auth/2fa/verify", {
    token,
    body: { code: totp(body.secret, -1) },
  });
  if (verified.status !== 200) throw new Error(`verify answered ${verified.status}: ${JSON.stringify(verified.body)}`);
  return { secret: body.secret, recovery: verified.body.recovery_codes };
}
