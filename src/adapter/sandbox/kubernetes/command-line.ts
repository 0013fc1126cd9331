/**
 * A command with its variables as one line of `sh`, which is sent through the command's input: what stands in the address
 * of an `exec` is logged by API servers, and there is no other place for variables.
 */
import { badRequest } from "../../../core/errors.ts";
import { CONTAINER_LIMITS } from "../docker/lock-down.ts";

/** Reads the line, and nothing beyond it, and becomes the command. */
export const TAKES_LINE: readonly string[] = ["sh", "-c", 'IFS= read -r skep && eval "$skep"'];

export interface CommandLine {
  argv: readonly string[];
  /** `NAME=value`. */
  env?: readonly string[] | undefined;
  cwd?: string | undefined;
  /**
   * `none`: empty. `open`: what comes after the line. A number: that many bytes of it, which are kept in a file without a
   * name, because API servers before 1.30 cannot say where input ends.
   */
  input: "none" | "open" | number;
}

const NAME = /^[A-Za-z_][A-Za-z0-9_]*$/;

/** @throws Problem 400 for a variable that no shell can have. */
export function commandLine({ argv, env = [], cwd, input }: CommandLine): string {
  const variables = env.map((pair) => {
    const equals = pair.indexOf("=");
    const name = pair.slice(0, equals);
    if (!NAME.test(name)) throw badRequest(`${JSON.stringify(name)} cannot be the name of a variable.`);
    return `${name}=${quoted(pair.slice(equals + 1))}`;
  });
  const steps = [
    `skep_n=$(printf '\\nx'); skep_n=\${skep_n%x}`,
    `ulimit -n ${CONTAINER_LIMITS.openFiles} 2>/dev/null; ulimit -c 0`,
    `set -- ${argv.map(quoted).join(" ")}`,
    ...(variables.length === 0 ? [] : [`export ${variables.join(" ")}`]),
    ...(cwd === undefined ? [] : [`cd -- ${quoted(cwd)} || exit 126`]),
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

/** One word of `sh` in one line. */
const quoted = (text: string): string => `'${text.replaceAll("'", "'\\''").replaceAll("\n", `'"$skep_n"'`)}'`;
