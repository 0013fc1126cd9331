/** Volumes: folders on the engine's machine that outlive containers. */
import type Docker from "dockerode";
import { settle } from "./containers.ts";
import type { Engine } from "./failures.ts";

interface VolumeUse {
  name: string;
  labels: Record<string, string>;
  bytes: number;
  /** ISO 8601; empty when the engine does not tell. */
  createdAt: string;
}

/** The fields read from the engine's answer. */
interface Used {
  Volumes?:
    | { Name: string; Labels?: Record<string, string> | null; CreatedAt?: string; UsageData?: { Size: number } }[]
    | null;
}

export function createVolumeApi({ docker, call }: Engine) {
  return {
    /** Creates a volume, or finds the existing one with that name. @returns its folder on the engine's machine. */
    ensure: (name: string, labels: Record<string, string>): Promise<string> =>
      call(async () => {
        await docker().createVolume({ Name: name, Labels: labels });
        return (await docker().getVolume(name).inspect()).Mountpoint;
      }),
    /** Volumes that carry all of these labels (`key` or `key=value`). */
    list: (labels: readonly string[]) =>
      call(async () => {
        const { Volumes: rows } = await docker().listVolumes({ filters: { label: [...labels] } });
        return (rows ?? []).map((row) => ({ name: row.Name, labels: row.Labels ?? {} }));
      }),
    /** All volumes with their sizes. The engine walks all their files, so do not call this for every page request. */
    usage: (): Promise<VolumeUse[]> =>
      call(async () => {
        const { Volumes: rows } = await askUsage(docker);
        return (rows ?? []).map(({ Name: name, Labels, CreatedAt: createdAt = "", UsageData }) => ({
          name,
          labels: Labels ?? {},
          createdAt,
          bytes: Math.max(0, UsageData?.Size ?? 0),
        }));
      }),
    /** Removes a volume. It is no error if it is gone already. Throws `docker_conflict` while a container uses it. */
    remove: (name: string): Promise<void> => call(() => settle(docker().getVolume(name).remove(), [404])),
  };
}

const USAGE_TRIES = 120;
const USAGE_PAUSE_MS = 500;

/** Asks again while the engine measures for another caller: it refuses two measurements at once. */
async function askUsage(docker: () => Docker): Promise<Used> {
  for (let tries = 1; ; tries++) {
    try {
      return await docker().df();
    } catch (error) {
      const isBusy = error instanceof Error && error.message.includes("disk usage operation is already running");
      if (!isBusy || tries === USAGE_TRIES) throw error;
      await Bun.sleep(USAGE_PAUSE_MS);
    }
  }
}
