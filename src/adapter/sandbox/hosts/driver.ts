/**
 * Sandboxes on several engines: a driver made of drivers, each of which carries files to its machine and back. The
 * server's folders are authoritative, so when a machine is lost, its work continues on another one with what was
 * brought back.
 */
import { type Clock, systemClock } from "../../../core/clock.ts";
import { codeOf, messageOf, type Problem, unavailable } from "../../../core/errors.ts";
import { hasLabels, lackOfHost } from "../../../core/host-labels.ts";
import type { Sandbox, SandboxDriver, SandboxSpec } from "../../../engine/sandbox.ts";

export interface Host {
  name: string;
  /** Most sandboxes at the same time. */
  slots: number;
  /** Labels that work may ask for, besides the host's name. */
  labels: readonly string[];
  driver: SandboxDriver & { close(): Promise<void> };
  /** Rejects when the host does not answer. */
  ping(): Promise<void>;
}

export interface HostState {
  name: string;
  slots: number;
  used: number;
  /** Why nothing is started there; undefined while the host answers. */
  away: string | undefined;
  /** Whether the host is drained: nothing is started there until it is enabled again, and the work there ends. */
  drained: boolean;
}

/** A change of a host's reachability. */
export interface HostChange {
  name: string;
  change: "lost" | "back";
}

export interface HostedSandboxes extends SandboxDriver {
  /** Asks each host whether it answers. */
  look(): Promise<HostState[]>;
  /**
   * Drains or enables a host. A sandbox that waits there for its next turn counts as ended; the turn begins elsewhere.
   */
  setDrained(name: string, drained: boolean): void;
  /** Calls the listener when a host stops answering, or answers again. */
  onChange(listener: (change: HostChange) => void): void;
  close(): Promise<void>;
}

/** A host that did not answer is asked again after this time, ms. */
const AGAIN_MS = 5_000;

interface Machine extends Host {
  used: number;
  away: { why: string; at: number } | undefined;
  drained: boolean;
}

/** The files of one workspace, which are used on one machine at a time. */
interface Files {
  machine: Machine;
  /** The sandboxes that use the files now. They are aborted when the files go to another machine. */
  open: Set<AbortController>;
}

/** For this many workspaces without sandboxes, the last machine is remembered. */
const REMEMBERED = 1_000;

export function createHostedSandboxes(hosts: readonly [Host, ...Host[]], clock: Clock = systemClock): HostedSandboxes {
  const machines: Machine[] = hosts.map((host) => ({ ...host, used: 0, away: undefined, drained: false }));
  const listeners: ((change: HostChange) => void)[] = [];
  const files = new Map<string, Files>();
  /**
   * By execution: the machine that it is on or about to be started on, and the machines it has worked on, the latest
   * last.
   */
  const placed = new Map<string, { machine: Machine; worked: Machine[] }>();
  const { capabilities, noticeMs, about } = hosts[0].driver;

  function noteAnswer(machine: Machine, error?: unknown): void {
    const was = machine.away;
    machine.away = error === undefined ? undefined : { why: messageOf(error), at: clock.monotonic() };
    if ((was === undefined) === (machine.away === undefined)) return;
    const change = machine.away ? "lost" : "back";
    for (const listener of listeners) listener({ name: machine.name, change });
  }
  async function look(machine: Machine): Promise<void> {
    try {
      await machine.ping();
      noteAnswer(machine);
    } catch (error) {
      noteAnswer(machine, error);
    }
  }
  /** The machines on which a sandbox may be started, best first. */
  function listCandidates({ home, executionId, hostLabels = [] }: SandboxSpec): Machine[] {
    const known = files.get(home);
    // While others use the same files, a further sandbox must use the same copy, even beyond the machine's slots: it
    // belongs to work that has to end there.
    if (known && known.open.size > 0 && !known.machine.away)
      return hasLabels(known.machine, hostLabels) ? [known.machine] : [];
    // An execution does not return to a machine that it has left, where the files are outdated.
    const left = placed.get(executionId)?.worked.slice(0, -1) ?? [];
    const free = machines.filter(
      (machine) =>
        !machine.drained && machine.used < machine.slots && hasLabels(machine, hostLabels) && !left.includes(machine),
    );
    const rank = (machine: Machine) =>
      (machine.away ? 2 : 0) - (known?.machine === machine ? 1 : 0) + machine.used / machine.slots;
    return free.sort((one, other) => rank(one) - rank(other));
  }
  function place({ home, executionId }: SandboxSpec, machine: Machine): Files {
    placed.set(executionId, { machine, worked: placed.get(executionId)?.worked ?? [] });
    const known = files.get(home);
    files.delete(home);
    const now = known?.machine === machine ? known : { machine, open: new Set<AbortController>() };
    files.set(home, now);
    if (now !== known)
      for (const one of known?.open ?? []) one.abort(createLostProblem("its files are worked on elsewhere now"));
    for (const [path, { open }] of files) {
      if (files.size <= REMEMBERED) break;
      if (open.size === 0) files.delete(path);
    }
    return now;
  }
  function toFull(reasons: readonly string[], { home, hostLabels = [] }: Partial<SandboxSpec> = {}): Problem {
    const lack = lackOfHost(machines, hostLabels);
    if (lack !== undefined) return unavailable("sandbox_unavailable", `${lack}. The work waits.`);
    const fitting = machines.filter((machine) => hasLabels(machine, hostLabels));
    const busy = fitting.filter(({ used, slots, drained }) => !drained && used >= slots);
    const drained = fitting.filter((machine) => machine.drained);
    const holder = files.get(home ?? "");
    const isElsewhere = holder && holder.open.size > 0 && !hasLabels(holder.machine, hostLabels);
    const all = [
      ...reasons,
      ...(isElsewhere ? [`its files are worked on at ${holder.machine.name}, which has not all of its labels`] : []),
      ...busy.map(({ name, used, slots }) => `${name} has ${used} of ${slots} sandboxes`),
      ...drained.map(({ name }) => `${name} is drained`),
    ];
    const why = all.map((reason) => reason.replace(/\.$/, "")).join("; ");
    return unavailable("sandbox_unavailable", `No host can take the work now: ${why}. It waits.`);
  }

  async function start(spec: SandboxSpec, signal: AbortSignal): Promise<Sandbox> {
    const reasons: string[] = [];
    for (const machine of machines)
      if (machine.away && clock.monotonic() - machine.away.at >= AGAIN_MS) void look(machine);
    for (const machine of listCandidates(spec)) {
      signal.throwIfAborted();
      if (machine.away) await look(machine);
      if (machine.away) {
        reasons.push(`${machine.name}: ${machine.away.why}`);
        continue;
      }
      const own = place(spec, machine);
      const losing = new AbortController();
      own.open.add(losing);
      machine.used += 1;
      const release = () => {
        if (own.open.delete(losing)) machine.used -= 1;
      };
      try {
        const sandbox = await machine.driver.start(spec, signal);
        const worked = placed.get(spec.executionId)?.worked ?? [];
        if (worked.at(-1) !== machine) worked.push(machine);
        placed.set(spec.executionId, { machine, worked });
        return wrap(machine, sandbox, { losing, release, look: () => look(machine) });
      } catch (error) {
        release();
        if (codeOf(error) !== "sandbox_unavailable") throw error;
        await look(machine);
        reasons.push(`${machine.name}: ${messageOf(error)}`);
      }
    }
    throw toFull(reasons, spec);
  }

  return {
    name: "docker",
    capabilities,
    noticeMs,
    start,
    async about(spec) {
      const [known] = listCandidates(spec);
      return await (known?.driver.about ?? about)(spec);
    },
    async sweep(isLive) {
      const all = await Promise.all(
        machines.map(async (machine) => {
          const isHere = (id: string) => isLive(id) && (placed.get(id)?.machine ?? machine) === machine;
          try {
            const swept = await machine.driver.sweep(isHere);
            noteAnswer(machine);
            return swept;
          } catch (error) {
            noteAnswer(machine, error);
            // Nothing on a lost machine affects the server's files, because it only has copies.
            return { removed: 0, left: [] };
          }
        }),
      );
      if (machines.every(({ away }) => away)) throw toFull(machines.map(({ name, away }) => `${name}: ${away?.why}`));
      for (const id of placed.keys()) if (!isLive(id)) placed.delete(id);
      return { removed: all.reduce((sum, { removed }) => sum + removed, 0), left: all.flatMap(({ left }) => left) };
    },
    async look() {
      await Promise.all(machines.map(look));
      return machines.map(({ name, slots, used, away, drained }) => ({ name, slots, used, away: away?.why, drained }));
    },
    setDrained(name, drained) {
      for (const machine of machines) if (machine.name === name) machine.drained = drained;
    },
    onChange: (listener) => void listeners.push(listener),
    close: async () => void (await Promise.allSettled(machines.map(({ driver }) => driver.close()))),
  };
}

