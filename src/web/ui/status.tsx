/** Shows a state as an icon and a word, never by color alone. One table for everything that has states. */
import {
  Ban,
  CircleAlert,
  CircleCheck,
  CircleDashed,
  CircleDot,
  CirclePause,
  Clock,
  LoaderCircle,
  type LucideIcon,
  SkipForward,
} from "lucide-react";

interface Look {
  word: string;
  icon: LucideIcon;
  tone: string;
  spins?: boolean;
}

const quiet = "text-faint";
const LOOKS: Record<string, Look> = {
  pending: { word: "Pending", icon: CircleDashed, tone: quiet },
  queued: { word: "Queued", icon: Clock, tone: quiet },
  running: { word: "Running", icon: LoaderCircle, tone: "text-run", spins: true },
  waiting: { word: "Waits for you", icon: CirclePause, tone: "text-wait" },
  succeeded: { word: "Succeeded", icon: CircleCheck, tone: "text-ok" },
  failed: { word: "Failed", icon: CircleAlert, tone: "text-bad" },
  done: { word: "Done", icon: CircleCheck, tone: "text-ok" },
  passed: { word: "Passed", icon: CircleCheck, tone: "text-ok" },
  error: { word: "Could not be tried", icon: CircleAlert, tone: "text-wait" },
  sent: { word: "Sent", icon: CircleCheck, tone: "text-ok" },
  ignored: { word: "Ignored", icon: SkipForward, tone: quiet },
  cancelled: { word: "Cancelled", icon: Ban, tone: quiet },
  skipped: { word: "Skipped", icon: SkipForward, tone: quiet },
  planned: { word: "Planned", icon: Clock, tone: quiet },
  missed: { word: "Missed", icon: CircleAlert, tone: "text-wait" },
  blackout: { word: "Blackout", icon: Ban, tone: quiet },
  working: { word: "Working", icon: LoaderCircle, tone: "text-run", spins: true },
  idle: { word: "Idle", icon: CircleDot, tone: quiet },
  ready: { word: "Ready", icon: CircleDot, tone: quiet },
  away: { word: "Does not answer", icon: CircleAlert, tone: "text-bad" },
  draining: { word: "Draining", icon: LoaderCircle, tone: "text-wait" },
  drained: { word: "Drained", icon: CirclePause, tone: quiet },
  ended: { word: "Ended", icon: Ban, tone: quiet },
  ok: { word: "Well", icon: CircleCheck, tone: "text-ok" },
  degraded: { word: "Degraded", icon: CircleAlert, tone: "text-wait" },
};

export const statusWord = (status: string): string =>
  LOOKS[status]?.word ?? status.charAt(0).toUpperCase() + status.slice(1).replaceAll("_", " ");

export function Status({ status, bare = false }: { status: string; bare?: boolean }) {
  const { icon: Icon, tone, spins } = LOOKS[status] ?? { icon: CircleDot, tone: quiet };
  return (
    <span className={`text-sm font-medium whitespace-nowrap ${tone}`}>
      <Icon
        aria-hidden
        size={15}
        strokeWidth={2.2}
        className={`inline-block align-[-0.17em] ${bare ? "" : "mr-1.5"} ${spins ? "spin" : ""}`}
      />
      {bare ? <span className="sr-only">{statusWord(status)}</span> : statusWord(status)}
    </span>
  );
}
