/**
 * The board of one project or of all projects: columns with limits, and cards that are dragged or moved through their
 * menu.
 */
import { Columns3, ListChecks, ListPlus, MoreHorizontal, Plus, ScrollText } from "lucide-react";
import { useEffect, useMemo, useState } from "react";
import { api } from "../../api/client.ts";
import { usePageKeys } from "../../keys/page-keys.ts";
import { Button, ButtonLink, IconButton } from "../../ui/button.tsx";
import { lastChoice, rememberChoice } from "../../ui/choice.ts";
import { FilterBar, FilterSelect, SearchInput } from "../../ui/filter.tsx";
import { shellWord } from "../../ui/format.ts";
import { lazy } from "../../ui/lazy.tsx";
import { Menu } from "../../ui/menu.tsx";
import { Await, Empty } from "../../ui/note.tsx";
import { notify } from "../../ui/notice.tsx";
import { PageHeader } from "../../ui/page.tsx";
import { ProblemNote } from "../../ui/problem-note.tsx";
import { useParam } from "../../ui/tabs.tsx";
import { mayDo } from "../projects/roles.ts";
import { type Column, type Move, type Project, type Task, useBoard } from "./board.ts";
import { Card, type CardActions } from "./card.tsx";
import { ChangeSeveral } from "./change-several.tsx";
import { ColumnsDialog } from "./columns-dialog.tsx";
import { DragArea, Draggable, type Drop, DropZone } from "./drag.tsx";
import { StartDialog } from "./start-dialog.tsx";
import { TaskDialog } from "./task-form.tsx";

/** Loaded on demand: few people open this dialog, and its YAML parser is large. */
const ImportDialog = lazy(() => import("./import-dialog.tsx"), null);

/** Stands in place of a project's id for the tasks of every project. */
const ALL = "all";

export default function BoardPage() {
  const [chosen, choose] = useParam("project");
  const projects = api.useQuery("get", "/v1/projects", { params: { query: { limit: 200 } } });
  const listed = projects.data?.items ?? [];
  // The list may lack the project of a link: it is a later one of very many, or it was deleted.
  const isElsewhere = chosen !== "" && chosen !== ALL && projects.isSuccess && !listed.some(({ id }) => id === chosen);
  const path = { params: { path: { id: chosen } } };
  const linked = api.useQuery("get", "/v1/projects/{id}", path, { enabled: isElsewhere });
  const items = isElsewhere && linked.data ? [...listed, linked.data] : listed;
  const wanted = chosen || lastChoice("project") || ALL;
  const project = items.find(({ id }) => id === wanted) ?? (isElsewhere ? undefined : items[0]);
  const all = wanted === ALL && items.length > 1;
  const shown = all ? ALL : project?.id;
  useEffect(() => {
    if (chosen && shown) rememberChoice("project", shown === ALL ? "" : shown);
  }, [chosen, shown]);
  return (
    <Await query={isElsewhere ? linked : projects} page="Board" list={["/projects", "Projects"]} rows={6}>
      {() =>
        project ? (
          <BoardView key={shown} project={all ? undefined : project} projects={items} choose={choose} />
        ) : (
          <>
            <PageHeader title="Board" cli="skep tasks" />
            <Empty
              action={<ButtonLink href="/projects">Add a project</ButtonLink>}
              cli="skep projects add shop --repository URL"
            >
              A board belongs to a project, and there is none yet.
            </Empty>
          </>
        )
      }
    </Await>
  );
}

type Open = { dialog: "new"; status: string } | { dialog: "start"; task: Task; move?: Move } | { dialog: Several };

interface BoardProps {
  /** Undefined: all projects. */
  project: Project | undefined;
  projects: Project[];
  choose(id: string): void;
}

