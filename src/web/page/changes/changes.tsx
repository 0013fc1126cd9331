/** What a run changed in its repository, to read, comment, send back and merge. */
import { Columns2, Download, GitMerge, Rows2, Undo2 } from "lucide-react";
import { useState } from "react";
import { type Schemas, siteUrl } from "../../api/client.ts";
import { usePages } from "../../api/queries.ts";
import { usePageKeys } from "../../shell/page-keys.ts";
import { Button } from "../../ui/button.tsx";
import { plural } from "../../ui/format.ts";
import { Await, Empty } from "../../ui/note.tsx";
import { useParam } from "../../ui/tabs.tsx";
import { OtherComments } from "./comments.tsx";
import { FileSection } from "./file-change.tsx";
import { FileTree } from "./file-tree.tsx";
import { MergeDialog } from "./merge-dialog.tsx";
import { Publish } from "./publish.tsx";
import { useReview } from "./review.ts";
import { SendBack } from "./send-back.tsx";

type Run = Schemas["Run"];
type Diff = Schemas["RunDiff"];

/** Files per request. */
const FILES = 50;

export default function Changes({ run }: { run: Run }) {
  const query = usePages("/v1/runs/{id}/diff", { path: { id: run.id }, query: { limit: FILES } });
  const first = query.data?.pages[0] as Diff | undefined;
  return (
    <Await query={query} rows={6}>
      {() =>
        first && first.stats.files > 0 ? (
          <>
            <Review key={first.head} run={run} diff={first} files={query.rows} />
            {query.hasNextPage && (
              <div className="mt-4 text-center">
                <Button busy={query.isFetchingNextPage} onClick={() => query.fetchNextPage()}>
                  Show more of {plural(first.stats.files, "file")}
                </Button>
              </div>
            )}
          </>
        ) : (
          <Empty cli={`skep diff ${run.id}`}>The run has not changed a file of its repository.</Empty>
        )
      }
    </Await>
  );
}

const wide = () => matchMedia("(min-width: 1100px)").matches;
const ENDED = new Set(["succeeded", "failed", "cancelled"]);

function Review({ run, diff, files }: { run: Run; diff: Diff; files: Diff["items"] }) {
  const review = useReview(run.id, diff.head);
  const [view, setView] = useParam("view");
  const [merging, setMerging] = useParam("merge");
  const [dialog, setDialog] = useState<"merge" | "back" | null>(merging ? "merge" : null);
  const close = () => {
    setDialog(null);
    if (merging) setMerging("");
  };
  const split = view ? view === "split" : wide();
  usePageKeys(FILE_KEYS);
  const { stats, merged_into, merged_commit } = diff;
  const ended = ENDED.has(run.status);
  return (
    <>
      <div data-verbs className="mb-3 flex flex-wrap items-center gap-2">
        <p className="mr-auto">
          {plural(stats.files, "file")}, <span className="text-ok">+{stats.insertions}</span>{" "}
          <span className="text-bad">−{stats.deletions}</span>
          {review.viewed.size > 0 && <span className="text-dim">, {review.viewed.size} viewed</span>}
          {merged_into && (
            <span className="text-dim">
              {" "}
              · merged into {merged_into} as <code className="font-mono">{merged_commit?.slice(0, 10)}</code>
            </span>
          )}
        </p>
        <Button
          kind="quiet"
          icon={split ? <Rows2 aria-hidden size={14} /> : <Columns2 aria-hidden size={14} />}
          onClick={() => setView(split ? "unified" : "split")}
        >
          {split ? "Unified" : "Side by side"}
        </Button>
        <a
          href={siteUrl(`/v1/runs/${run.id}/diff?format=patch`)}
          download={`${run.id}.patch`}
          className="inline-flex h-8 items-center gap-1.5 rounded-md px-2.5 text-sm font-medium text-dim hover:bg-hover hover:text-ink max-sm:min-h-11"
        >
          <Download aria-hidden size={14} />
          Patch
        </a>
        {ended && <Publish run={run} />}
        {ended && (
          <Button icon={<Undo2 aria-hidden size={14} />} onClick={() => setDialog("back")}>
            Send back{review.comments.length > 0 && ` (${review.comments.length})`}
          </Button>
        )}
        {ended && (
          <Button kind="primary" icon={<GitMerge aria-hidden size={14} />} onClick={() => setDialog("merge")}>
            {merged_into ? "Merge again" : "Merge"}
          </Button>
        )}
      </div>
      <OtherComments files={files} review={review} />
      <div className="grid items-start gap-4 lg:grid-cols-[14rem_minmax(0,1fr)]">
        <FileTree files={files} review={review} onPick={goTo} />
        <div className="flex min-w-0 flex-col gap-4">
          {files.map((file) => (
            <FileSection key={file.path} file={file} split={split} review={review} />
          ))}
        </div>
      </div>
      {dialog === "merge" && <MergeDialog run={run} onClose={close} />}
      {dialog === "back" && <SendBack run={run} review={review} onClose={close} />}
    </>
  );
}

const sections = () => [...document.querySelectorAll<HTMLElement>("main [data-file]")];
function goTo(path: string): void {
  const section = sections().find((one) => one.dataset["file"] === path);
  section?.scrollIntoView({ block: "start" });
  section?.focus({ preventScroll: true });
}
const here = () => document.activeElement?.closest<HTMLElement>("[data-file]");
function step(by: number): void {
  const all = sections();
  const current = here();
  const at = current ? all.indexOf(current) : -1;
  const next = all[at < 0 ? 0 : at + by];
  if (next) goTo(next.dataset["file"]!);
}

const FILE_KEYS = {
  n: () => step(1),
  p: () => step(-1),
  v: () => here()?.querySelector<HTMLInputElement>("input[type=checkbox]")?.click(),
  c: () => {
    const line = document.activeElement?.closest<HTMLElement>("[data-comment]");
    (line ?? here()?.querySelector<HTMLElement>("[data-changed]"))?.click();
  },
};
