/** Markdown as the pages show it, without a browser. */
/// <reference types="bun-types/test" />
import { expect, test } from "bun:test";
import { loadParts, textOfPart } from "../../testing/dashboard/parts-as-text.ts";

const { default: Markdown } = await loadParts(() => import("./markdown.tsx"));

const TITLES: Record<string, string> = { "note/a": "A \u2014 *one* & two" };
const findNote = (id: string) => {
  const title = TITLES[id];
  return title === undefined ? undefined : { href: `/memory/ann?entry=${encodeURIComponent(id)}`, title };
};
const render = (text: string): string => textOfPart(<Markdown text={text} findNote={findNote} />);
const LINK = '<a href="/memory/ann?entry=note%2Fa">';

test("a note that another names is a link by its title, as the title is written, or by the name that was given", () => {
  expect(render("See [[note/a]].")).toContain(`See ${LINK}A \u2014 *one* &amp; two</a>.`);
  expect(render("It`s in [[ note/a |there]].")).toContain(`${LINK}there</a>`);
});

test("what is code, or names no note, stays as it was written", () => {
  expect(render("`` [[note/a]] `` and [[note/none]]")).toContain("<code>[[note/a]]</code> and [[note/none]]");
  expect(render("```\n[[note/a]]\n```")).toContain("<code>[[note/a]]\n</code>");
  expect(textOfPart(<Markdown text="[[note/a]]" />)).toContain("<p>[[note/a]]</p>");
});
