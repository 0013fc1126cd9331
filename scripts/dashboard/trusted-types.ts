/**
 * The dashboard's policy forbids creating elements from text (Trusted Types). A library that does so would throw in the
 * browser, on the page where it is first used. The build therefore looks for such places in every file that it bundles.
 */
import { readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import type { BunPlugin } from "bun";

/** This package's browser build decodes `&amp;` with `innerHTML`; its other build uses a table. */
const DECODER = "decode-named-character-reference";

export const withoutDom: BunPlugin = {
  name: "without-dom",
  setup(build) {
    build.onResolve({ filter: new RegExp(`^${DECODER}$`) }, ({ importer }) => ({
      path: join(dirname(Bun.resolveSync(DECODER, dirname(importer))), "index.js"),
    }));
  },
};

/** Assignments and calls that the policy forbids. */
const SINKS =
  /\.(?:innerHTML|outerHTML|srcdoc) ?=[^=]|insertAdjacentHTML ?\(|createContextualFragment ?\(|\.parseFromString ?\(|document\.write(?:ln)? ?\(|\beval ?\(|new Function ?\(/;

/** Files that contain such a place but never reach it on our pages, each with the reason. */
const NEVER_REACHED: [file: RegExp, reason: string][] = [
  [
    /react-dom[/\\]cjs[/\\]react-dom-client\.production\.js$/,
    "for `<script>` elements and dangerouslySetInnerHTML, neither of which a page of ours has",
  ],
  [/d3-selection[/\\]dist[/\\]d3-selection\.mjs$/, "`selection.html()`, which the graph of steps does not call"],
];

/** @param inputs paths of the bundled files. @throws Error that names the files with a forbidden place. */
export function checkSinks(inputs: string[]): void {
  const refused = inputs.filter(
    (path) => !NEVER_REACHED.some(([file]) => file.test(path)) && SINKS.test(readFileSync(path, "utf8")),
  );
  if (refused.length === 0) return;
  throw new Error(
    `these files make elements from text, which the dashboard's policy refuses; bundle another build of them, or say in scripts/dashboard/trusted-types.ts why it is never reached:\n${refused.join("\n")}`,
  );
}
