/** Clusters and flows with their members and steps, one window of the list at a time. */
import type { CodeGraph } from "../code-graph.ts";
import {
  type CommunityView,
  communityView,
  findSymbols,
  type ProcessView,
  processesOf,
  processView,
  type SymbolView,
} from "./symbols.ts";

export interface CommunityDetail extends CommunityView {
  /** The most connected members. `symbol_count` counts all. */
  members: SymbolView[];
}

export interface ProcessDetail extends ProcessView {
  steps: (SymbolView & { step: number })[];
}

/** A part of a list: `count` entries from index `start`, which counts from 0. */
export interface Window {
  start: number;
  count: number;
}

export interface Windowed<T> {
  items: T[];
  /** Where the next window starts; null at the end of the list. */
  next: number | null;
}

const MAX_MEMBERS = 50;

export function communityDetails(graph: CodeGraph, window: Window): Windowed<CommunityDetail> {
  const all = graph.communities.map((_, index) => index);
  return paginate(all, window, (index) => ({
    ...communityView(graph, index),
    members: graph.communities[index]!.members.slice(0, MAX_MEMBERS).map((row) => graph.node(row)),
  }));
}

/** @param symbol only flows in which it takes part. If the name means several symbols, the flows of all of them. */
export function processDetails(graph: CodeGraph, window: Window, symbol?: string): Windowed<ProcessDetail> {
  const all =
    symbol === undefined
      ? graph.processes.map((_, index) => index)
      : [...new Set(findSymbols(graph, symbol).flatMap((row) => processesOf(graph, row)))].sort((a, b) => a - b);
  return paginate(all, window, (index) => ({
    ...processView(graph, index),
    steps: graph.processes[index]!.steps.map((row, step) => ({ ...graph.node(row), step: step + 1 })),
  }));
}

function paginate<T>(all: readonly number[], { start, count }: Window, view: (index: number) => T): Windowed<T> {
  const end = start + count;
  return { items: all.slice(start, end).map(view), next: end < all.length ? end : null };
}
