/** The changed files as a list by folder, with how much each changed and what was read. */
import { Check, MessageSquare } from "lucide-react";
import type { FileChange } from "./lines.ts";
import type { Review } from "./review.ts";

interface Group {
  folder: string;
  files: FileChange[];
}

function groupsOf(files: FileChange[]): Group[] {
  const groups = new Map<string, FileChange[]>();
  for (const file of files) {
    const folder = file.path.includes("/") ? file.path.slice(0, file.path.lastIndexOf("/")) : "";
    const group = groups.get(folder);
    if (group) group.push(file);
    else groups.set(folder, [file]);
  }
  return [...groups].map(([folder, of]) => ({ folder, files: of })).sort((a, b) => a.folder.localeCompare(b.folder));
}

export function FileTree({
  files,
  review,
  onPick,
}: {
  files: FileChange[];
  review: Review;
  onPick(path: string): void;
}) {
  return (
    <nav
      aria-label="Changed files"
      className="overflow-y-auto rounded-lg border border-line bg-panel py-1 lg:sticky lg:top-4 lg:max-h-[calc(100dvh-2rem)]"
    >
      {groupsOf(files).map(({ folder, files: inside }) => (
        <div key={folder}>
          {folder && (
            <div className="truncate px-3 pt-1.5 text-xs text-faint" title={folder}>
              {folder}/
            </div>
          )}
          <ul>
            {inside.map((file) => (
              <li key={file.path}>
                <button
                  type="button"
                  onClick={() => onPick(file.path)}
                  title={file.path}
                  className="flex w-full items-center gap-2 px-3 py-1 text-left hover:bg-hover max-sm:min-h-11"
                >
                  <span
                    className={`min-w-0 flex-1 truncate text-sm ${review.viewed.has(file.path) ? "text-faint" : ""} ${file.status === "deleted" ? "line-through" : ""}`}
                  >
                    {file.path.slice(folder ? folder.length + 1 : 0)}
                  </span>
                  {review.comments.some(({ path }) => path === file.path) && (
                    <MessageSquare role="img" aria-label="has comments" size={13} className="text-wait" />
                  )}
                  {review.viewed.has(file.path) && (
                    <Check role="img" aria-label="viewed" size={13} className="text-ok" />
                  )}
                  <Amount file={file} />
                </button>
              </li>
            ))}
          </ul>
        </div>
      ))}
    </nav>
  );
}

/** `+12 −3`, or that there are no lines to count. */
export function Amount({ file: { insertions, deletions } }: { file: Pick<FileChange, "insertions" | "deletions"> }) {
  if (insertions === null || deletions === null) return <span className="shrink-0 text-xs text-faint">binary</span>;
  return (
    <span className="shrink-0 text-xs tabular-nums">
      <span className="text-ok">+{insertions}</span> <span className="text-bad">−{deletions}</span>
    </span>
  );
}