const createLostProblem = (why: string): Problem => unavailable("sandbox_lost", `The sandbox is gone: ${why}.`);

interface Own {
  /** Aborted when the machine is lost. */
  losing: AbortController;
  /** Frees the slot. */
  release(): void;
  /** Checks whether the machine answers. */
  look(): Promise<void>;
}

/**
 * Wraps a sandbox whose machine may be lost. If it cannot be stopped there, that does no harm: it no longer carries
 * files back.
 */
function wrap(machine: Machine, sandbox: Sandbox, own: Own): Sandbox {
  const { losing, release, look } = own;
  const guard = async <T>(act: () => Promise<T>): Promise<T> => {
    losing.signal.throwIfAborted();
    try {
      return await act();
    } catch (error) {
      if (codeOf(error) === "sandbox_lost" || codeOf(error) === "sandbox_unavailable") await look();
      throw error;
    }
  };
  /** Runs `act`. If it fails because the machine does not answer, the sandbox counts as lost instead. */
  const orAway = async (act: () => Promise<void>): Promise<void> => {
    try {
      await act();
    } catch (error) {
      await look();
      if (!machine.away) throw error;
      losing.abort(createLostProblem(`${machine.name} does not answer`));
    }
  };
  const { workspace } = sandbox;
  return {
    capabilities: sandbox.capabilities,
    workspace: {
      read: (path) => guard(() => workspace.read(path)),
      write: (path, data) => guard(() => workspace.write(path, data)),
      list: (path) => guard(() => workspace.list(path)),
      walk: (path, options) => guard(() => workspace.walk(path, options)),
      bringBack: () => guard(() => workspace.bringBack()),
    },
    exec: (argv, options) => guard(() => sandbox.exec(argv, options)),
    open: (program, events, signal) => guard(() => sandbox.open(program, events, signal)),
    openRoute: (onConnection) => guard(() => sandbox.openRoute(onConnection)),
    connect: (port) => guard(() => sandbox.connect(port)),
    thaw: () => guard(() => sandbox.thaw()),
    freeze: () => orAway(() => sandbox.freeze()),
    isAlive: async () => !losing.signal.aborted && !machine.drained && (await sandbox.isAlive()),
    async stop() {
      await orAway(() => sandbox.stop());
      losing.abort(createLostProblem("it was ended"));
      release();
    },
  };
}
