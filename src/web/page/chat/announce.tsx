/** Tells screen readers that a reply is complete. That it failed is an alert of its own. */
import { useEffect, useRef, useState } from "react";

interface AnnounceProps {
  agent: string;
  busy: boolean;
  /** How the newest reply ended; undefined while that is not known. */
  status: unknown;
}

export function Announce({ agent, busy, status }: AnnounceProps) {
  const wasBusy = useRef(busy);
  const [said, setSaid] = useState("");
  useEffect(() => {
    if (busy) {
      wasBusy.current = true;
      setSaid("");
    } else if (wasBusy.current && status !== undefined) {
      wasBusy.current = false;
      if (status === "succeeded") setSaid(`${agent} has answered.`);
      if (status === "cancelled") setSaid("The reply is stopped.");
    }
  }, [busy, status, agent]);
  return (
    <p role="status" className="sr-only">
      {said}
    </p>
  );
}
