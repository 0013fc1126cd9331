/**
 * The live index of a session: opened by the first edit, and dropped when none comes for a while, when it cannot take one
 * in, or when another process wrote a newer generation. What fails here is left to a whole index, which says why.
 */
import { headCommit } from "../index/git.ts";
import type { IndexReport } from "../index/indexer.ts";
import { type LiveIndex, openLiveIndex } from "../index/live-index.ts";
import type { Look } from "../index/look.ts";
import { createPhases } from "../index/phases.ts";
import type { Looker } from "../index/quick-look.ts";
import type { Grammars } from "../language/grammar.ts";
import { endingOf, languageOf } from "../language/languages.ts";
import { PHASES } from "../model.ts";
import type { GraphStore, Manifest } from "../store/graph-store.ts";
import type { KeyIndex } from "../store/key-index.ts";
import type { GraphReader } from "./graph-reader.ts";
import type { LiveSlot } from "./live-slot.ts";
import type { GraphPlace } from "./session.ts";

/** Without an edit for this long, its memory is given back, ms. */
const IDLE_MS = 2 * 60_000;
/** So long after a question the answer is there, and the next question as well where one follows it at once, ms. */
const EXPECT_MS = 300;

interface LiveGraph {
  /** What is known of the graph that answers: the disk may lack it. */
  manifest(): Manifest | undefined;
  /** Keeps a look, and the commit that the folder was on then, for the edit that follows it. */
  keepLook(look: Look, commit: string): void;
  /**
   * @param looked the edit was found by a look that is kept
   * @returns undefined where a whole index is needed
   */
  edit(looked: boolean): Promise<IndexReport | undefined>;
  /** Opens the index soon, where the kept look found no edit and nobody else has one: the first edit then takes no longer than others. */
  expectEdit(): void;
  /** Finds clusters and flows where an edit left those of before. */
  settleGroups(): void;
  /** The names of keys, where the disk lacks the latest. */
  keys(): KeyIndex | undefined;
  /** Writes to disk what it lacks. Nothing where the graph was removed or replaced. */
  write(): void;
  drop(): void;
}

interface Parts {
  place: GraphPlace;
  store: GraphStore;
  reader: GraphReader;
  looker: Looker;
  grammars(): Promise<Grammars>;
  slot: LiveSlot;
}

export function createLiveGraph({ place, store, reader, looker, grammars, slot }: Parts): LiveGraph {
  let index: LiveIndex | undefined;
  let kept: { look: Look; commit: string } | undefined;
  let idle: ReturnType<typeof setTimeout> | undefined;
  let expecting: ReturnType<typeof setTimeout> | undefined;
  /** The generation that cannot be opened: it is too large, or damaged. */
  let unfit: number | undefined;

  function drop(): void {
    clearTimeout(idle);
    slot.leave(drop);
    // The graph that answers went on from one that nobody can go on from now.
    if (index?.isAhead) reader.close();
    index = undefined;
    kept = undefined;
  }

  function current(): LiveIndex | undefined {
    if (index && index.generation !== store.manifest()?.generation) drop();
    return index;
  }

  async function take(look: Look, commit: string): Promise<IndexReport | undefined> {
    const live = current();
    const known = live?.manifest ?? store.manifest();
    if (live && known?.fingerprint === look.fingerprint) return reportOf(live.manifest, 0, false);
    if (!known || known.fingerprint === look.fingerprint) return undefined;
    const opened = live ? undefined : reader.openCurrent();
    const opening = opened && openLiveIndex(place.root, store, look, opened.graph);
    // Grammars are compiled by other threads meanwhile.
    const [next, loaded] = await Promise.all([live ?? opening, loadNewest(grammars(), look)]);
    if (!next) return undefined;
    const { graph, generation } = reader.openCurrent();
    if (generation !== next.generation || (opened && generation !== opened.generation)) return undefined;
    const edit = await next.edit(look, commit, graph, loaded);
    if (!edit || next.generation !== store.manifest()?.generation) return undefined;
    reader.replace(edit.graph, edit.kept);
    keep(next);
    return reportOf(edit.manifest, edit.parsed, true);
  }

  function keep(live: LiveIndex): void {
    index = live;
    slot.take(drop);
    clearTimeout(idle);
    idle = setTimeout(drop, IDLE_MS);
    idle.unref();
  }

  async function openAhead(): Promise<void> {
    const [look, known] = [kept?.look, store.manifest()];
    const isCurrent = look !== undefined && look.fingerprint === known?.fingerprint;
    if (!isCurrent || known.generation === unfit || current() || !slot.isFree) return;
    const { graph } = reader.openCurrent();
    const [opened] = await Promise.all([openLiveIndex(place.root, store, look, graph), loadNewest(grammars(), look)]);
    if (!opened) unfit = known.generation;
    // Meanwhile there may have been an edit, or a whole index.
    if (opened && opened.generation === store.manifest()?.generation && !current() && slot.isFree) keep(opened);
  }

  function settleGroups(): void {
    const settled = current()?.settleGroups();
    if (settled) reader.replace(settled, "all");
  }

  return {
    manifest: () => current()?.manifest ?? store.manifest(),
    keepLook: (look, commit) => {
      kept = { look, commit };
    },
    async edit(looked) {
      const known = looked ? kept : undefined;
      kept = undefined;
      try {
        const { look, commit } = known ?? (await lookWithCommit(place, looker));
        const report = await take(look, commit);
        if (!report) drop();
        return report;
      } catch {
        drop();
        return undefined;
      }
    },
    expectEdit() {
      clearTimeout(expecting);
      expecting = setTimeout(() => void openAhead().catch(() => undefined), EXPECT_MS);
      expecting.unref();
    },
    settleGroups,
    keys() {
      const live = current();
      return live?.isAhead ? live.keys() : undefined;
    },
    write() {
      settleGroups();
      const live = current();
      if (!live?.isAhead) return;
      const { graph } = reader.open();
      live.write();
      reader.replace(graph, "all");
    },
    drop() {
      clearTimeout(expecting);
      drop();
    },
  };
}

/** Looks at the files while git is asked for the commit that they are on. */
export async function lookWithCommit(place: GraphPlace, looker: Looker): Promise<{ look: Look; commit: string }> {
  const commit = headCommit(place);
  return { look: await looker.look(), commit: await commit };
}

/** Loads the grammar of the file that changed last, as it is part of the edit, as a rule. Any other is loaded by the edit. */
async function loadNewest(grammars: Promise<Grammars>, { walk }: Look): Promise<Grammars> {
  const loaded = await grammars;
  let [newest] = walk.files;
  for (const file of walk.files) if (newest && file.modified > newest.modified) newest = file;
  const grammar = newest && languageOf(newest.path)?.grammars.get(endingOf(newest.path));
  if (grammar !== undefined) await loaded.load(grammar);
  return loaded;
}

function reportOf(manifest: Manifest, parsed: number, changed: boolean): IndexReport {
  const phases = createPhases();
  for (const name of PHASES) phases.end(name);
  return { manifest, phases: phases.list, parsed, changed };
}
