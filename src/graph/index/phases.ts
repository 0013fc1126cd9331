/** The progress of an index job, phase by phase. */
import { PHASES, type PhaseName } from "../model.ts";

export interface PhaseReport {
  name: PhaseName;
  state: "pending" | "running" | "done" | "failed";
  /** 0–100. */
  percent: number;
  done: number;
  total: number;
  /** RFC 3339, UTC. */
  started_at?: string;
  finished_at?: string;
}

export interface Phases {
  list: PhaseReport[];
  start(name: PhaseName, total: number): void;
  step(name: PhaseName, done: number): void;
  end(name: PhaseName): void;
}

const readNow = () => new Date().toISOString();

/** @param progress called when a phase begins or ends, and in between at most every 50 ms */
export function createPhases(progress?: (phases: readonly PhaseReport[]) => void): Phases {
  const list = PHASES.map((name): PhaseReport => ({ name, state: "pending", percent: 0, done: 0, total: 0 }));
  const find = (name: PhaseName) => list[PHASES.indexOf(name)]!;
  let lastTold = 0;
  const report = (always: boolean) => {
    const now = Date.now();
    if (!always && now - lastTold < 50) return;
    lastTold = now;
    progress?.(list);
  };
  return {
    list,
    start(name, total) {
      Object.assign(find(name), { state: "running", total, done: 0, percent: 0, started_at: readNow() });
      report(true);
    },
    step(name, done) {
      const phase = find(name);
      phase.done = done;
      phase.percent = phase.total === 0 ? 100 : Math.floor((100 * done) / phase.total);
      report(false);
    },
    end(name) {
      const phase = find(name);
      phase.started_at ??= readNow();
      Object.assign(phase, { state: "done", done: phase.total, percent: 100, finished_at: readNow() });
      report(true);
    },
  };
}
