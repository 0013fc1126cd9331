/** A pipeline's steps as a graph. Each step opens a form that changes the text. */
import { Pencil, Plus } from "lucide-react";
import { useMemo, useState } from "react";
import { parse } from "yaml";
import { Button } from "../../ui/button.tsx";
import { lazy } from "../../ui/lazy.tsx";
import { Loading } from "../../ui/note.tsx";
import { plansOf } from "./picture.ts";
import { StepForm } from "./step-form.tsx";

const RunGraph = lazy(() => import("../run/run-graph.tsx"), <Loading rows={6} />);

interface PictureProps {
  source: string;
  /** Replaces the whole text; undefined for people who may not change it. */
  change?: (source: string) => void;
}

/** Shows the steps as they would run. While the text cannot be parsed, it shows the last valid steps. */
export default function PipelinePicture({ source, change }: PictureProps) {
  const [editing, edit] = useState<string>();
  const [last, setLast] = useState<ReturnType<typeof plansOf>>([]);
  const plans = useMemo(() => {
    try {
      return plansOf(parse(source));
    } catch {
      return undefined;
    }
  }, [source]);
  if (plans && plans.length > 0 && JSON.stringify(plans) !== JSON.stringify(last)) setLast(plans);
  if (last.length === 0) return <p className="text-dim">The picture appears when the text has steps.</p>;
  return (
    <div className="min-w-0">
      <RunGraph steps={last} plain {...(change ? { onPick: edit } : {})} {...(editing ? { current: editing } : {})} />
      {change && (
        <div className="mt-2 flex flex-wrap gap-1.5">
          {last.map(({ id, name }) => (
            <Button label={name} key={id} disabled={!plans} icon={Pencil} iconSize={13} onClick={() => edit(id)} />
          ))}
          <Button label="Add a step" disabled={!plans} icon={Plus} onClick={() => edit("")} />
        </div>
      )}
      {change && plans && editing !== undefined && (
        <StepForm
          key={editing}
          source={source}
          steps={plans}
          id={editing}
          onChange={change}
          onClose={() => edit(undefined)}
        />
      )}
    </div>
  );
}
