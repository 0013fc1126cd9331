/** The entry point of the command line. A usage error or an expected failure prints one line that says what to do. */
import { type Command, CommanderError } from "commander";
import { isProblem } from "../core/errors.ts";
import { didYouMean } from "../core/near.ts";
import { watchOutput } from "./broken-output.ts";
import { failureText } from "./failure.ts";
import { INTERRUPTED, INTERRUPTED_CODE } from "./interrupt.ts";
import { buildOverview } from "./overview.ts";
import { bareProgram } from "./program.ts";
import { serveCommand } from "./serve.ts";

/**
 * `serve` and `--version` are built without the other commands, because loading those takes longer than the start
 * itself.
 */
const SHORT = /^(serve|-v|--version)$/;

async function programFor(first: string | undefined, exit: (code: number) => void): Promise<Command> {
  if (!SHORT.test(first ?? "")) return (await import("./commands.ts")).createProgram(exit);
  const program = bareProgram();
  serveCommand(program, exit);
  return program;
}

/** @returns the exit code: 0 done, 1 failed, 2 wrong use, 130 left with Ctrl-C. */
export async function runCli(args: string[]): Promise<number> {
  let code = 0;
  const [first] = args;
  watchOutput(first === "serve");
  const program = await programFor(first, (value) => {
    code = value;
  });
  const isKnown = (name: string) => name === "help" || program.commands.some((one) => one.name() === name);
  if (first !== undefined && !first.startsWith("-") && !isKnown(first)) {
    const near = didYouMean(
      first,
      program.commands.map((one) => one.name()),
    );
    console.error(`skep: there is no command '${first}'. ${near ? `${near} ` : ""}See: skep help`);
    return 2;
  }
  try {
    if (first === undefined) console.log((await buildOverview()).join("\n"));
    else await program.parseAsync(args, { from: "user" });
    return code;
  } catch (error) {
    if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : 2;
    console.error(failureText(error));
    if (isProblem(error) && error.code === INTERRUPTED_CODE) return INTERRUPTED;
    return isProblem(error) && /^bad_(configuration|usage)$/.test(error.code) ? 2 : 1;
  }
}
