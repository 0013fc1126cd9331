/**
 * Builds the shell script that is started in the sandbox. It writes the program's configuration files and then replaces
 * itself with the program. File contents are passed in environment variables, so that no argument holds a secret, and
 * the script unsets those variables before the program starts.
 */
import type { Program } from "../sandbox.ts";
import type { Launch } from "./definitions.ts";

const [PATH, TEXT, LINK, TARGET] = ["SKEP_FILE_", "SKEP_TEXT_", "SKEP_LINK_", "SKEP_TARGET_"];

const SCRIPT = `
umask 077
n=0
while eval "path=\\\${${PATH}$n-}" && [ -n "$path" ]; do
  case $path in "~/"*) path="$HOME/\${path#??}" ;; esac
  mkdir -p "\${path%/*}" && eval "printf %s \\"\\$${TEXT}$n\\"" > "$path" || exit 126
  unset "${PATH}$n" "${TEXT}$n"
  n=$((n+1))
done
n=0
while eval "path=\\\${${LINK}$n-}" && [ -n "$path" ]; do
  eval "target=\\\${${TARGET}$n}"
  mkdir -p "\${path%/*}" && rm -f "$path" && ln -s "$HOME/\${target#??}" "$path" || exit 126
  unset "${LINK}$n" "${TARGET}$n"
  n=$((n+1))
done
unset n path target
exec "$@"`;

export function programOf({ argv, env, files, links = {} }: Launch): Program {
  const toPairs = (of: Readonly<Record<string, string>>, from: string, to: string) =>
    Object.entries(of).flatMap(([path, value], n) => [
      [`${from}${n}`, path],
      [`${to}${n}`, value],
    ]);
  const written = Object.fromEntries([...toPairs(files, PATH, TEXT), ...toPairs(links, LINK, TARGET)]);
  return { argv: ["sh", "-c", SCRIPT, "sh", ...argv], env: { ...env, ...written } };
}
