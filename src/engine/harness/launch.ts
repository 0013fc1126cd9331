/**
 * What is started in the sandbox: a line of `sh` that writes the program's configuration and becomes the program. Texts
 * come in variables, so that no argument names a secret, and are gone from the program's own environment.
 */
import type { Program } from "../sandbox.ts";
import type { Launch } from "./definitions.ts";

const [PATH, TEXT] = ["SKEP_FILE_", "SKEP_TEXT_"];

const SCRIPT = `
umask 077
n=0
while eval "path=\\\${${PATH}$n-}" && [ -n "$path" ]; do
  mkdir -p "\${path%/*}" && eval "printf %s \\"\\$${TEXT}$n\\"" > "$path" || exit 126
  unset "${PATH}$n" "${TEXT}$n"
  n=$((n+1))
done
exec "$@"`;

export function programOf({ argv, env, files }: Launch): Program {
  const written = Object.entries(files).flatMap(([path, text], n) => [
    [`${PATH}${n}`, path],
    [`${TEXT}${n}`, text],
  ]);
  return { argv: ["sh", "-c", SCRIPT, "sh", ...argv], env: { ...env, ...Object.fromEntries(written) } };
}
