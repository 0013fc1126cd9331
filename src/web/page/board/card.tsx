/** A task on the board. Its menu offers everything that dragging does. */

import { Bot, CircleSlash, MoreHorizontal, Play } from "lucide-react";
import { Link } from "wouter";
import { AgentName } from "../../session/actor.tsx";
import { IconButton } from "../../ui/button.tsx";
import { Badge } from "../../ui/facts.tsx";
import { Menu } from "../../ui/menu.tsx";
import { Status } from "../../ui/status.tsx";
import { PRIORITY, type Task, wordOf } from "./board.ts";

export interface CardActions {
  /** Whether the person may move the task and start work on it. */
  mayChange(task: Task): boolean;
  /** Statuses that the task can be moved to, in the order of its board. */
  statusesOf(task: Task): string[];
  /** Name of the task's project; only on a board of several projects. */
  projectOf?: (task: Task) => string | undefined;
  moveTo(task: Task, status: string): void;
  shift(task: Task, by: -1 | 1): void;
  start(task: Task): void;
}

const LIVE: Record<string, string> = { in_progress: "running", review: "waiting" };

export function Card({
  task,
  tasks,
  actions,
}: {
  task: Task;
  tasks: ReadonlyMap<string, Task>;
  actions?: CardActions;
}) {
  const { title, status, priority, assigned_agent, run_id, depends_on, tags } = task;
  const open = depends_on.filter((id) => tasks.get(id)?.status !== "done");
  return (
    <article
      aria-label={title}
      className="row-card group relative rounded-lg border border-line bg-panel px-3 py-2 shadow-xs has-[a:focus-visible]:border-focus"
    >
      <div className="flex items-start gap-1">
        <Link
          href={`/projects/${task.project_id}/tasks/${task.id}`}
          data-row
          data-task={task.id}
          draggable={false}
          className="min-w-0 flex-1 after:absolute after:inset-0"
        >
          <span className="line-clamp-3 font-medium">{title}</span>
        </Link>
        {actions?.mayChange(task) && (
          <div className="relative z-10 -mr-1.5">
            <Menu
              trigger={<IconButton label={`Move ${title}`} className="size-6 max-sm:size-11" icon={MoreHorizontal} />}
              items={[
                status !== "done" && { label: "Start agents on it", icon: Play, act: () => actions.start(task) },
                status !== "done" && null,
                { label: "Up", act: () => actions.shift(task, -1) },
                { label: "Down", act: () => actions.shift(task, 1) },
                null,
                ...actions
                  .statusesOf(task)
                  .filter((one) => one !== status)
                  .map((one) => ({ label: `To ${wordOf(one)}`, act: () => actions.moveTo(task, one) })),
              ]}
            />
          </div>
        )}
      </div>
      <div className="mt-1.5 flex flex-wrap items-center gap-x-2 gap-y-1 text-xs text-dim">
        {actions?.projectOf && <span className="font-medium text-dim">{actions.projectOf(task)}</span>}
        {priority !== "p2" && <Badge tone={priority === "p0" ? "bad" : "plain"}>{PRIORITY[priority]}</Badge>}
        {["blocked", "failed"].includes(status) && (
          <Badge tone={status === "failed" ? "bad" : "wait"}>{wordOf(status)}</Badge>
        )}
        {run_id && LIVE[status] && <Status status={LIVE[status]} bare />}
        {assigned_agent && (
          <span className="inline-flex items-center gap-1">
            <Bot aria-hidden size={13} />
            <AgentName id={assigned_agent} />
          </span>
        )}
        {open.length > 0 && (
          <span
            className="inline-flex items-center gap-1"
            title={open.map((id) => tasks.get(id)?.title ?? "a task").join(", ")}
          >
            <CircleSlash aria-hidden size={12} />
            waits for {open.length}
          </span>
        )}
        {tags.slice(0, 3).map((tag) => (
          <span key={tag} className="max-w-28 truncate text-faint">
            #{tag}
          </span>
        ))}
      </div>
    </article>
  );
}
