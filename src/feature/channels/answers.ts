/**
 * Handles answers that arrive from messengers and ntfy. An answer counts only if the chat, person, message and token
 * are those of the question. A refused answer makes one entry in the audit log.
 */
import type { Incoming, Press, Reaction } from "../../adapter/chat/messenger.ts";
import { Problem } from "../../core/errors.ts";
import { notificationChannels } from "../../store/tables/notification-channels.ts";
import type { Core } from "../feature.ts";
import { createGuard, VOID, whoOf } from "./answer-guard.ts";
import { type Afterwards, createCommandAnswers } from "./command-answers.ts";
import { COMMANDS_HELP, type Commands, readCommand, type Said } from "./commands.ts";
import type { Links } from "./links.ts";
import type { Answer, QuestionRow, Questions } from "./questions.ts";

interface AnswersDeps extends Pick<Core, "store" | "clock" | "audit"> {
  links: Links;
  questions: Questions;
  commands: Commands;
}

const COMMENT_CHARACTERS = 2_000;
const HELP =
  "Reply to a question with yes or no; what you write after it is your comment, e.g. “no: the tests are missing”. Its buttons do the same.";
const YES = /^(?:yes|y|ok|approve|approved|allow|✅|👍)(?![\p{L}\p{N}])/iu;
const NO = /^(?:no|n|refuse|reject|deny|❌|👎)(?![\p{L}\p{N}])/iu;

/** Reads the answer at the start of a text; the rest is the comment. */
function readAnswer(text: string): { answer: Answer; comment: string } | undefined {
  const said = text.trim();
  const found = YES.exec(said) ?? NO.exec(said);
  if (!found) return undefined;
  const rest = said.slice(found[0].length).replace(/^[\s:,.!–-]+/u, "");
  return { answer: YES.test(said) ? "yes" : "no", comment: rest.slice(0, COMMENT_CHARACTERS) };
}

const say =
  ({ id, chat }: Incoming, text: string, replyTo?: string): Afterwards =>
  async (port, signal) => {
    await port.send(chat, { key: `answer-${id.slice(-60)}`, text, buttons: [], replyTo }, signal);
  };

export function createAnswers({ store, clock, audit, links, questions, commands }: AnswersDeps) {
  const channels = store.rows(notificationChannels);
  const { refuse, faultOf, noteRefusal } = createGuard({ clock, audit, links });
  const { decide, pressCommand, commandOf } = createCommandAnswers({ links, commands, refuse, faultOf });

  /**
   * Sends the reply to a command. If the reply asks something, its message id is stored, so that a reply or a reaction
   * to it counts as the answer.
   */
  const tell =
    ({ id, chat }: Incoming, { text, buttons, waits }: Said): Afterwards =>
    async (port, signal) => {
      const message = await port.send(chat, { key: `command-${id.slice(-60)}`, text, buttons }, signal);
      if (waits !== undefined) commands.noteMessage(waits, message);
    };

  function press(messengerId: string, incoming: Press): Afterwards {
    const ofCommand = pressCommand(messengerId, incoming);
    if (ofCommand) return ofCommand;
    const found = questions.ofToken(incoming.token);
    const fault = faultOf(messengerId, incoming, found);
    if (fault !== undefined || !found) {
      refuse(messengerId, incoming, found?.question.subject_id, fault);
      return (port, signal) => port.confirm(incoming, VOID, signal);
    }
    const { outcome, isTaken } = questions.give(found.question, found.question, found.answer, "");
    if (!isTaken) refuse(messengerId, incoming, found.question.subject_id, "not_waiting");
    return (port, signal) => port.confirm(incoming, outcome, signal);
  }
  /** The question that this message asked this person in this chat. */
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
      // Reactions to messages that ask nothing are ignored.
      if (isUsed) refuse(messengerId, incoming, question?.subject_id, "used");
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
      noteRefusal("phone_link.refused", undefined, whoOf(messengerId, incoming));
      return say(
        incoming,
        "This code is not valid. Make a new one: skep notifications code NAME, or in the dashboard.",
      );
    }
    audit({
      action: "phone_link.made",
      actor: channel.owner_id ?? "local",
      subject: channel.id,
      data: whoOf(messengerId, incoming),
    });
    return say(incoming, `Linked. Skep asks and tells you here (${channel.name}). ${HELP}`);
  }
  function hear(messengerId: string, incoming: Incoming & { kind: "text" }): Afterwards | undefined {
    const code = /^\/?(?:start|link)\s+([A-Za-z0-9]{5}-?[A-Za-z0-9]{5})\s*$/i.exec(incoming.text.trim())?.[1];
    if (code !== undefined) return link(messengerId, incoming, code);
    // A person who is not linked gets no reply.
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
    if (!isTaken) refuse(messengerId, incoming, question.subject_id, "not_waiting");
    return say(incoming, outcome, incoming.replyTo);
  }

  return {
    /**
     * Handles what a messenger received. Call in a transaction. @returns what to send after the commit, if anything.
     */
    handle(messengerId: string, incoming: Incoming): Afterwards | undefined {
      if (incoming.kind === "press") return press(messengerId, incoming);
      if (incoming.kind === "reaction") return react(messengerId, incoming);
      if (incoming.kind === "text") return hear(messengerId, incoming);
      return links.isAwaited(messengerId) ? (port, signal) => port.join(incoming.chat, signal) : undefined;
    },
    /**
     * Answers through a button of an ntfy message. @throws Problem 404 for an invalid button, 409 when the question no
     * longer waits.
     */
    answerTopic: (token: string): { outcome: string } => {
      const given = store.write(() => {
        const found = questions.ofToken(token);
        // A messenger's button is valid only through the messenger, which says who pressed it.
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
