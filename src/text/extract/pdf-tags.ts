/**
 * Extracts the text of a tagged PDF page from its structure tree, which tells headings, paragraphs, lists and tables as
 * the author meant them.
 */

/** A run of text as pdf.js gives it. */
export interface PdfText {
  str: string;
  transform: number[];
  width: number;
  height: number;
  hasEOL: boolean;
}
export type PdfItem = PdfText | { type: string; id?: string };

export interface PdfNode {
  role?: string;
  type?: string;
  id?: string;
  alt?: string;
  children?: PdfNode[];
}

/** A block of a page, before it is decided which blocks of the document are headings. */
export interface PdfBlock {
  text: string;
  page: number;
  /** Height of the block's first line above the bottom of the page. */
  y: number;
  /** Height of the block's letters; 0 for the blocks of a tagged page, where it is not used. */
  size: number;
  /** Level of a heading, where a tag tells it. */
  level?: number | undefined;
}

export const isText = (item: PdfItem): item is PdfText => "str" in item;

const INLINE = new Set(["Span", "Link", "Em", "Strong", "Quote", "Code", "Reference", "Annot", "Sub", "Lbl", "Ruby"]);
const HEADING = /^H([1-6])?$|^Title$/;

/** @returns undefined where there are no tags, or they leave out much of the page's text. */
export function taggedBlocks(tree: PdfNode | null, items: readonly PdfItem[], page: number): PdfBlock[] | undefined {
  if (!tree) return undefined;
  const marked = markedText(items);
  const blocks: PdfBlock[] = [];
  const readWords = (node: PdfNode): string => tidy(readInner(node));
  const readInner = (node: PdfNode): string =>
    node.type === "content" ? (marked.get(node.id ?? "")?.text ?? "") : (node.children ?? []).map(readInner).join("");
  const topOf = (node: PdfNode): number =>
    node.type === "content"
      ? (marked.get(node.id ?? "")?.y ?? 0)
      : (node.children ?? []).reduce((top, child) => Math.max(top, topOf(child)), 0);
  const add = (text: string, nodes: readonly PdfNode[], level?: number) => {
    if (text === "") return;
    const y = Math.max(0, ...nodes.slice(0, 50).map(topOf));
    blocks.push({ text, page, y, size: 0, ...(level === undefined ? {} : { level }) });
  };
  const walk = (node: PdfNode): void => {
    const role = node.role ?? "";
    const heading = HEADING.exec(role);
    if (heading) return add(readWords(node), [node], Number(heading[1] ?? 1));
    if (role === "P" || role === "Caption" || role === "Note") return add(readWords(node), [node]);
    if (role === "Table") return add(tableText(rowsOf(node).map((row) => row.map(readWords))), [node]);
    if (role === "L") return add(listText(node, 0), [node]);
    let run: PdfNode[] = [];
    const flush = () => {
      add(tidy(run.map(readInner).join("")), run);
      run = [];
    };
    for (const child of node.children ?? [])
      if (child.type === "content" || INLINE.has(child.role ?? "")) run.push(child);
      else {
        flush();
        walk(child);
      }
    flush();
  };
  const listText = (list: PdfNode, depth: number): string =>
    (list.children ?? [])
      .flatMap((item) => {
        const parts = (item.role === "LI" ? (item.children ?? []) : [item]).filter(({ role }) => role !== "Lbl");
        const isList = ({ role }: PdfNode) => role === "L";
        const nested = parts.flatMap((part) => (isList(part) ? [part] : (part.children ?? []).filter(isList)));
        const own = tidy(
          parts
            .filter((part) => !isList(part))
            .map((part) =>
              (part.children ?? [part])
                .filter((child) => !isList(child))
                .map(readInner)
                .join(""),
            )
            .join(" "),
        );
        return [
          ...(own ? [`${"  ".repeat(depth)}- ${own}`] : []),
          ...(depth < 6 ? nested.map((one) => listText(one, depth + 1)) : []),
        ];
      })
      .join("\n");
  walk(tree);
  const found = blocks.reduce((sum, { text }) => sum + lettersOf(text), 0);
  const all = items.reduce((sum, item) => sum + (isText(item) ? lettersOf(item.str) : 0), 0);
  return found >= all * 0.7 ? blocks : undefined;
}

function markedText(items: readonly PdfItem[]): Map<string, { text: string; y: number }> {
  const marked = new Map<string, { text: string; y: number }>();
  const open: (string | undefined)[] = [];
  for (const item of items) {
    if (!isText(item)) {
      if (item.type.startsWith("begin")) open.push(item.id);
      else open.pop();
      continue;
    }
    const id = open.findLast((one) => one !== undefined);
    if (id === undefined) continue;
    const known = marked.get(id) ?? { text: "", y: 0 };
    known.text += item.str + (item.hasEOL ? " " : "");
    known.y ||= item.transform[5] ?? 0;
    marked.set(id, known);
  }
  return marked;
}

const rowsOf = (node: PdfNode): PdfNode[][] =>
  (node.children ?? []).flatMap((child) =>
    child.role === "TR"
      ? [(child.children ?? []).filter(({ role }) => role === "TD" || role === "TH")]
      : child.role && /^T(Head|Body|Foot)$/.test(child.role)
        ? rowsOf(child)
        : [],
  );

/** Formats rows of cells as a Markdown table; the first row is its header. */
export function tableText(rows: readonly (readonly string[])[]): string {
  const width = Math.max(0, ...rows.map((row) => row.length));
  if (width === 0) return "";
  const formatRow = (cells: readonly string[]) =>
    `| ${Array.from({ length: width }, (_, at) => (cells[at] ?? "").replaceAll("|", "\\|")).join(" | ")} |`;
  const [head = [], ...rest] = rows;
  return [formatRow(head), `|${" --- |".repeat(width)}`, ...rest.map(formatRow)].join("\n");
}

export const tidy = (text: string): string => text.replaceAll("\u00ad", "").replace(/\s+/g, " ").trim();
const lettersOf = (text: string): number => text.replace(/\s+/g, "").length;
