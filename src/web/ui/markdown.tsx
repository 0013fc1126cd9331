/**
 * Renders Markdown of agents and people safely: no raw HTML, pictures as links. Headings become bold lines, so that a
 * text cannot disturb the page's outline. If a text grows, only its last block renders again.
 */
import { findAndReplace } from "mdast-util-find-and-replace";
import { memo, useMemo } from "react";
import ReactMarkdown, { type Components, type Options } from "react-markdown";
import rehypeSanitize from "rehype-sanitize";
import remarkGfm from "remark-gfm";
import { Link } from "wouter";
import type { FindNote } from "./markdown-text.tsx";
import { NOTE_LINK } from "./note-link.ts";
import { CopyButton } from "./page.tsx";

const heading: Components["h1"] = ({ children }) => (
  <p>
    <strong>{children}</strong>
  </p>
);

const COMPONENTS: Components = {
  a: ({ href, children }) =>
    href?.startsWith("/memory/") ? (
      <Link href={href}>{children}</Link>
    ) : (
      <a href={href} target="_blank" rel="noopener noreferrer nofollow">
        {children}
      </a>
    ),
  // Loading a picture would tell its server who is reading, and the page's policy forbids it.
  img: ({ src, alt }) => (
    <a href={typeof src === "string" ? src : undefined} target="_blank" rel="noopener noreferrer nofollow">
      {alt || "picture"}
    </a>
  ),
  input: ({ checked }) => <span>{checked ? "☑ " : "☐ "}</span>,
  h1: heading,
  h2: heading,
  h3: heading,
  h4: heading,
  h5: heading,
  h6: heading,
  table: ({ children }) => <table tabIndex={0}>{children}</table>,
  pre: ({ children, node }) => (
    <div className="group/code relative">
      <pre tabIndex={0}>{children}</pre>
      <span className="absolute top-1 right-1 rounded bg-panel opacity-0 group-hover/code:opacity-100 focus-within:opacity-100">
        <CopyButton text={textOf(node)} label="Copy the code" />
      </span>
    </div>
  ),
};

interface TextNode {
  value?: unknown;
  children?: readonly unknown[];
}
function textOf(node: unknown): string {
  const { value, children = [] } = (node ?? {}) as TextNode;
  return typeof value === "string" ? value : children.map(textOf).join("");
}

/**
 * Splits a text into blocks that render independently: at blank lines outside of code fences. Lists and tables stay
 * whole.
 */
function blocksOf(text: string): string[] {
  const blocks: string[] = [];
  let block: string[] = [];
  let fence = "";
  for (const line of text.split("\n")) {
    const mark = /^ {0,3}(`{3,}|~{3,})/.exec(line)?.[1] ?? "";
    if (fence === "" && mark !== "") fence = mark;
    else if (fence !== "" && mark.startsWith(fence) && line.trim() === mark) fence = "";
    const goesOn = /^( {2,}|\t|[-*+] |\d+[.)] |\[[^\]]+\]:)/.test(line);
    if (block.at(-1) === "" && fence === "" && line !== "" && !goesOn) {
      blocks.push(block.join("\n"));
      block = [];
    }
    block.push(line);
  }
  return [...blocks, block.join("\n")];
}

type Plugins = NonNullable<Options["remarkPlugins"]>;
type Tree = Parameters<typeof findAndReplace>[0];

/** Turns `[[note]]` into links, except within code and links. A reference to a missing note stays as text. */
const linkNotes = (findNote: FindNote) => () => (tree: Tree) =>
  findAndReplace(
    tree,
    [
      NOTE_LINK,
      (_: string, to: string, name?: string) => {
        const note = findNote(to.trim());
        return note ? { type: "link", url: note.href, children: [{ type: "text", value: name || note.title }] } : false;
      },
    ],
    { ignore: ["link", "linkReference"] },
  );

const Block = memo(function Block({ text, plugins }: { text: string; plugins: Plugins }) {
  return (
    <ReactMarkdown remarkPlugins={plugins} rehypePlugins={[rehypeSanitize]} components={COMPONENTS}>
      {text}
    </ReactMarkdown>
  );
});

export default function Markdown({ text, findNote }: { text: string; findNote?: FindNote | undefined }) {
  const plugins = useMemo((): Plugins => (findNote ? [remarkGfm, linkNotes(findNote)] : [remarkGfm]), [findNote]);
  return (
    <div className="prose min-w-0">
      {blocksOf(text).map((block, at) => (
        <Block key={at.toString()} text={block} plugins={plugins} />
      ))}
    </div>
  );
}
