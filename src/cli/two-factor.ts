/** `skep 2fa`: two-factor verification of the user's own account. */
import type { Command } from "commander";
import { renderUnicodeCompact } from "uqr";
import { badUsage } from "../core/errors.ts";
import { say } from "./resource/command.ts";
import { connect, type ServerFlags, withServer } from "./server/locate.ts";
import { ask, askHidden } from "./terminal/ask.ts";

type Exit = (code: number) => void;

export function twoFactorCommands(program: Command, exit: Exit): void {
  const parent = withServer(program.command("2fa"))
    .description("show whether two-factor verification of your account is on")
    .action(async (flags: ServerFlags) => {
      const me = await (await connect(flags)).call("GET", "/v1/auth/me");
      const text = `${me.email}: two-factor verification is ${me.two_factor_enabled ? "on" : "off"}`;
      say(flags, { json: { two_factor_enabled: me.two_factor_enabled }, text }, exit);
    });
  withServer(parent.command("enable"))
    .description("switch two-factor verification on: scan a code with an authenticator, and enter its six digits")
    .action(async (_: unknown, command: Command) => enable(command.optsWithGlobals(), exit));
  withServer(parent.command("disable"))
    .description("switch two-factor verification off; asks for your password and a code")
    .action(async (_: unknown, command: Command) => {
      const flags = command.optsWithGlobals<ServerFlags>();
      const client = await connect(flags);
      const password = await askHidden("password");
      await client.call("POST", "/v1/auth/2fa/disable", { password, ...codeOf(await ask("code, or a recovery code")) });
      say(flags, { json: { two_factor_enabled: false }, text: "Two-factor verification is off." }, exit);
    });
}

/** Six digits are an authenticator's code; anything else is a recovery code. */
export const codeOf = (text: string): { code: string } | { recovery_code: string } =>
  /^\d{6}$/.test(text.trim()) ? { code: text.trim() } : { recovery_code: text.trim() };

async function enable(flags: ServerFlags, exit: Exit): Promise<void> {
  const client = await connect(flags);
  const started = await client.call("POST", "/v1/auth/2fa/enable");
  // On standard error, so that a pipe receives only the recovery codes.
  console.error(`${renderUnicodeCompact(started.otpauth_url)}\nOr type this into the authenticator: ${started.secret}`);
  const given = codeOf(await ask("code"));
  if (!("code" in given)) throw badUsage("The code is six digits.");
  const made = await client.call("POST", "/v1/auth/2fa/verify", given);
  console.error("Two-factor verification is on. Keep these recovery codes; each works once:");
  say(flags, { json: made, text: made.recovery_codes }, exit);
}
