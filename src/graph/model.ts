/**
 * The words of the code graph: node labels, relationship types, and why an edge is believed.
 * Node ids are stable over re-indexing: `Label:file#qualified.name`, `~n` for the nth of one name.
 */

/** Labels of symbols that source code declares. Order is part of the facts format. */
export const SYMBOL_LABELS = [
  "Function",
  "Class",
  "Method",
  "Interface",
  "Struct",
  "Enum",
  "Trait",
  "Impl",
  "Namespace",
  "TypeAlias",
  "Variable",
  "Decorator",
  "Import",
  "Const",
  "Property",
] as const;
export type SymbolLabel = (typeof SYMBOL_LABELS)[number];

/** Labels of nodes that refer to declarations and declare nothing. No name in the code means such a node. */
export const REFERENCE_LABELS: ReadonlySet<string> = new Set<SymbolLabel>(["Decorator", "Import"]);

/**
 * Every node label. Analysis finds the last two; they are not declared in code. Order is part of the snapshot format.
 */
export const NODE_LABELS = [...SYMBOL_LABELS, "File", "Folder", "Community", "Process"] as const;
export type NodeLabel = (typeof NODE_LABELS)[number];

/** Every relationship type. Order is part of the snapshot format. */
export const EDGE_TYPES = [
  "CONTAINS",
  "DEFINED_IN",
  "CALLS",
  "IMPORTS",
  "USES",
  "EXTENDS",
  "IMPLEMENTS",
  "BELONGS_TO",
  "PARTICIPATES_IN",
  "MAY_CALL",
] as const;
export type EdgeType = (typeof EDGE_TYPES)[number];

/**
 * The rule that found a CALLS, MAY_CALL, IMPORTS, USES, EXTENDS or IMPLEMENTS edge. `exact` means that a compiler
 * reported it in a SCIP index. Order is part of the snapshot format.
 */
export const REASONS = [
  "",
  "same_scope",
  "import",
  "receiver_type",
  "inheritance",
  "unique_name",
  "same_name",
  "exact",
] as const;
export type Reason = (typeof REASONS)[number];

/** Confidence in an edge, 0–1, for each rule. */
export const CONFIDENCE: Record<Reason, number> = {
  "": 1,
  same_scope: 1,
  import: 0.98,
  receiver_type: 0.95,
  inheritance: 0.9,
  unique_name: 0.5,
  same_name: 0.2,
  exact: 1,
};

export const LANGUAGE_IDS = [
  "typescript",
  "javascript",
  "python",
  "go",
  "rust",
  "java",
  "c",
  "cpp",
  "csharp",
  "php",
] as const;
export type LanguageId = (typeof LANGUAGE_IDS)[number];

/** The six phases of an index job, in order. */
export const PHASES = [
  "filesystem_walk",
  "parsing",
  "structure",
  "resolution",
  "community_detection",
  "process_discovery",
] as const;
export type PhaseName = (typeof PHASES)[number];

/** A node as answers and exports show it. Lines count from 1; paths are relative to the repository. */
export interface GraphNode {
  id: string;
  label: NodeLabel;
  name: string;
  qualified_name: string;
  file_path: string;
  start_line: number;
  end_line: number;
  language: string;
  exported: boolean;
  signature: string;
  doc: string;
  /**
   * Where the node's body is, if `file_path` only declares it (JavaScript beside a `.d.ts`). The lines of its calls are
   * in this file.
   */
  implementation?: { file_path: string; start_line: number; end_line: number };
}

/**
 * An edge as answers and exports show it. `line` is the line of the call or use, in the file of the `from` node or of
 * its implementation.
 */
export interface GraphEdge {
  type: EdgeType;
  from: string;
  to: string;
  line?: number;
  confidence: number;
  reason: Reason;
}

/** Questions about the code as a whole. */
export const QUESTIONS = ["path", "tests", "dead_code", "cycles", "reads", "flow"] as const;
export type Question = (typeof QUESTIONS)[number];

/** Sentences that end what agents read when the index may lack changes. */
export const NOT_COMPARED =
  "Note: the files are still being compared with the index; the latest changes may be missing.";
export const OLDER =
  "Note: files changed since this index. It is being brought up to date: ask again in a moment for the latest changes.";
