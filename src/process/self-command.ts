/** How this program starts itself again, as a process of its own. */
import { fileURLToPath } from "node:url";

/** True in the compiled executable, where modules are in a file system of its own. */
const IS_COMPILED = import.meta.url.includes("/$bunfs/");

/** The command line of `skep ARGS…`: this executable, or the sources under the same runtime. */
export const selfCommand = (...args: string[]): string[] =>
  IS_COMPILED
    ? [process.execPath, ...args]
    : [process.execPath, fileURLToPath(new URL("../main.ts", import.meta.url)), ...args];
