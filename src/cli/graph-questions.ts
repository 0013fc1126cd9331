/** `skep graph path | tests | dead-code | cycles | reads | flow`: questions about a whole code base. */
import type { Command } from "commander";
import type { AskOptions } from "../graph/query/ask/ask.ts";
import { askText } from "../graph/serve/tools.ts";
import {
  type Common,
  createWholeParser,
  open,
  printFound,
  TERMINAL_BYTES,
  withCommon,
  wrapAction,
} from "./graph-command.ts";

type Flags = Common & { limit: number; below?: string };

const DEFAULT_LIMIT = 50;
const SYMBOL = "name, qualified name or id of the symbol";

/** Adds the commands. */
export function wholeQuestions(graph: Command): void {
  const addWithLimit = (name: string, description: string) =>
    withCommon(graph.command(name).description(description)).option(
      "--limit <n>",
      "highest number of entries in a list, from 1 to 200",
      createWholeParser(1, 200),
      DEFAULT_LIMIT,
    );
  const addCommand = (name: string, description: string) =>
    addWithLimit(name, description).argument("<path>", "repository or folder");
  const addBelowCommand = (name: string, description: string) =>
    addWithLimit(name, description)
      .argument("[path]", "repository or folder", ".")
      .option("--below <folder>", "look only in this folder of the repository");

  bindQuestion(
    "path",
    addCommand("path", "show how one symbol reaches another, call by call")
      .argument("<from>", SYMBOL)
      .argument("<to>", SYMBOL),
  );
  bindQuestion("tests", addCommand("tests", "list the tests that cover a symbol").argument("<symbol>", SYMBOL));
  bindQuestion("dead_code", addBelowCommand("dead-code", "list the functions, methods and classes that nothing uses"));
  bindQuestion("cycles", addBelowCommand("cycles", "list the files that import each other in a circle"));
  bindQuestion(
    "reads",
    addCommand("reads", "list the code that reads a configuration key or an environment variable").argument(
      "<name>",
      "name of the key or variable",
    ),
  );
  bindQuestion(
    "flow",
    addCommand("flow", "show the chain of calls that a question is about").argument(
      "<words...>",
      "question in words, e.g. how does a request reach the database",
    ),
  );
}

/** Makes a command ask that question about the symbols that its arguments name. */
function bindQuestion(question: AskOptions["question"], command: Command): void {
  const ask = async () => {
    const [path = ".", ...words] = command.args;
    const { below, limit, ...flags } = command.opts<Flags>();
    const [subject, to] = question === "path" ? words : [words.join(" ") || undefined];
    const found = open(path, flags).ask({ question, subject, to, path: below, limit });
    await printFound(found, flags, { json: ({ answer }) => answer, text: askText(found, TERMINAL_BYTES) });
  };
  command.action(wrapAction(ask));
}
