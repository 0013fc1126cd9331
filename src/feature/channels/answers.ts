/**
 * Answers that come in from messengers and ntfy. Nothing happens unless chat, person, message and token are those of the
 * question; what is refused is one entry in the audit log.
 */
import type { Incoming, Messenger, Press, Reaction } from "../../adapter/chat/messenger.ts";
import { type Clock, HOUR_MS } from "../../core/clock.ts";
import { Problem } from "../../core/errors.ts";
import { LIMITS } from "../../core/limits.ts";
import type { Audit } from "../../store/audit.ts";
import type { Store } from "../../store/store.ts";
import { notificationChannels } from "../../store/tables/notification-channels.ts";
import { COMMANDS_HELP, type CommandRow, type Commands, readCommand, type Said } from "./commands.ts";
import type { Links } from "./links.ts";
import type { Answer, QuestionRow, Questions } from "./questions.ts";

export interface AnswersDeps {
  store: Store;
  clock: Clock;
  audit: Audit;
  links: Links;
  questions: Questions;
  commands: Commands;
}

type Afterwards = (port: Messenger, signal: AbortSignal) => Promise<void>;

const COMMENT_CHARACTERS = 2_000;
const VOID = "This button does nothing: it was used, has expired, or is not meant for you here.";
const HELP =
  "Reply to a question with yes or no; what you write after it is your comment, e.g. “no: the tests are missing”. Its buttons do the same.";
const YES = /^(?:yes|y|ok|approve|approved|allow|✅|👍)(?![\p{L}\p{N}])/iu;
const NO = /^(?:no|n|refuse|reject|deny|❌|👎)(?![\p{L}\p{N}])/iu;

/** The answer at the begin of a text, with the rest as comment. */
function readAnswer(text: string): { answer: Answer; comment: string } | undefined {
  const said = text.trim();
  const found = YES.exec(said) ?? NO.exec(said);
  if (!found) return undefined;
  const rest = said.slice(found[0].length).replace(/^[\s:,.!–-]+/u, "");
  return { answer: YES.test(said) ? "yes" : "no", comment: rest.slice(0, COMMENT_CHARACTERS) };
}

