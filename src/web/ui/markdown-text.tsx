/** Text of an agent, a person or a document as Markdown; as it was written while that loads, and where it cannot be drawn. */
import { Suspense } from "react";
import { Guard } from "./guard.tsx";
import { lazy } from "./lazy.tsx";

const Markdown = lazy(() => import("./markdown.tsx"));

export function MarkdownText({ text }: { text: string }) {
  const plain = <p className="whitespace-pre-wrap">{text}</p>;
  return (
    <Guard when={text} fallback={() => plain}>
      <Suspense fallback={plain}>
        <Markdown text={text} />
      </Suspense>
    </Guard>
  );
}
