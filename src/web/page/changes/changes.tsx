/** The changes that a run, a chat or other work made on its branch: people read, comment, send back and merge them. */
import { Columns2, Download, Map as MapIcon, Rows2, Undo2 } from "lucide-react";
import { type ReactNode, useMemo, useState } from "react";
import { Link } from "wouter";
import { api, type Schemas, siteUrl } from "../../api/client.ts";
import { usePages } from "../../api/queries.ts";
import { usePageKeys } from "../../keys/page-keys.ts";
import { Button } from "../../ui/button.tsx";
import { lastChoice, rememberChoice } from "../../ui/choice.ts";
import { formatNumber, pluralize } from "../../ui/format.ts";
import { Await, Empty, Loading } from "../../ui/note.tsx";
import { useSlices } from "../../ui/slices.ts";
import { More } from "../../ui/table.tsx";
import { useParam } from "../../ui/tabs.tsx";
import { useMayDo } from "../projects/roles.ts";
import { OtherComments } from "./comments.tsx";
import { FileSection } from "./file-change.tsx";
import { FileTree } from "./file-tree.tsx";
import { Merging } from "./merging.tsx";
import { Publish } from "./publish.tsx";
import { type Review, useReview, type Work } from "./review.ts";
import { SendBack, SendBackWork } from "./send-back.tsx";
import type { ChangedFile } from "./tree.ts";

type Run = Schemas["Run"];
type Diff = Schemas["Diff"];

/** Files per request. */
const FILES = 50;
/** How many files are rendered at first, and in each frame after that. */
const AT_ONCE = { first: 4, slice: 3 };

interface ChangesProps {
  work: Work;
  /** Set if the work is a run. */
  run?: Run | undefined;
}

export default function Changes({ work, run }: ChangesProps) {
  const query = usePages("/v1/changes/{id}/diff", { path: { id: work.work_id }, query: { limit: FILES } });
  const first = query.data?.pages[0] as Diff | undefined;
  const more = (
    <More query={query} className="mt-4 text-center">
      Show more of {pluralize(first?.stats.files ?? 0, "file")}
    </More>
  );
  return (
    <Await query={query} rows={6}>
      {() =>
        first && first.stats.files > 0 ? (
          <ReviewPage key={first.head} work={work} run={run} diff={first} shown={query.rows} more={more} />
        ) : (
          <Empty cli={`skep diff ${work.work_id}`}>The {work.kind} has not changed a file of its repository.</Empty>
        )
      }
    </Await>
  );
}

const isWide = () => matchMedia("(min-width: 1100px)").matches;

interface PageProps extends ChangesProps {
  diff: Diff;
  /** The files that are shown one below another. */
  shown: Diff["items"];
  more: ReactNode;
}

function ReviewPage({ work, run, diff, shown, more }: PageProps) {
  const { work_id: id, project_id } = work;
  const may = useMayDo(project_id);
  const review = useReview(id, diff.head, may("contributor"));
  const list = usePages("/v1/changes/{id}/diff/files", { path: { id } });
  const [view, setView] = useParam("view");
  const [alone, setAlone] = useParam("file");
  const [back, setBack] = useState(false);
  const split = view ? view === "split" : isWide() && lastChoice("view") !== "unified";
  const turn = () => {
    const other = split ? "unified" : "split";
    rememberChoice("view", other);
    setView(other);
  };
  const { stats } = diff;
  const drawn = useSlices(shown, AT_ONCE);
  const quiet = !work.at_work;
  const files: readonly ChangedFile[] = list.rows.length > 0 ? list.rows : shown;
  const pick = (path: string) => {
    if (alone === "" && goTo(path)) return;
    setAlone(path);
    scrollTo({ top: 0 });
  };
  const keys = useMemo(() => fileKeys(files, alone, setAlone), [files, alone, setAlone]);
  usePageKeys(keys);
  return (
    <div data-full-width>
      <div data-verbs className="mb-3 flex flex-wrap items-center gap-2">
        <p className="mr-auto">
          {pluralize(stats.files, "file")}, <span className="text-ok">+{formatNumber(stats.insertions)}</span>{" "}
          <span className="text-bad">−{formatNumber(stats.deletions)}</span>
          {review.viewed.size > 0 && <span className="text-dim">, {review.viewed.size} viewed</span>}
          {diff.merged_into && (
            <span className="text-dim">
              {" "}
              · merged into {diff.merged_into} as <code className="font-mono">{diff.merged_commit?.slice(0, 10)}</code>
            </span>
          )}
        </p>
        <Button kind="quiet" icon={split ? Rows2 : Columns2} onClick={turn}>
          {split ? "Unified" : "Side by side"}
        </Button>
        {run && (
          <Link href={`/projects/${project_id}/graph?tab=map&run=${id}`} className={QUIET_LINK}>
            <MapIcon aria-hidden size={14} />
            On the map
          </Link>
        )}
        <a href={siteUrl(`/v1/changes/${id}/diff?format=patch`)} download={`${id}.patch`} className={QUIET_LINK}>
          <Download aria-hidden size={14} />
          Patch
        </a>
        {quiet && run && may("maintainer") && <Publish run={run} />}
        {quiet && work.kind !== "swarm" && may("contributor") && (
          <Button icon={Undo2} onClick={() => setBack(true)}>
            Send back{review.comments.length > 0 && ` (${review.comments.length})`}
          </Button>
        )}
        {quiet && may("maintainer") && <Merging work={work} run={run} diff={diff} />}
      </div>
      <OtherComments files={shown} review={review} />
      <div className="grid items-start gap-4 lg:grid-cols-[17rem_minmax(0,1fr)]">
        {list.isPending && shown.length < stats.files ? (
          // Wait for the whole list. With only the first files, the key for the end of the list would stop at the last
          // of those.
          <Loading rows={8} />
        ) : (
          <FileTree files={files} total={stats.files} more={list} alone={alone} review={review} onPick={pick} />
        )}
        {alone ? (
          <OneFile key={alone} work={work} path={alone} files={files} split={split} review={review} show={setAlone} />
        ) : (
          <div className="min-w-0">
            <div className="flex flex-col gap-4">
              {drawn.map((file) => (
                <FileSection key={file.path} file={file} split={split} review={review} />
              ))}
            </div>
            {more}
          </div>
        )}
      </div>
      {back &&
        (run ? (
          <SendBack run={run} review={review} onClose={() => setBack(false)} />
        ) : (
          <SendBackWork work={work} review={review} onClose={() => setBack(false)} />
        ))}
    </div>
  );
}

