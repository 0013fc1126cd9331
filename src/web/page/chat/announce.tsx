/** Tells screen readers that a reply is complete. */
import { useEffect, useRef, useState } from "react";

export function Announce({ agent, busy }: { agent: string; busy: boolean }) {
  const before = useRef(busy);
  const [said, setSaid] = useState("");
  useEffect(() => {
    if (before.current && !busy) setSaid(`${agent} has answered.`);
    if (busy) setSaid("");
    before.current = busy;
  }, [busy, agent]);
  return (
    <p role="status" className="sr-only">
      {said}
    </p>
  );
}
