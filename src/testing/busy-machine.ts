/** Bounds of time for tests, on machines that do other work as well. */
import { availableParallelism, loadavg } from "node:os";

/** The bound of an idle machine, as many times as there are programs for each processor. */
export const msWhenBusy = (ms: number): number => ms * Math.max(1, loadavg()[0]! / availableParallelism());

/** Processor time of this process so far, in ms: what others do on the machine does not count. */
export function processorMs(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1_000;
}