const QUIET_LINK =
  "inline-flex h-8 items-center gap-1.5 rounded-md px-2.5 text-sm font-medium text-dim hover:bg-hover hover:text-ink max-sm:min-h-11";

interface OneProps {
  work: Work;
  path: string;
  files: readonly ChangedFile[];
  split: boolean;
  review: Review;
  /** Shows another file, or all files for an empty path. */
  show(path: string): void;
}

/** Shows a single file, with links to its neighbors and back to all files. */
function OneFile({ work, path, files, split, review, show }: OneProps) {
  const params = { path: { id: work.work_id }, query: { path, limit: 1 } };
  const query = api.useQuery("get", "/v1/changes/{id}/diff", { params });
  const at = files.findIndex((file) => file.path === path);
  const [before, after] = [files[at - 1], files[at + 1]];
  return (
    <div className="min-w-0">
      <div className="mb-2 flex flex-wrap items-center gap-2">
        <p className="mr-auto text-sm text-dim">
          {at >= 0 && `File ${formatNumber(at + 1)} of ${formatNumber(files.length)}`}
        </p>
        <Button label="Previous file" disabled={!before} onClick={() => show(before?.path ?? "")} />
        <Button label="Next file" disabled={!after} onClick={() => show(after?.path ?? "")} />
        <Button onClick={() => show("")}>All files</Button>
      </div>
      <Await query={query} rows={8}>
        {({ items: [file] }) =>
          file ? (
            <FileSection file={file} split={split} review={review} unfolded />
          ) : (
            <Empty>The {work.kind} has not changed this file.</Empty>
          )
        }
      </Await>
    </div>
  );
}

const listSections = () => [...document.querySelectorAll<HTMLElement>("main [data-file]")];
/** Scrolls to a file. @returns whether the file is on the page. */
function goTo(path: string): boolean {
  const section = listSections().find((one) => one.dataset["file"] === path);
  section?.scrollIntoView({ block: "start" });
  section?.focus({ preventScroll: true });
  return section !== undefined;
}
const findFocused = () => document.activeElement?.closest<HTMLElement>("[data-file]");
function step(by: number): void {
  const all = listSections();
  const current = findFocused();
  const at = current ? all.indexOf(current) : -1;
  const next = all[at < 0 ? 0 : at + by];
  if (next) goTo(next.dataset["file"]!);
}

function fileKeys(files: readonly ChangedFile[], alone: string, show: (path: string) => void) {
  const go = (by: number) => () => {
    if (alone === "") return step(by);
    const next = files[files.findIndex(({ path }) => path === alone) + by];
    if (next) show(next.path);
  };
  const findSection = () => findFocused() ?? (alone === "" ? undefined : listSections()[0]);
  return {
    n: go(1),
    p: go(-1),
    v: () => findSection()?.querySelector<HTMLInputElement>("input[type=checkbox]")?.click(),
    c: () => {
      const line = document.activeElement?.closest<HTMLElement>("[data-comment]");
      (line ?? findSection()?.querySelector<HTMLElement>("[data-changed]"))?.click();
    },
  };
}
