/** Formats numbers, money and times for people. */

export const MINUTE_MS = 60_000;
export const HOUR_MS = 60 * MINUTE_MS;
export const DAY_MS = 24 * HOUR_MS;
/** Times farther away than this are shown as dates. */
const FAR = 30 * DAY_MS;

/** Caches a format: creating it takes a hundred times as long as using it, and lists use it thousands of times. */
function memoize<T>(make: () => T): () => T {
  let made: T | undefined;
  return () => {
    made ??= make();
    return made;
  };
}
const dayFormat = memoize(
  () => new Intl.DateTimeFormat(undefined, { year: "numeric", month: "short", day: "numeric" }),
);
const timeFormat = memoize(() => new Intl.DateTimeFormat(undefined, { dateStyle: "medium", timeStyle: "medium" }));
const longDayFormat = memoize(
  () => new Intl.DateTimeFormat(undefined, { weekday: "long", month: "long", day: "numeric" }),
);
const clockFormat = memoize(() => new Intl.DateTimeFormat(undefined, { timeStyle: "short" }));

/** `Monday, March 3`. */
export const longDay = (at: string | Date): string => longDayFormat().format(new Date(at));

/** The time of day to the minute: `2:05 PM`, `14:05`. */
export const timeOfDay = (at: string): string => clockFormat().format(new Date(at));

/** A duration: `40 ms`, `1.4 s`, `12 s`, `3 min 05 s`, `2 h 10 min`, `3 d 4 h`. */
export function formatDuration(ms: number): string {
  if (ms <= 0) return "0 s";
  if (ms < 100) return `${Math.max(1, Math.round(ms))} ms`;
  if (ms < 10_000) return `${(ms / 1_000).toFixed(1)} s`;
  if (ms < MINUTE_MS) return `${Math.round(ms / 1_000)} s`;
  if (ms < HOUR_MS)
    return `${Math.floor(ms / MINUTE_MS)} min ${String(Math.floor((ms % MINUTE_MS) / 1_000)).padStart(2, "0")} s`;
  if (ms < DAY_MS) return `${Math.floor(ms / HOUR_MS)} h ${Math.floor((ms % HOUR_MS) / MINUTE_MS)} min`;
  return `${Math.floor(ms / DAY_MS)} d ${Math.floor((ms % DAY_MS) / HOUR_MS)} h`;
}

/** The distance from now in one unit: `now`, `4 min` ago, `in 2 h`, `3 d`; a date if it is more than a month. */
export function formatRelative(at: string | number, now = Date.now()): string {
  const time = new Date(at).getTime();
  const ms = Math.abs(now - time);
  if (ms < (time > now ? MINUTE_MS : 45_000)) return "now";
  if (ms >= FAR) return dayFormat().format(time);
  const [unit, name] = ms < HOUR_MS ? [MINUTE_MS, "min"] : ms < DAY_MS ? [HOUR_MS, "h"] : [DAY_MS, "d"];
  return `${time > now ? "in " : ""}${Math.round(ms / unit)} ${name}`;
}

/** `ago` as the end of a sentence: `just now`, `4 min ago`, `in 2 h`; a date stays a date. */
export function agoInSentence(at: string | number, now = Date.now()): string {
  const text = formatRelative(at, now);
  if (text === "now") return "just now";
  return /^\d+ (min|h|d)$/.test(text) ? `${text} ago` : text;
}

/** Whether the result of `ago` will not change any more. */
export const isLongAgo = (at: string): boolean => Date.now() - Date.parse(at) >= FAR;

/** The complete time, to the second. Text that is no time is returned unchanged. */
export function dateTime(at: string): string {
  const time = Date.parse(at);
  return Number.isNaN(time) ? at : timeFormat().format(time);
}

/** A number such as `12,345`. `Intl` is avoided if possible: its first use in a page loads data for about 60 ms. */
export function formatNumber(value: number): string {
  if (!Number.isSafeInteger(value) || value < 0) return value.toLocaleString("en-US");
  const digits = String(value);
  let text = digits.slice(-3);
  for (let end = digits.length - 3; end > 0; end -= 3) text = `${digits.slice(Math.max(0, end - 3), end)},${text}`;
  return text;
}

/** USD with a useful number of decimals: `$0`, `$0.0042`, `$1.27`, `$1,204`. */
export function formatUsd(amount: number): string {
  if (amount === 0) return "$0";
  if (amount < 0.01) return `$${amount.toPrecision(2)}`;
  if (amount < 1_000) return `$${amount.toFixed(2)}`;
  return `$${formatNumber(Math.round(amount))}`;
}

/** The cost of work, some of whose model calls may have no known price: `no price`, `over $1.27`. */
export function costText(cost: { cost_usd: number; calls_without_price: number }): string {
  if (cost.calls_without_price === 0) return formatUsd(cost.cost_usd);
  return cost.cost_usd === 0 ? "no price" : `over ${formatUsd(cost.cost_usd)}`;
}

/** `840`, `12.4k`, `3.1M`. */
export function count(value: number): string {
  if (value < 10_000) return formatNumber(value);
  if (value < 1_000_000) return `${(value / 1_000).toFixed(value < 100_000 ? 1 : 0)}k`;
  return `${(value / 1_000_000).toFixed(1)}M`;
}

/** `512 B`, `3.4 kB`, `1.2 GB`. */
export function formatBytes(value: number): string {
  const units = ["B", "kB", "MB", "GB", "TB"];
  const at = value < 1 ? 0 : Math.min(Math.floor(Math.log10(value) / 3), units.length - 1);
  const scaled = value / 1_000 ** at;
  return `${at === 0 || scaled >= 100 ? Math.round(scaled) : scaled.toFixed(1)} ${units[at]}`;
}

/** Quotes a text as one word of a shell command. */
export const shellWord = (text: string): string =>
  /^[\w./:@%+=-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`;

/** Whether a text is an id that the server generated. People should see a name instead, or nothing. */
export const isId = (text: string): boolean => /^[a-z]{2,5}_[0-9a-hjkmnp-tv-z]{26}$/.test(text);

/** A field's name for people: `mcp_servers` is "MCP servers". */
export function formatField(field: string): string {
  const words = field.replaceAll("_", " ").replace(/\bmcp\b/, "MCP");
  return words.charAt(0).toUpperCase() + words.slice(1);
}

export const pluralize = (many: number, one: string, more = `${one}s`): string =>
  `${formatNumber(many)} ${many === 1 ? one : more}`;
