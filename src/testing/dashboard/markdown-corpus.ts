/**
 * Every Markdown construct that the dashboard renders, and texts that would break a careless page. Entities come first.
 */

const CONSTRUCTS: [name: string, text: string][] = [
  ["named entities", "Terms &amp; conditions&nbsp;&lt;b&gt; &copy; &frac12; &notanentity; &amp"],
  ["numbered entities", "&#35; &#x22; &#0; &#x10FFFF; &#xD800;"],
  ["entities in other places", "[a&amp;b](https://example.test/?a=1&amp;b=2 'x &quot; y') `&lt;` ![&eacute;](x.png)"],
  ["headings", "# One &amp; two\n\nTitle &lt;\n=====\n\n###### Six ######"],
  ["emphasis", "*a* **b** ***c*** _d_ __e__ ~~f~~ **not closed"],
  ["code", "`` a ` b `` and\n\n```ts &amp;\nconst a = '&amp;';\n```\n\n    indented &amp; code"],
  ["a fence that nobody closes", "~~~\n<script>alert(1)</script>"],
  ["lists", "- a\n  - b &amp;\n    1. c\n\n+ d\n\n7) e\n\n- [x] done\n- [ ] open &lt;"],
  ["quotes", "> a\n> > b &amp;\nlazy"],
  ["tables", "| a &amp; b | c |\n|---|:-:|\n| `x|y` | 2 |\n| \\| | &lt; |"],
  ["rules", "---\n\n***"],
  [
    "links",
    "<https://example.test/a&amp;b> [r][ref] www.example.test me@example.test\n\n[ref]: https://example.test 'T'",
  ],
  ["footnotes", "Said[^1].\n\n[^1]: By &amp; by."],
  ["breaks and escapes", "a  \nb\\\nc \\* \\&amp; \\<b>"],
  ["raw HTML", "<b>b</b> <img src=x onerror=alert(1)> <!-- c --> <div>\n\n*d*\n\n</div>"],
  ["addresses that run", "[a](javascript:alert(1)) [b](&#106;avascript:alert(1)) ![c](data:text/html,x)"],
  ["deep nesting", `${"> ".repeat(60)}deep\n\n${"*".repeat(80)}\n\n${"[".repeat(80)}`],
];

/**
 * @returns all constructs as one text. A mark before and after it shows a test that the text was rendered completely.
 */
export const corpus = (mark: string): string =>
  [`Begin ${mark}`, ...CONSTRUCTS.map(([, text]) => text), "~~~", `End ${mark}`].join("\n\n");