function BoardView({ project, projects, choose }: BoardProps) {
  const [text, setText] = useParam("q");
  const board = useBoard(project ? [project] : projects, text);
  const [fresh, setFresh] = useParam("new");
  const [open, setOpen] = useState<Open | null>(null);
  // The address (`?new`) opens the dialog as well, even while the board is shown already.
  const mayAdd = project !== undefined && mayDo(project.role, "contributor");
  if (fresh && mayAdd && open === null) setOpen({ dialog: "new", status: "backlog" });
  const close = () => {
    setOpen(null);
    if (fresh) setFresh("");
  };
  usePageKeys(CARD_KEYS);
  const { rows } = board;
  const projectOf = ({ project_id }: Task) => projects.find(({ id }) => id === project_id);
  const statusesOf = (task: Task) => projectOf(task)?.columns.flatMap(({ statuses }) => statuses) ?? [];
  const tasks = useMemo(() => new Map(rows.map((task) => [task.id, task])), [rows]);
  const columnOf = (status: string) => board.columns.find(({ statuses }) => statuses.includes(status));
  /** Moves a task. Before a move into progress it asks whether agents should start on the task. */
  const move = (to: Move) => {
    const task = tasks.get(to.id);
    if (!task || (task.status === to.status && !to.before && !to.after)) return;
    if (to.status === "in_progress" && task.status !== "in_progress")
      return setOpen({ dialog: "start", task, move: to });
    void board.move(to);
  };
  const mayChange = (task: Task) => mayDo(projectOf(task)?.role ?? "viewer", "contributor");
  const actions: CardActions = {
    mayChange,
    statusesOf,
    ...(project ? {} : { projectOf: (task: Task) => projectOf(task)?.name }),
    moveTo: ({ id }, status) => move({ id, status }),
    shift(task, by) {
      const list = columnOf(task.status)?.tasks ?? [];
      const next = list[list.findIndex(({ id }) => id === task.id) + by];
      if (next) move({ id: task.id, status: task.status, ...(by < 0 ? { before: next.id } : { after: next.id }) });
    },
    start: (task) => setOpen({ dialog: "start", task }),
  };
  const drop = ({ moved, onto }: Drop) => {
    const column = board.columns.find(
      ({ id, tasks: inside }) => `column:${id}` === onto || inside.some((one) => one.id === onto),
    );
    const task = tasks.get(moved);
    if (!column || !task || !mayChange(task)) return;
    const own = statusesOf(task);
    const status = [task.status, ...own].find((one) => own.includes(one) && column.statuses.includes(one));
    if (status === undefined) return notify(`${projectOf(task)?.name} has no column ${column.name}.`);
    const order = column.tasks.map(({ id }) => id);
    const [from, to] = [order.indexOf(moved), order.indexOf(onto)];
    // Tasks are ordered only among those of the same project.
    if (to < 0 || tasks.get(onto)?.project_id !== task.project_id) return move({ id: moved, status });
    move({ id: moved, status, ...(from >= 0 && from < to ? { after: onto } : { before: onto }) });
  };
  return (
    <>
      <PageHeader
        title="Board"
        cli={project ? `skep tasks --project ${shellWord(project.name)}` : "skep tasks"}
        beside={project && projects.length === 1 ? <span className="text-lg text-dim">{project.name}</span> : undefined}
        actions={
          project && (
            <>
              <ButtonLink label="Vision and policy" href={`/projects/${project.id}/policy`} icon={ScrollText} />
              {mayAdd && <More project={project} pick={(dialog) => setOpen({ dialog })} />}
              {mayAdd && (
                <Button kind="primary" icon={Plus} onClick={() => setOpen({ dialog: "new", status: "backlog" })}>
                  New task
                </Button>
              )}
            </>
          )
        }
      />
      <FilterBar>
        {projects.length > 1 && (
          <FilterSelect
            label="Project"
            value={project?.id ?? ALL}
            onChange={choose}
            options={[
              ...projects.map(({ id, name }) => ({ value: id, label: name })),
              { value: ALL, label: "All projects" },
            ]}
          />
        )}
        <SearchInput value={text} onChange={setText} label="Search tasks" />
      </FilterBar>
      <Refused board={board} />
      <Await query={board.query} rows={6}>
        {() => (
          <DragArea onDrop={drop} overlay={(id) => tasks.get(id) && <Card task={tasks.get(id)!} tasks={tasks} />}>
            <section
              aria-label="Columns"
              tabIndex={0}
              className="flex snap-x snap-mandatory items-start gap-3 overflow-x-auto pb-3 max-sm:-mx-4 max-sm:scroll-px-4 max-sm:px-4"
            >
              {board.columns.map((column) => (
                <BoardColumn
                  key={column.id}
                  column={column}
                  actions={actions}
                  all={tasks}
                  {...(mayAdd ? { add: () => setOpen({ dialog: "new", status: column.statuses[0]! }) } : {})}
                />
              ))}
            </section>
          </DragArea>
        )}
      </Await>
      {board.more && (
        <p className="text-sm text-dim">The first {rows.length} tasks are shown. Search finds the others.</p>
      )}
      {project && open?.dialog === "new" && <TaskDialog project={project} status={open.status} onClose={close} />}
      {project && open?.dialog === "columns" && <ColumnsDialog project={project} onClose={close} />}
      {project && open?.dialog === "import" && <ImportDialog project={project.id} onClose={close} />}
      {project && open?.dialog === "several" && (
        <ChangeSeveral
          project={project.id}
          tasks={rows}
          statuses={project.columns.flatMap(({ statuses }) => statuses)}
          onClose={close}
        />
      )}
      {open?.dialog === "start" && (
        <StartDialog
          task={open.task}
          onClose={close}
          {...(open.move ? { onlyMove: () => void board.move(open.move!) } : {})}
        />
      )}
    </>
  );
}

