/**
 * The steps of a run as lines for a terminal: one line per step, more only for active ones, within the terminal's size.
 */
import { fit, oneLine, padEnd, padStart, paint, type Style, stripControls } from "../terminal/style.ts";
import { type Cost, formatCount, localizeTimes, shortCostText, spanText } from "../terminal/table.ts";
import type { RunState, StepView } from "./state.ts";

interface Mark {
  sign: string;
  style: Style | undefined;
}

const MARKS: Readonly<Record<string, Mark>> = {
  pending: { sign: "·", style: "dim" },
  queued: { sign: "·", style: "dim" },
  running: { sign: "▶", style: "cyan" },
  waiting: { sign: "?", style: "yellow" },
  succeeded: { sign: "✔", style: "green" },
  failed: { sign: "✘", style: "red" },
  skipped: { sign: "-", style: "dim" },
  cancelled: { sign: "✘", style: "dim" },
};

interface TreeSize {
  width: number;
  /** Lines that may be used. If the tree has more, finished steps are folded into one line. */
  height: number;
  /** Unix milliseconds. */
  now: number;
}

/** Widths of the time and cost columns at the end of a line. */
const TIME = 8;
const COST = 9;
const NAME_MAX = 24;

/** The tree and a summary line. */
export function treeLines(state: RunState, { width, height, now }: TreeSize): string[] {
  const shown = state.steps.filter((step) => isShown(step, state.steps));
  const nameWidth = Math.min(NAME_MAX, Math.max(8, ...shown.map((step) => Bun.stringWidth(labelOf(step)))));
  const groups = shown.map((step) => ({ step, lines: stepLines(step, state, { width, now, nameWidth }) }));
  const notice = state.notice ? [fit(paint("yellow", `! ${localizeTimes(oneLine(state.notice))}`), width)] : [];
  const sum = sumLine(state, now, width);
  return [...foldGroups(groups, height - notice.length - 1, width), ...notice, sum];
}

/** Items are shown while they run or when they failed; finished ones are only counted at their step. */
function isShown(step: StepView, all: readonly StepView[]): boolean {
  if (step.index === undefined) return true;
  const parent = all.find(({ name, index }) => name === step.name && index === undefined);
  const over = parent !== undefined && ["succeeded", "skipped"].includes(parent.status);
  return !over && ["running", "failed"].includes(step.status);
}

const labelOf = ({ name, index }: StepView): string => (index === undefined ? name : `  ${name}[${index}]`);

function stepLines(
  step: StepView,
  state: RunState,
  { width, now, nameWidth }: { width: number; now: number; nameWidth: number },
): string[] {
  const { sign, style } = MARKS[step.status] ?? MARKS["pending"]!;
  const took = step.startedAt === undefined ? "" : spanText((step.endedAt ?? now) - step.startedAt);
  const work = [step, ...itemsOf(step, state.steps)];
  const sum = (of: keyof Cost) => work.reduce((sum, each) => sum + each[of], 0);
  const spent = { cost_usd: sum("cost_usd"), calls_without_price: sum("calls_without_price") };
  const cost = spent.cost_usd > 0 || spent.calls_without_price > 0 ? shortCostText(spent) : "";
  const end = `${padStart(took, TIME)} ${padStart(cost, COST)}`.trimEnd();
  const room = Math.max(8, width - 2 - nameWidth - 2 - (TIME + 1 + COST) - 1);
  const name = padEnd(fit(stripControls(labelOf(step)), nameWidth), nameWidth);
  const about = padEnd(fit(oneLine(aboutOf(step, state.steps)), room), room);
  const quiet = ["pending", "queued", "skipped"].includes(step.status);
  const head = `${paint(style, sign)} ${quiet ? paint("dim", name) : name}  ${paint("dim", about)} ${paint("dim", end)}`;
  const below = belowOf(step).map(
    (text) => `${" ".repeat(4)}${paint(step.error ? "red" : "dim", fit(text, width - 4))}`,
  );
  return [head.trimEnd(), ...below];
}

/** Items of a `for_each`; empty for an item. */
const itemsOf = (step: StepView, all: readonly StepView[]): StepView[] =>
  step.index === undefined ? all.filter(({ name, index }) => name === step.name && index !== undefined) : [];

/** The text beside a step's name: who does it, and how far it is. */
function aboutOf(step: StepView, all: readonly StepView[]): string {
  const items = itemsOf(step, all);
  const done = items.filter(({ status }) => status === "succeeded").length;
  return [
    step.index === undefined ? step.by : "",
    items.length > 0 ? `${done} of ${items.length}` : "",
    step.attempt > 1 ? `try ${step.attempt}` : "",
    step.status === "skipped" ? "skipped" : step.status === "waiting" ? "waits for an answer" : "",
  ]
    .filter(Boolean)
    .join(", ");
}

/** The text below a step's name: what it does now, or why it failed. A finished step has none. */
function belowOf(step: StepView): string[] {
  if (step.error) return [oneLine(step.error)];
  if (step.status !== "running") return [];
  const text = oneLine(step.call ?? step.says);
  return text === "" ? [] : [text];
}

interface Group {
  step: StepView;
  lines: string[];
}

/** Leaves out what does not fit: first finished steps, then those not started, then the end. */
function foldGroups(groups: readonly Group[], height: number, width: number): string[] {
  const all = groups.flatMap(({ lines }) => lines);
  if (all.length <= height) return all;
  const isQuiet = ({ step }: Group) => step.status === "succeeded" || step.status === "skipped";
  const isAhead = ({ step }: Group) => step.status === "pending";
  const busy = groups.filter((group) => !isQuiet(group) && !isAhead(group)).flatMap(({ lines }) => lines);
  const formatCount = (count: number, text: string) =>
    count > 0 ? [fit(paint("dim", `  ${count} ${text}`), width)] : [];
  const lines = [
    ...formatCount(groups.filter(isQuiet).length, "done"),
    ...busy,
    ...formatCount(groups.filter(isAhead).length, "not started"),
  ];
  return lines.length <= height ? lines : lines.slice(0, Math.max(0, height));
}

function sumLine(state: RunState, now: number, width: number): string {
  const { steps, tokens, startedAt, endedAt } = state;
  const own = steps.filter(({ index }) => index === undefined);
  const done = own.filter(({ status }) => ["succeeded", "skipped"].includes(status)).length;
  const took = startedAt === undefined ? "" : spanText((endedAt ?? now) - startedAt);
  const parts = [
    `${done} of ${formatCount(own.length, "step")}`,
    took,
    shortCostText(state),
    formatCount(tokens, "token"),
  ];
  return fit(paint("dim", `  ${parts.filter(Boolean).join(" · ")}`), width);
}
