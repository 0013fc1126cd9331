/**
 * Writes a command with its variables as one line of `sh`, which is sent through the command's input. API servers log
 * the address of an `exec`, and an `exec` has no other place for variables.
 */
import { badRequest } from "../../../core/errors.ts";
import { CONTAINER_LIMITS } from "../docker/lock-down.ts";

/** The command of an `exec`: it reads the line and nothing beyond it, and becomes the command in the line. */
export const TAKES_LINE: readonly string[] = ["sh", "-c", 'IFS= read -r skep && eval "$skep"'];

export interface CommandLine {
  argv: readonly string[];
  /** `NAME=value`. */
  env?: readonly string[] | undefined;
  cwd?: string | undefined;
  /**
   * The command's input. `none`: empty. `open`: everything after the line. A number: that many bytes after the line,
   * which are kept in a file without a name, because API servers before 1.30 cannot tell where input ends.
   */
  input: "none" | "open" | number;
}

const NAME = /^[A-Za-z_][A-Za-z0-9_]*$/;

/** @throws Problem 400 for a variable name that no shell accepts. */
export function commandLine({ argv, env = [], cwd, input }: CommandLine): string {
  const variables = env.map((pair) => {
    const equals = pair.indexOf("=");
    const name = pair.slice(0, equals);
    if (!NAME.test(name)) throw badRequest(`${JSON.stringify(name)} cannot be the name of a variable.`);
    return `${name}=${quote(pair.slice(equals + 1))}`;
  });
  const steps = [
    `skep_n=$(printf '\\nx'); skep_n=\${skep_n%x}`,
    `ulimit -n ${CONTAINER_LIMITS.openFiles} 2>/dev/null; ulimit -c 0`,
    `set -- ${argv.map(quote).join(" ")}`,
    ...(variables.length === 0 ? [] : [`export ${variables.join(" ")}`]),
    ...(cwd === undefined ? [] : [`cd -- ${quote(cwd)} || exit 126`]),
    inputOf(input),
  ];
  return `${steps.join("; ")}\n`;
}

function inputOf(input: CommandLine["input"]): string {
  const run = 'unset skep skep_n; exec "$@"';
  if (input === "open") return run;
  if (input === "none") return `${run} </dev/null`;
  const file = '"/tmp/.skep-$$"';
  return `umask 077; head -c ${input} > ${file} || exit 126; exec < ${file}; rm -f ${file}; umask 022; ${run}`;
}

/** Quotes a text as one word of `sh` on one line. */
const quote = (text: string): string => `'${text.replaceAll("'", "'\\''").replaceAll("\n", `'"$skep_n"'`)}'`;
