/** `skep` without arguments: shows which server there is and its state, or how to start one. It starts nothing. */
import { isProblem } from "../core/errors.ts";
import { BUILD } from "../core/version.ts";
import { createClient } from "./server/client.ts";
import { tokenFor } from "./server/credentials.ts";
import { locate } from "./server/locate.ts";
import { paint } from "./terminal/style.ts";
import { formatCount } from "./terminal/table.ts";

/** @returns the lines to print. */
export async function buildOverview(): Promise<string[]> {
  const head = `Skep ${BUILD.version}`;
  const more = "Everything: skep help";
  let url: string;
  try {
    ({ url } = await locate({}));
  } catch (error) {
    if (!isProblem(error)) throw error;
    return [
      head,
      error.detail,
      "",
      ...formatCommands([
        ["skep init", "a first run with a model of your own"],
        ["skep demo", "a first run with nothing set up"],
        ["skep serve", "run the server"],
        ["skep doctor", "what this machine lacks, and how to get it"],
      ]),
      "",
      more,
    ];
  }
  const { status, version, setup_required, counts, standby } = await createClient(url, tokenFor(url)).call(
    "GET",
    "/v1/status",
  );
  const busy = counts
    ? `, ${formatCount(counts["active_runs"] ?? 0, "run")} at work, ${formatCount(counts["projects"] ?? 0, "project")}`
    : "";
  return [
    head,
    `The server at ${url} is ${status}${version === BUILD.version ? "" : ` (version ${version})`}${busy}.`,
    ...(standby
      ? ["It stands by, since its data is a copy of another server's. Stop the original, then: skep activate"]
      : []),
    "",
    ...formatCommands([
      ...firstOf(setup_required, counts !== undefined),
      ['skep run hello "Greet me" --follow', "a run"],
      ["skep runs", "what has run"],
      ["skep open", "its page in the browser"],
      ["skep doctor", "check that everything works"],
    ]),
    "",
    more,
  ];
}

/**
 * The command that a person needs first on a server that requires a log-in.
 * @param isKnown whether the server knew who asked: only then does it report its counts.
 */
function firstOf(setupRequired: boolean, isKnown: boolean): [command: string, about: string][] {
  if (setupRequired) return [["skep admin create --email ADDRESS", "the first account; nobody can log in before"]];
  return isKnown ? [] : [["skep login", "log in; this server asks who you are"]];
}

/** Formats commands and their descriptions, one per line. */
export function formatCommands(rows: readonly (readonly [command: string, about: string])[]): string[] {
  const width = Math.max(...rows.map(([command]) => command.length));
  return rows.map(([command, about]) => `  ${paint("bold", command.padEnd(width))}  ${about}`);
}
