/** A line that says that a scheduled backup failed or is overdue, and why. */
import type { ReactNode } from "react";
import type { Schemas } from "../api/client.ts";

interface Props extends Pick<Schemas["BackupSchedule"], "error" | "overdue"> {
  /** A link to the backups page. */
  children?: ReactNode;
}

export function BackupTrouble({ error, overdue, children }: Props) {
  if (error === null && !overdue) return null;
  return (
    <p role="alert" className="mb-3 rounded-md bg-bad-soft px-3 py-2">
      {error === null ? "A scheduled backup is overdue." : `The scheduled backup failed: ${error.message}`} {children}
    </p>
  );
}
