import { Button } from "../ui/button.tsx";
import { ProblemNote } from "../ui/problem-note.tsx";

/** Shown instead of a page that failed to render. One possible cause is a script of an older version. */
export const BrokenPage = ({ error, retry }: { error: unknown; retry(): void }) => (
  <div className="mx-auto max-w-xl">
    <ProblemNote error={error} retry={retry} />
    <p className="mb-3 text-dim">This page could not be drawn. If the server was updated meanwhile, reload it.</p>
    <Button onClick={() => location.reload()}>Reload</Button>
  </div>
);
