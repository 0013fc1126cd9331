/** Sends mail through the operator's SMTP server. */

import { conflict, messageOf, Problem } from "../core/errors.ts";
import { membersOf } from "../core/is-object.ts";
import { raceSignal } from "../core/race-signal.ts";

interface MailerOptions {
  /** `smtp://user:password@host:587` (uses STARTTLS if the server supports it) or `smtps://…`. */
  url: string | undefined;
  from: string | undefined;
}

interface Mail {
  to: string;
  subject: string;
  text: string;
  /** The same for each attempt, so that mail programs show the message only once. */
  id: string;
}

const TIMEOUT_MS = 15_000;

/**
 * @throws Problem 409 `mail_not_set_up`, 422 when the server refuses the mail permanently, 502 when a later attempt may
 * succeed.
 */
export function createMailer({ url, from }: MailerOptions): (mail: Mail, signal: AbortSignal) => Promise<void> {
  return async ({ to, subject, text, id }, signal) => {
    if (url === undefined || from === undefined)
      throw conflict("This server sends no mail. An operator sets SMTP_URL and SMTP_FROM.", "mail_not_set_up");
    signal.throwIfAborted();
    const { createTransport } = await import("nodemailer");
    const timeouts = { connectionTimeout: TIMEOUT_MS, greetingTimeout: TIMEOUT_MS, socketTimeout: TIMEOUT_MS };
    const transport = createTransport({ url, ...timeouts, disableFileAccess: true, disableUrlAccess: true });
    try {
      const host = from.slice(from.lastIndexOf("@") + 1).replace(/[^\w.-]/g, "") || "localhost";
      const headers = { "Auto-Submitted": "auto-generated" };
      // The recipient is given as an object, so that the address is never parsed as a list of addresses.
      const mail = { from, to: { name: "", address: to }, subject, text, messageId: `<${id}@${host}>`, headers };
      await raceSignal(transport.sendMail(mail), signal);
    } catch (error) {
      if (signal.aborted) throw error;
      const { responseCode } = membersOf(error);
      const why = messageOf(error).slice(0, 200);
      throw new Problem(Number(responseCode) >= 500 ? 422 : 502, "mail_failed", `The mail could not be sent (${why}).`);
    } finally {
      transport.close();
    }
  };
}
