/** `skep graph path | tests | dead-code | cycles | reads | flow`: questions about the code as a whole. */
import type { Command } from "commander";
import { Problem } from "../core/errors.ts";
import type { AskOptions } from "../graph/query/ask/ask.ts";
import { askText } from "../graph/serve/tools.ts";
import { acting, type Common, notFound, open, print, TERMINAL_BYTES, whole, withCommon } from "./graph-command.ts";

type Flags = Common & { limit: number; below?: string };

const DEFAULT_LIMIT = 50;

/** Adds the commands. */
export function wholeQuestions(graph: Command): void {
  const limited = (name: string, description: string) =>
    withCommon(graph.command(name).description(description)).option(
      "--limit <n>",
      "most entries of a list",
      whole(1, 200),
      DEFAULT_LIMIT,
    );
  const command = (name: string, description: string) =>
    limited(name, description).argument("<path>", "repository or folder");
  const below = (name: string, description: string) =>
    limited(name, description)
      .argument("[path]", "repository or folder", ".")
      .option("--below <folder>", "only in this folder of the repository");

  command("path", "how one symbol reaches another, call by call")
    .argument("<from>", "name, qualified name or id")
    .argument("<to>", "name, qualified name or id")
    .action(
      acting((path: string, from: string, to: string, flags: Flags) =>
        answer(path, flags, { question: "path", subject: from, to, limit: flags.limit }),
      ),
    );
  command("tests", "which tests cover a symbol")
    .argument("<symbol>", "name, qualified name or id")
    .action(
      acting((path: string, subject: string, flags: Flags) =>
        answer(path, flags, { question: "tests", subject, limit: flags.limit }),
      ),
    );
  below("dead-code", "functions, methods and classes that nothing uses").action(
    acting((path: string, flags: Flags) =>
      answer(path, flags, { question: "dead_code", path: flags.below, limit: flags.limit }),
    ),
  );
  below("cycles", "files that import each other in a circle").action(
    acting((path: string, flags: Flags) =>
      answer(path, flags, { question: "cycles", path: flags.below, limit: flags.limit }),
    ),
  );
  command("reads", "who reads a configuration key or an environment variable")
    .argument("<name>", "the key or variable")
    .action(
      acting((path: string, subject: string, flags: Flags) =>
        answer(path, flags, { question: "reads", subject, limit: flags.limit }),
      ),
    );
  command("flow", "the chain of calls that a question in words is about")
    .argument("<words...>", "e.g. how does a request reach the database")
    .action(
      acting((path: string, words: string[], flags: Flags) =>
        answer(path, flags, { question: "flow", subject: words.join(" "), limit: flags.limit }),
      ),
    );
}

async function answer(path: string, flags: Flags, options: AskOptions): Promise<void> {
  const found = open(path, flags).ask(options);
  if (found.found === "none") throw notFound([options.subject, options.to].filter(Boolean).join(" or "), found.near);
  if (found.found === "several" && !flags.json)
    throw new Problem(409, "several", askText(found, TERMINAL_BYTES).split("\n").join(" "));
  const json = found.found === "one" ? found.answer : { candidates: found.candidates };
  await print(flags.json ? JSON.stringify(json) : askText(found, TERMINAL_BYTES));
}
