/**
 * The live index of a session. The first edit opens it. It is dropped if no edit comes for a while, if it cannot apply
 * one, or if another process wrote a newer generation. After a failure here, a whole index is made, which reports the
 * reason.
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

/** After this long without an edit, the memory is freed, ms. */
const IDLE_MS = 2 * 60_000;
/**
 * How long after a question the index is opened for an expected edit, ms. By then the answer has been sent, and a
 * question that follows at once has arrived.
 */
const EXPECT_MS = 300;

interface LiveGraph {
  /** The manifest of the graph that answers. It may be newer than the one on disk. */
  manifest(): Manifest | undefined;
  /** Keeps a look, and the commit at that time, for the edit that follows. */
  keepLook(look: Look, commit: string): void;
  /**
   * @param looked whether the kept look found the edit
   * @returns undefined if a whole index is needed
   */
  edit(looked: boolean): Promise<IndexReport | undefined>;
  /**
   * Opens the index soon, unless the kept look found an edit or another session has an index open. This makes the first
   * edit as fast as later ones.
   */
  expectEdit(): void;
  /** Finds new clusters and flows, if an edit left the earlier ones in place. */
  settleGroups(): void;
  /** The key index, if the one on disk is out of date. */
  keys(): KeyIndex | undefined;
  /** Writes edits to disk that it lacks. Does nothing if the graph was removed or replaced. */
  write(): void;
  drop(): void;
}

interface Parts {
  place: GraphPlace;
  store: GraphStore;
  reader: GraphReader;
  looker: Looker;
  loadGrammars(): Promise<Grammars>;
  slot: LiveSlot;
}

export function createLiveGraph({ place, store, reader, looker, loadGrammars, slot }: Parts): LiveGraph {
  let index: LiveIndex | undefined;
  let kept: { look: Look; commit: string } | undefined;
  let idle: ReturnType<typeof setTimeout> | undefined;
  let expecting: ReturnType<typeof setTimeout> | undefined;
  /** The generation that could not be opened because it is too large or damaged. */
  let unfit: number | undefined;

  function drop(): void {
    clearTimeout(idle);
    slot.leave(drop);
    // The graph that answers has edits that are not on disk, and nothing can continue it. The next question reads the
    // disk.
    if (index?.isAhead) reader.close();
    index = undefined;
    kept = undefined;
  }

  function findCurrent(): LiveIndex | undefined {
    if (index && index.generation !== store.readManifest()?.generation) drop();
    return index;
  }

  async function take(look: Look, commit: string): Promise<IndexReport | undefined> {
    const live = findCurrent();
    const known = live?.manifest ?? store.readManifest();
    if (live && known?.fingerprint === look.fingerprint) return reportOf(live.manifest, 0, false);
    if (!known || known.fingerprint === look.fingerprint) return undefined;
    const opened = live ? undefined : reader.openCurrent();
    const opening = opened && openLiveIndex(place.root, store, look, opened.graph);
    // Other threads compile grammars meanwhile.
    const [next, loaded] = await Promise.all([live ?? opening, loadNewest(loadGrammars(), look)]);
    if (!next) return undefined;
    const { graph, generation } = reader.openCurrent();
    if (generation !== next.generation || (opened && generation !== opened.generation)) return undefined;
    const edit = await next.edit(look, commit, graph, loaded);
    if (!edit || next.generation !== store.readManifest()?.generation) return undefined;
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
    const [look, known] = [kept?.look, store.readManifest()];
    const isCurrent = look !== undefined && look.fingerprint === known?.fingerprint;
    if (!isCurrent || known.generation === unfit || findCurrent() || !slot.isFree) return;
    const { graph } = reader.openCurrent();
    const [opened] = await Promise.all([
      openLiveIndex(place.root, store, look, graph),
      loadNewest(loadGrammars(), look),
    ]);
    if (!opened) unfit = known.generation;
    // Meanwhile an edit or a whole index may have been made.
    if (opened && opened.generation === store.readManifest()?.generation && !findCurrent() && slot.isFree) keep(opened);
  }

  function settleGroups(): void {
    const settled = findCurrent()?.settleGroups();
    if (settled) reader.replace(settled, "all");
  }

  return {
    manifest: () => findCurrent()?.manifest ?? store.readManifest(),
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
      const live = findCurrent();
      return live?.isAhead ? live.keys() : undefined;
    },
    write() {
      settleGroups();
      const live = findCurrent();
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

/** Looks at the files, and at the same time asks git for the current commit. */
export async function lookWithCommit(place: GraphPlace, looker: Looker): Promise<{ look: Look; commit: string }> {
  const commit = headCommit(place);
  return { look: await looker.look(), commit: await commit };
}

/**
 * Loads the grammar of the file that changed last, which is usually part of the edit. The edit loads other grammars
 * itself.
 */
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
