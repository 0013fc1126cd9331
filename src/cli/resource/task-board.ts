/** A project's board in a terminal: columns side by side, or one below another if the terminal is too narrow. */
import type { RowOf, Schemas } from "../../api/types.ts";
import { badUsage } from "../../core/errors.ts";
import { fit, isLive, oneLine, padEnd, paint, type Style, countColumns as terminalColumns } from "../terminal/style.ts";
import { listItems } from "./find.ts";
import type { Answer, Call } from "./resource.ts";
import { projectPath, type Tasks } from "./task-workflow.ts";

/** The least width of a column that stands beside others. */
const LEAST_WIDTH = 20;
/** The width where there is no terminal to limit it. */
const WIDTH_WITHOUT_TERMINAL = 120;
const GAP = "  ";
const TITLE_LINES = 2;
/** How many characters of an id are shown. They are taken from its end, where ids differ. */
const ID_CHARACTERS = 6;
const MOST_CARDS = 100;

type BoardColumn = Schemas["Project"]["columns"][number];
/** What a card shows of a task. */
type Card = Pick<RowOf<Tasks>, "id" | "title" | "status"> & { priority: string; assigned_agent?: string | null };

interface Column extends Pick<BoardColumn, "id" | "name" | "statuses" | "wip_limit"> {
  /** How many tasks the column holds in all. */
  count: number;
  tasks: Card[];
}

export async function showBoard({ client, path, flags }: Call<unknown, Tasks>): Promise<Answer> {
  const cards = Number(flags["cards"]);
  if (!Number.isInteger(cards) || cards < 1 || cards > MOST_CARDS)
    throw badUsage(`--cards takes a whole number from 1 to ${MOST_CARDS}.`);
  const project = await client.call("GET", projectPath(path));
  const columns = await Promise.all(project.columns.map((column) => fillColumn(column)));
  return { json: { project_id: project.id, columns }, text: boardLines(columns) };

  async function fillColumn(column: BoardColumn): Promise<Column> {
    const lists = await Promise.all(
      column.statuses.map((status) => listItems(client, path, cards, new URLSearchParams({ status }))),
    );
    const count = column.statuses.reduce((sum, status) => sum + (project.counts[status] ?? 0), 0);
    return { ...column, count, tasks: lists.flatMap(({ items }) => items) };
  }
}

/** Draws a board as lines. @param width columns of the terminal. */
export function boardLines(columns: readonly Column[], width: number = terminalColumns()): string[] {
  const room = Number.isFinite(width) ? width : WIDTH_WITHOUT_TERMINAL;
  const each = Math.floor((room - GAP.length * (columns.length - 1)) / columns.length);
  const isNarrow = each < LEAST_WIDTH;
  const blocks = columns.map((column) => columnLines(column, isNarrow ? room : each));
  if (isNarrow) return blocks.flatMap((block, at) => (at === 0 ? block : ["", ...block]));
  const height = Math.max(...blocks.map((block) => block.length));
  return Array.from({ length: height }, (_, row) =>
    blocks
      .map((block) => padEnd(block[row] ?? "", each))
      .join(GAP)
      .trimEnd(),
  );
}

function columnLines({ name, count, wip_limit, tasks, statuses }: Column, width: number): string[] {
  const isFull = wip_limit !== null && count >= wip_limit;
  const size = wip_limit === null ? `${count}` : `${count}/${wip_limit}`;
  const head = paint(isFull ? "yellow" : "bold", fit(`${oneLine(name)} ${size}`, width));
  const rule = paint("dim", (isLive() ? "─" : "-").repeat(Math.min(width, WIDTH_WITHOUT_TERMINAL)));
  const more = count > tasks.length ? [paint("dim", `and ${count - tasks.length} more`)] : [];
  return [head, rule, ...tasks.flatMap((task) => cardLines(task, width, statuses.length > 1)), ...more];
}

const PRIORITY_STYLES: Readonly<Record<string, Style>> = { p0: "red", p1: "yellow" };

/** The lines of a task's card: its title on up to two lines, then its id and who claimed it. */
function cardLines(task: Card, width: number, namesStatus: boolean): string[] {
  const { title, priority, assigned_agent: agent, status, id } = task;
  const marks = [priority, ...(namesStatus ? [status] : []), id.slice(-ID_CHARACTERS), agent && `@${agent}`];
  const below = fit(oneLine(marks.filter(Boolean).join(" ")), width);
  return [...wrap(oneLine(title), width), paint(PRIORITY_STYLES[priority] ?? "dim", below), ""];
}

/** Wraps text into lines of a width; what does not fit on the last line is cut. */
function wrap(text: string, width: number): string[] {
  const lines = [""];
  for (const word of text.split(" ")) {
    const last = lines.length - 1;
    const longer = lines[last] === "" ? word : `${lines[last]} ${word}`;
    if (Bun.stringWidth(longer) <= width || lines[last] === "" || lines.length === TITLE_LINES) lines[last] = longer;
    else lines.push(word);
  }
  return lines.map((line) => fit(line, width));
}
