/** Dragging; the only file that uses the library. What can be dragged can also be moved by the card's menu. */
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

/** Where something was dropped: on a column, or on a card of it. */
export interface Drop {
  moved: string;
  onto: string;
}

/** @param onDrop ids as `Draggable` and `DropZone` were given them. */
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
    // A swipe scrolls; holding a card picks it up.
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
 * A card: picked up by mouse or by a long touch, and a place to drop before.
 * @param props.fixed one may not move it.
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
