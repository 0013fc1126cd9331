/** People's answers to commands that wait for confirmation. */
import type { Incoming, Messenger, Press } from "../../adapter/chat/messenger.ts";
import { type Guard, VOID } from "./answer-guard.ts";
import type { CommandRow } from "./command-rows.ts";
import type { Commands } from "./commands.ts";
import type { Links } from "./links.ts";
import type { Answer } from "./questions.ts";

/** Sends messages after the transaction has been committed. */
export type Afterwards = (port: Messenger, signal: AbortSignal) => Promise<void>;

interface CommandAnswersDeps extends Pick<Guard, "refuse" | "faultOf"> {
  links: Pick<Links, "at">;
  commands: Pick<Commands, "give" | "ofToken" | "at">;
}

export function createCommandAnswers({ links, commands, refuse, faultOf }: CommandAnswersDeps) {
  /**
   * Applies the answer of the person who gave the command, which waits for it.
   * @param message id of the message that asks; it is edited to show the outcome.
   */
  function decide(messengerId: string, incoming: Incoming, message: string, command: CommandRow, answer: Answer) {
    const { outcome, isTaken } = commands.give(command, answer);
    if (!isTaken) refuse(messengerId, incoming, command.id, "not_waiting");
    const showAnswer: Afterwards = async (port, signal) => {
      await port.edit(incoming.chat, message, `➜ ${outcome}`, signal);
    };
    return { outcome, shown: showAnswer };
  }
  function pressCommand(messengerId: string, incoming: Press): Afterwards | undefined {
    const found = commands.ofToken(incoming.token);
    if (!found) return undefined;
    const { command, answer } = found;
    const fault = faultOf(messengerId, incoming, { question: command, isUsed: false });
    if (fault !== undefined) {
      refuse(messengerId, incoming, command.id, fault);
      return (port, signal) => port.confirm(incoming, VOID, signal);
    }
    const { outcome, shown } = decide(messengerId, incoming, incoming.message, command, answer);
    return async (port, signal) => {
      await port.confirm(incoming, outcome, signal);
      await shown(port, signal);
    };
  }
  /** The command of this person that still waits for an answer to this message of this chat. */
  function commandOf(messengerId: string, incoming: Incoming, message: string): CommandRow | undefined {
    for (const { channel_id } of links.at(messengerId, incoming.chat, incoming.sender)) {
      const command = commands.at(channel_id, message);
      if (command?.outcome === null) return command;
    }
    return undefined;
  }

  return { decide, pressCommand, commandOf };
}
