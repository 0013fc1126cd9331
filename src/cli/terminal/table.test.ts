import { afterEach, describe, expect, test } from "bun:test";
import { oneLine, ownColoursOnly, paint, stripControls } from "./style.ts";
import {
  type Column,
  costText,
  fieldLines,
  fullCostText,
  localizeTimes,
  shortCostText,
  spanText,
  tableLines,
  timeText,
} from "./table.ts";

interface Row {
  name: string;
  about: string;
  cost: number;
}
const COLUMNS: Column<Row>[] = [
  { head: "NAME", of: ({ name }) => name },
  { head: "COST", of: ({ cost }) => costText(cost), right: true },
  { head: "ABOUT", of: ({ about }) => about, shrinks: true },
];
const ROWS: Row[] = [
  { name: "one", about: "a short text", cost: 0.25 },
  { name: "二つ", about: "a text that is so long that it does not fit into a narrow terminal", cost: 12 },
];

describe("tables", () => {
  test("have a head and columns as wide as what is in them, wide letters counted", () => {
    expect(tableLines(COLUMNS, ROWS, Number.POSITIVE_INFINITY)).toEqual([
      "NAME     COST  ABOUT",
      "one   $0.2500  a short text",
      "二つ   $12.00  a text that is so long that it does not fit into a narrow terminal",
    ]);
  });

  test("stay inside the terminal: what may shrink is cut, names are not", () => {
    const lines = tableLines(COLUMNS, ROWS, 40);
    expect(Math.max(...lines.map((line) => Bun.stringWidth(line)))).toBe(40);
    expect(lines[2]).toBe("二つ   $12.00  a text that is so long t…");
    expect(tableLines(COLUMNS, ROWS, 5)[1]).toStartWith("one   $0.2500  a short");
  });

  test("in a pipe nothing is cut, and a long text does not move the columns of other rows", () => {
    const columns: Column<Row>[] = [COLUMNS[2]!, COLUMNS[0]!];
    const long = "waits ".repeat(30).trim();
    expect(tableLines(columns, [{ ...ROWS[0]!, about: long }, ROWS[0]!], Number.POSITIVE_INFINITY)).toEqual([
      `${"ABOUT".padEnd(40)}  NAME`,
      `${long}  one`,
      `${"a short text".padEnd(40)}  one`,
    ]);
  });

  test("lines of text in a cell become one, and fields of nothing are left out", () => {
    expect(tableLines([{ head: "X", of: (text: string) => text }], ["a\n  b\tc"])).toEqual(["X", "a b c"]);
    expect(
      fieldLines([
        ["name", "a"],
        ["nothing", null],
        ["none", []],
        ["longer name", "b\nc"],
        ["yes", true],
      ]),
    ).toEqual(["name         a", "longer name  b\n             c", "yes          yes"]);
  });
});

describe("text of others", () => {
  test("moves no cursor, sets no title, and turns no line around", () => {
    const hostile = "a\x1b[2Jb\x1b]0;title\x07c\x9b31md\u202ee\rf\x1b(0g";
    expect(stripControls(hostile)).toBe("abc31mdef(0g");
    expect(oneLine("a\r\nb\x1b[1A")).toBe("a b");
    expect(ownColoursOnly("\x1b[31mred\x1b[39m\x1b[2J")).toBe("\x1b[31mred\x1b[39m");
  });

  test("colours are only for a terminal that has not refused them", () => {
    expect(paint("red", "x")).toBe("x");
  });
});

describe("values", () => {
  afterEach(() => {
    process.env["TZ"] = "";
  });
  test("times are local, spans and money as people write them", () => {
    process.env["TZ"] = "UTC";
    expect([timeText("2026-01-31T14:05:09.123Z"), timeText(null), timeText("soon")]).toEqual([
      "2026-01-31 14:05",
      "",
      "soon",
    ]);
    expect(localizeTimes("Asked again at 2026-01-31T14:05:09Z, then at 2026-01-31T15:05:09.5Z.")).toBe(
      "Asked again at 2026-01-31 14:05, then at 2026-01-31 15:05.",
    );
    expect([spanText(4_230), spanText(185_000), spanText(3_723_000)]).toEqual(["4.2 s", "3:05", "1:02:03"]);
    expect([costText(0), costText(0.0123), costText(12.3)]).toEqual(["$0.00", "$0.0123", "$12.30"]);
  });

  test("calls whose price nobody knows are no $0.00", () => {
    const costs = [
      { cost_usd: 0, calls_without_price: 0 },
      { cost_usd: 0, calls_without_price: 3 },
      { cost_usd: 1.5, calls_without_price: 2 },
    ];
    expect(costs.map(shortCostText)).toEqual(["$0.00", "no price", "over $1.50"]);
    expect(costs.map(fullCostText)).toEqual(["$0.00", "no price", "$1.50 and 2 calls without a price"]);
  });
});