/** Says why a task was not moved, and offers what can be done about it. */
function Refused({ board: { refused, force, dismiss } }: { board: ReturnType<typeof useBoard> }) {
  if (!refused) return null;
  return (
    <div className="mb-2">
      <ProblemNote error={refused.error} />
      <div className="flex gap-2">
        {refused.overruled && <Button onClick={() => void force(refused.move)}>Move it anyway</Button>}
        <Button label="Leave it" kind="quiet" onClick={dismiss} />
      </div>
    </div>
  );
}

type Several = "columns" | "several" | "import";

/** Actions on the board or on several tasks, for people who may use them. */
function More({ project, pick }: { project: Project; pick(dialog: Several): void }) {
  return (
    <Menu
      trigger={<Button label="More" icon={MoreHorizontal} iconSize={15} />}
      items={[
        mayDo(project.role, "maintainer") && { label: "Columns", icon: Columns3, act: () => pick("columns") },
        { label: "Change several", icon: ListChecks, act: () => pick("several") },
        { label: "Import tasks", icon: ListPlus, act: () => pick("import") },
      ]}
    />
  );
}

interface ColumnProps {
  column: Column & { tasks: Task[] };
  all: ReadonlyMap<string, Task>;
  actions: CardActions;
  /** Adds a task; undefined if no project is chosen. */
  add?: () => void;
}

function BoardColumn({ column: { id, name, wip_limit, tasks }, all, actions, add }: ColumnProps) {
  const heading = `column-${id}`;
  const full = wip_limit !== null && tasks.length >= wip_limit;
  return (
    <section
      aria-labelledby={heading}
      className="min-w-44 flex-1 shrink-0 snap-start rounded-lg bg-sunken p-2 max-sm:w-[calc(100vw-4rem)] max-sm:flex-none"
    >
      <div className="flex items-center gap-2 pb-2 pl-1">
        <h2 id={heading} className="text-sm font-semibold">
          {name}
        </h2>
        <span className={`text-xs tabular-nums ${full ? "font-semibold text-wait" : "text-faint"}`}>
          {tasks.length}
          {wip_limit !== null && ` of ${wip_limit}`}
        </span>
        {add && (
          <IconButton label={`Add to ${name}`} className="ml-auto size-7" onClick={add} icon={Plus} iconSize={15} />
        )}
      </div>
      <DropZone id={`column:${id}`} className="flex min-h-24 flex-col gap-2 rounded-md">
        {tasks.map((task) => (
          <Draggable key={task.id} id={task.id} fixed={!actions.mayChange(task)}>
            <Card task={task} tasks={all} actions={actions} />
          </Draggable>
        ))}
        {tasks.length === 0 && <p className="px-1 py-6 text-center text-sm text-faint">Nothing here</p>}
      </DropZone>
    </section>
  );
}

const CARD_KEYS = {
  m: () => document.activeElement?.closest("article")?.querySelector<HTMLElement>("[aria-haspopup=menu]")?.click(),
};
