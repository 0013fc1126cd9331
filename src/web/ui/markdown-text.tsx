/** Text of an agent, a person or a document as Markdown; as it was written while that loads, and where it cannot be drawn. */
import { Suspense } from "react";
import { Guard } from "./guard.tsx";
import { lazy } from "./lazy.tsx";

const Markdown = lazy(() => import("./markdown.tsx"));

/** @returns where `[[id]]` leads and what it is called; undefined where there is no such note. The same function as before draws nothing anew. */
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