export function createAnswers({ store, clock, audit, links, questions, commands }: AnswersDeps) {
  const channels = store.rows(notificationChannels);
  let refused = { count: 0, since: 0 };
  /** Strangers can press as often as they like: what they do is bounded in the log. */
  function noteRefusal(action: string, subject: string | undefined, data: Record<string, unknown>): void {
    if (clock.now() - refused.since > HOUR_MS) refused = { count: 0, since: clock.now() };
    refused.count++;
    if (refused.count <= LIMITS.refusedAnswersPerHour) audit({ action, actor: "messenger", subject, data });
  }
  const who = (messenger_id: string, { chat, sender }: Incoming) => ({
    messenger_id,
    chat: chat.slice(0, 100),
    sender: sender.slice(0, 100),
  });
  const say =
    ({ id, chat }: Incoming, text: string, replyTo?: string): Afterwards =>
    async (port, signal) => {
      await port.send(chat, { key: `answer-${id.slice(-60)}`, text, buttons: [], replyTo }, signal);
    };

  /** What a command is answered with; the message that asks is remembered, so that a reply or a sign answers it. */
  const tell =
    ({ id, chat }: Incoming, { text, buttons, waits }: Said): Afterwards =>
    async (port, signal) => {
      const message = await port.send(chat, { key: `command-${id.slice(-60)}`, text, buttons }, signal);
      if (waits !== undefined) commands.noteMessage(waits, message);
    };

  /** Why this press or sign is not the person's answer to this question; undefined when it is. */
  function faultOf(
    messengerId: string,
    incoming: Press | Reaction,
    found: { question: Pick<QuestionRow, "channel_id" | "message" | "outcome">; isUsed: boolean } | undefined,
  ): string | undefined {
    if (!found) return "unknown_button";
    const link = links.of(found.question.channel_id);
    if (link?.messenger_id !== messengerId) return "other_messenger";
    if (link.chat !== incoming.chat) return "other_chat";
    if (link.sender !== incoming.sender) return "other_person";
    if (found.question.message !== null && found.question.message !== incoming.message) return "other_message";
    return found.isUsed || found.question.outcome !== null ? "used" : undefined;
  }
  /**
   * The answer of its person to a command that waits.
   * @param message that asks: it says what came of it.
   */
  function decide(messengerId: string, incoming: Incoming, message: string, command: CommandRow, answer: Answer) {
    const { outcome, isTaken } = commands.give(command, answer);
    if (!isTaken)
      noteRefusal("phone_answer.refused", command.id, { ...who(messengerId, incoming), reason: "not_waiting" });
    const shown: Afterwards = async (port, signal) => {
      await port.edit(incoming.chat, message, `➜ ${outcome}`, signal);
    };
    return { outcome, shown };
  }
  function pressCommand(messengerId: string, incoming: Press): Afterwards | undefined {
    const found = commands.ofToken(incoming.token);
    if (!found) return undefined;
    const { command, answer } = found;
    const fault = faultOf(messengerId, incoming, { question: command, isUsed: false });
    if (fault !== undefined) {
      noteRefusal("phone_answer.refused", command.id, { ...who(messengerId, incoming), reason: fault });
      return (port, signal) => port.confirm(incoming, VOID, signal);
    }
    const { outcome, shown } = decide(messengerId, incoming, incoming.message, command, answer);
    return async (port, signal) => {
      await port.confirm(incoming, outcome, signal);
      await shown(port, signal);
    };
  }
  /** The command of this person that waits below this message of this chat. */
  function commandOf(messengerId: string, incoming: Incoming, message: string): CommandRow | undefined {
    for (const { channel_id } of links.at(messengerId, incoming.chat, incoming.sender)) {
      const command = commands.at(channel_id, message);
      if (command?.outcome === null) return command;
    }
    return undefined;
  }
  function press(messengerId: string, incoming: Press): Afterwards {
    const ofCommand = pressCommand(messengerId, incoming);
    if (ofCommand) return ofCommand;
    const found = questions.ofToken(incoming.token);
    const fault = faultOf(messengerId, incoming, found);
    if (fault !== undefined || !found) {
      noteRefusal("phone_answer.refused", found?.question.subject_id, { ...who(messengerId, incoming), reason: fault });
      return (port, signal) => port.confirm(incoming, VOID, signal);
    }
    const { outcome, isTaken } = questions.give(found.question, found.question, found.answer, "");
    if (!isTaken)
      noteRefusal("phone_answer.refused", found.question.subject_id, {
        ...who(messengerId, incoming),
        reason: "not_waiting",
      });
    return (port, signal) => port.confirm(incoming, outcome, signal);
  }
  /** The question that this person was asked in this message of this chat. */
  function questionOf(messengerId: string, incoming: Incoming, message: string): QuestionRow | undefined {
    for (const { channel_id } of links.at(messengerId, incoming.chat, incoming.sender)) {
      const question = questions.at(channel_id, message);
      if (question) return question;
    }
    return undefined;
  }
  function react(messengerId: string, incoming: Reaction): Afterwards | undefined {
    const command = commandOf(messengerId, incoming, incoming.message);
    if (command) return decide(messengerId, incoming, incoming.message, command, incoming.answer).shown;
    const question = questionOf(messengerId, incoming, incoming.message);
    const isUsed = question?.outcome != null;
    if (!question || isUsed) {
      // Signs below other messages are none of our business.
      if (isUsed)
        noteRefusal("phone_answer.refused", question?.subject_id, { ...who(messengerId, incoming), reason: "used" });
      return undefined;
    }
    const { outcome, isTaken } = questions.give(question, question, incoming.answer, "");
    return isTaken ? undefined : say(incoming, outcome);
  }
  function link(messengerId: string, incoming: Incoming & { kind: "text" }, code: string): Afterwards {
    const { chat, sender, senderName } = incoming;
    const id = links.redeem(messengerId, code, { chat, sender, name: senderName });
    const channel = id === undefined ? undefined : channels.find({ id });
    if (!channel) {
      noteRefusal("phone_link.refused", undefined, who(messengerId, incoming));
      return say(
        incoming,
        "This code is not valid. Make a new one: skep notifications code NAME, or in the dashboard.",
      );
    }
    audit({
      action: "phone_link.made",
      actor: channel.owner_id ?? "local",
      subject: channel.id,
      data: who(messengerId, incoming),
    });
    return say(incoming, `Linked. Skep asks and tells you here (${channel.name}). ${HELP}`);
  }
  function hear(messengerId: string, incoming: Incoming & { kind: "text" }): Afterwards | undefined {
    const code = /^\/?(?:start|link)\s+([A-Za-z0-9]{5}-?[A-Za-z0-9]{5})\s*$/i.exec(incoming.text.trim())?.[1];
    if (code !== undefined) return link(messengerId, incoming, code);
    // Whoever is not linked gets no answer.
    const own = links.at(messengerId, incoming.chat, incoming.sender);
    if (own.length === 0) return undefined;
    const { replyTo } = incoming;
    const question = replyTo === undefined ? undefined : questionOf(messengerId, incoming, replyTo);
    const command = readCommand(incoming.text);
    if (command) {
      const said = commands.hear(own, command, question?.run_id ?? undefined);
      return said && tell(incoming, said);
    }
    const waiting = replyTo === undefined ? undefined : commandOf(messengerId, incoming, replyTo);
    if (waiting) {
      const answer = readAnswer(incoming.text)?.answer;
      if (answer === undefined) return say(incoming, HELP, replyTo);
      const { outcome, shown } = decide(messengerId, incoming, replyTo ?? "", waiting, answer);
      return async (port, signal) => {
        await say(incoming, outcome, replyTo)(port, signal);
        await shown(port, signal);
      };
    }
    if (!question)
      return /^\/(?:help|start)\b/.test(incoming.text) ? say(incoming, `${HELP} ${COMMANDS_HELP}`) : undefined;
    const said = readAnswer(incoming.text);
    if (!said) return say(incoming, HELP, incoming.replyTo);
    const { outcome, isTaken } = questions.give(question, question, said.answer, said.comment);
    if (!isTaken)
      noteRefusal("phone_answer.refused", question.subject_id, {
        ...who(messengerId, incoming),
        reason: "not_waiting",
      });
    return say(incoming, outcome, incoming.replyTo);
  }

  return {
    /** What came in from a messenger. Called in a transaction. @returns what is said afterwards. */
    handle(messengerId: string, incoming: Incoming): Afterwards | undefined {
      if (incoming.kind === "press") return press(messengerId, incoming);
      if (incoming.kind === "reaction") return react(messengerId, incoming);
      if (incoming.kind === "text") return hear(messengerId, incoming);
      return links.isAwaited(messengerId) ? (port, signal) => port.join(incoming.chat, signal) : undefined;
    },
    /** The button of an ntfy message. @throws Problem 404 for one that does nothing, 409 when the question does not wait. */
    answerTopic: (token: string): { outcome: string } => {
      const given = store.write(() => {
        const found = questions.ofToken(token);
        // A messenger's button comes through the messenger, which says who pressed it.
        const isTopic = found && links.of(found.question.channel_id)?.messenger_id === null;
        if (!found || !isTopic || found.isUsed || found.question.outcome !== null) {
          noteRefusal("phone_answer.refused", found?.question.subject_id, {
            reason: found ? "used" : "unknown_button",
          });
          return undefined;
        }
        return questions.give(found.question, found.question, found.answer, "");
      });
      if (!given) throw new Problem(404, "button_void", VOID);
      if (!given.isTaken) throw new Problem(409, "not_waiting", given.outcome);
      return { outcome: given.outcome };
    },
  };
}

export type Answers = ReturnType<typeof createAnswers>;
