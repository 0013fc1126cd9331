/**
 * Two libraries add `<style>` elements, which the dashboard's policy forbids. This plugin makes them use constructed
 * style sheets. If a new version has a different text, the build stops: read the text, then adapt the change.
 */
import { readFileSync } from "node:fs";
import type { BunPlugin } from "bun";

interface Change {
  file: RegExp;
  from: string;
  to: string;
}

const CHANGES: Change[] = [
  {
    file: /style-mod[/\\]src[/\\]style-mod\.js$/,
    from: "if (!root.head && root.adoptedStyleSheets && win.CSSStyleSheet) {",
    to: "if (root.adoptedStyleSheets && win.CSSStyleSheet) {",
  },
  {
    file: /react-style-singleton[/\\]dist[/\\]es2015[/\\]singleton\.js$/,
    from: `                if ((stylesheet = makeStyleTag())) {
                    injectStyles(stylesheet, style);
                    insertStyleTag(stylesheet);
                }`,
    to: `                stylesheet = new CSSStyleSheet();
                stylesheet.replaceSync(style);
                document.adoptedStyleSheets = [...document.adoptedStyleSheets, stylesheet];`,
  },
  {
    file: /react-style-singleton[/\\]dist[/\\]es2015[/\\]singleton\.js$/,
    from: "stylesheet.parentNode && stylesheet.parentNode.removeChild(stylesheet);",
    to: "document.adoptedStyleSheets = document.adoptedStyleSheets.filter((one) => one !== stylesheet);",
  },
];

export const strictStyles: BunPlugin = {
  name: "strict-styles",
  setup(build) {
    const any = new RegExp([...new Set(CHANGES.map(({ file }) => file.source))].join("|"));
    build.onLoad({ filter: any }, ({ path }) => {
      let contents = readFileSync(path, "utf8");
      for (const { file, from, to } of CHANGES) {
        if (!file.test(path)) continue;
        if (!contents.includes(from)) throw new Error(`${path} is not the text that strict-styles.ts changes`);
        contents = contents.replace(from, to);
      }
      return { contents, loader: "js" };
    });
  },
};
