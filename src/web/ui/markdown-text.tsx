/**
 * Text of an agent, a person or a document as Markdown. The raw text is shown while the renderer loads, or if rendering
 * fails.
 */
import { Suspense } from "react";
import { Guard } from "./guard.tsx";
import { lazy } from "./lazy.tsx";

const Markdown = lazy(() => import("./markdown.tsx"));

/**
 * @returns the address and title of the note `[[id]]`; undefined if there is none. Pass the same function to avoid
 * rendering again.
 */
export type FindNote = (id: string) => { href: string; title: string } | undefined;

export function MarkdownText({ text, findNote }: { text: string; findNote?: FindNote }) {
  const plain = <p className="whitespace-pre-wrap">{text}</p>;
  return (
    <Guard when={text} fallback={() => plain}>
      <Suspense fallback={plain}>
        <Markdown text={text} findNote={findNote} />
      </Suspense>
    </Guard>
  );
}
