/** A run in a list on Home: its state, and its task as a link over the whole row. */
import { Link } from "wouter";
import type { Schemas } from "../../api/client.ts";
import { Status } from "../../ui/status.tsx";

export const RunLink = ({ run }: { run: Pick<Schemas["Run"], "id" | "status" | "task_description"> }) => (
  <>
    <Status status={run.status} bare />
    <Link
      href={`/runs/${run.id}`}
      data-row
      className="min-w-0 flex-1 font-medium outline-offset-2 after:absolute after:inset-0 after:content-[''] max-sm:min-h-7"
    >
      <span className="line-clamp-1">{run.task_description}</span>
    </Link>
  </>
);
