/**
 * Drag and drop; the only module that uses the library. Everything that can be dragged can also be moved through its
 * menu.
 */
import {
  closestCorners,
  DndContext,
  DragOverlay,
  MouseSensor,
  TouchSensor,
  useDraggable,
  useDroppable,
  useSensor,
  useSensors,
} from "@dnd-kit/core";
import { type ReactNode, useState } from "react";

/** Where something was dropped: on a column, or on a card in it. */
export interface Drop {
  moved: string;
  onto: string;
}

/** @param onDrop receives the ids that were given to `Draggable` and `DropZone`. */
export function DragArea({
  children,
  overlay,
  onDrop,
}: {
  children: ReactNode;
  overlay(id: string): ReactNode;
  onDrop(drop: Drop): void;
}) {
  const [moving, setMoving] = useState<string | null>(null);
  const sensors = useSensors(
    useSensor(MouseSensor, { activationConstraint: { distance: 6 } }),
    // With a delay, a swipe scrolls the page and holding a card picks it up.
    useSensor(TouchSensor, { activationConstraint: { delay: 250, tolerance: 8 } }),
  );
  return (
    <DndContext
      sensors={sensors}
      collisionDetection={closestCorners}
      onDragStart={({ active }) => setMoving(String(active.id))}
      onDragCancel={() => setMoving(null)}
      onDragEnd={({ active, over }) => {
        setMoving(null);
        if (over && over.id !== active.id) onDrop({ moved: String(active.id), onto: String(over.id) });
      }}
    >
      {children}
      <DragOverlay dropAnimation={null}>{moving && overlay(moving)}</DragOverlay>
    </DndContext>
  );
}

/**
 * A card that can be picked up by mouse or by a long touch, and before which another card can be dropped.
 * @param props.fixed whether the person may not move it.
 */
export function Draggable({ id, fixed, children }: { id: string; fixed: boolean; children: ReactNode }) {
  const drag = useDraggable({ id, disabled: fixed });
  const drop = useDroppable({ id });
  return (
    <div
      ref={(node) => {
        drag.setNodeRef(node);
        drop.setNodeRef(node);
      }}
      {...drag.listeners}
      className={`${drag.isDragging ? "opacity-40" : ""} ${drop.isOver && !drag.isDragging ? "border-t-2 border-accent pt-1" : ""}`}
    >
      {children}
    </div>
  );
}

export function DropZone({ id, children, className = "" }: { id: string; children: ReactNode; className?: string }) {
  const { setNodeRef, isOver } = useDroppable({ id });
  return (
    <div ref={setNodeRef} className={`${className} ${isOver ? "bg-hover" : ""}`}>
      {children}
    </div>
  );
}
