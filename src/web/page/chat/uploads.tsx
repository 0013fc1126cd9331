/** Files for the next message: chosen, pasted or dropped, and uploaded at once. */
import { CircleAlert, FileText, LoaderCircle, X } from "lucide-react";
import { useState } from "react";
import { client, must, problemOf, toMultipart } from "../../api/client.ts";
import { formatBytes } from "../../ui/format.ts";

interface Upload {
  key: string;
  name: string;
  size: number;
  /** Set once the server has the file. */
  id?: string;
  error?: string;
}

const MOST = 20;

interface Uploads {
  list: Upload[];
  add(files: Iterable<File>): void;
  drop(key: string): void;
  clear(): void;
}

export function useUploads(): Uploads {
  const [list, setList] = useState<Upload[]>([]);
  const change = (key: string, part: Partial<Upload>) =>
    setList((old) => old.map((one) => (one.key === key ? { ...one, ...part } : one)));
  const send = async (file: File, key: string) => {
    const form = new FormData();
    form.set("file", file, file.name || "pasted.png");
    try {
      const call = client.POST("/v1/attachments/upload", toMultipart(form));
      change(key, { id: (await must(call)).id });
    } catch (error) {
      change(key, { error: problemOf(error).detail });
    }
  };
  return {
    list,
    add(files) {
      const fresh = [...files].slice(0, MOST - list.length);
      const rows = fresh.map((file) => ({
        key: crypto.randomUUID(),
        name: file.name || "pasted.png",
        size: file.size,
      }));
      setList((old) => [...old, ...rows]);
      for (const [at, file] of fresh.entries()) void send(file, rows[at]!.key);
    },
    drop: (key) => setList((old) => old.filter((one) => one.key !== key)),
    clear: () => setList([]),
  };
}

export function UploadList({ uploads }: { uploads: Uploads }) {
  if (uploads.list.length === 0) return null;
  return (
    <ul aria-label="Files to send" className="flex flex-wrap gap-2 px-2 pt-2">
      {uploads.list.map(({ key, name, size, id, error }) => (
        <li
          key={key}
          className={`flex max-w-72 items-center gap-1.5 rounded-md border px-2 py-1 text-sm ${error ? "border-bad text-bad" : "border-line"}`}
        >
          {error ? (
            <CircleAlert aria-hidden size={14} />
          ) : id ? (
            <FileText aria-hidden size={14} className="text-dim" />
          ) : (
            <LoaderCircle role="img" aria-label="uploading" size={14} className="spin text-run" />
          )}
          <span className="line-clamp-1 min-w-0">{error ? `${name}: ${error}` : name}</span>
          <span className="shrink-0 text-xs text-faint">{formatBytes(size)}</span>
          <button
            type="button"
            aria-label={`Remove ${name}`}
            onClick={() => uploads.drop(key)}
            className="inline-flex size-6 max-sm:size-11 shrink-0 items-center justify-center rounded hover:bg-hover"
          >
            <X aria-hidden size={13} />
          </button>
        </li>
      ))}
    </ul>
  );
}
