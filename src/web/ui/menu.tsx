/** A menu that a button opens. It uses the browser's popover, which closes on Escape and on a click elsewhere. */
import type { LucideIcon } from "lucide-react";
import { cloneElement, type KeyboardEvent, type ReactElement, useId, useRef, useState } from "react";
import { flushSync } from "react-dom";

interface MenuItem {
  label: string;
  icon?: LucideIcon;
  danger?: boolean;
  disabled?: boolean;
  act(): void;
}

type TriggerProps = { id?: string; "aria-haspopup"?: "menu"; onClick?(): void };

const GAP_PX = 4;

interface MenuProps {
  trigger: ReactElement<TriggerProps>;
  /** Null draws a separator; false is left out. */
  items: (MenuItem | null | false)[];
  /** Size in px. */
  iconSize?: number;
}

export function Menu({ trigger, items, iconSize = 14 }: MenuProps) {
  const id = useId();
  const menu = useRef<HTMLDivElement>(null);
  // Items are rendered only when the menu opens, because a list of a thousand rows has a thousand menus.
  const [shown, setShown] = useState(false);
  const findButton = () => document.getElementById(`${id}-button`);
  const open = () => {
    const at = findButton()?.getBoundingClientRect();
    const box = menu.current;
    if (!at || !box) return;
    flushSync(() => setShown(true));
    box.showPopover();
    const below = innerHeight - at.bottom > box.offsetHeight + GAP_PX;
    box.style.top = `${below ? at.bottom + GAP_PX : Math.max(GAP_PX, at.top - box.offsetHeight - GAP_PX)}px`;
    box.style.left = `${Math.max(GAP_PX, Math.min(at.left, innerWidth - box.offsetWidth - GAP_PX))}px`;
    box.querySelector<HTMLElement>("[role=menuitem]")?.focus();
  };
  const close = () => {
    menu.current?.hidePopover();
    findButton()?.focus();
  };
  const move = (event: KeyboardEvent) => {
    const all = [...(menu.current?.querySelectorAll<HTMLElement>("[role=menuitem]:not(:disabled)") ?? [])];
    const at = document.activeElement instanceof HTMLElement ? all.indexOf(document.activeElement) : -1;
    const next = { ArrowDown: at + 1, ArrowUp: at - 1, Home: 0, End: -1 }[event.key];
    if (event.key === "Tab" || event.key === "Escape") return close();
    if (next === undefined) return;
    event.preventDefault();
    all.at(next % all.length)?.focus();
  };
  return (
    <>
      {cloneElement(trigger, { id: `${id}-button`, "aria-haspopup": "menu", onClick: open })}
      <div
        ref={menu}
        popover="auto"
        role="menu"
        tabIndex={-1}
        aria-labelledby={`${id}-button`}
        onKeyDown={move}
        onToggle={(event) => event.newState === "closed" && setShown(false)}
        className="m-0 min-w-48 rounded-lg border border-line bg-panel p-1 text-ink shadow-xl"
      >
        {(shown ? items.filter((item) => item !== false) : []).map((item, at) =>
          item === null ? (
            // biome-ignore lint/a11y/useSemanticElements: within a menu only a separator is allowed.
            <div key={`line-${at.toString()}`} role="separator" className="my-1 h-px bg-line" />
          ) : (
            <button
              key={item.label}
              type="button"
              role="menuitem"
              tabIndex={-1}
              disabled={item.disabled}
              onClick={() => {
                close();
                item.act();
              }}
              className={`flex w-full items-center gap-2 rounded-md px-2 py-1.5 text-left text-sm -outline-offset-2 focus:bg-hover hover:bg-hover disabled:opacity-50 max-sm:min-h-11 ${item.danger ? "text-bad" : ""}`}
            >
              {item.icon && <item.icon aria-hidden size={iconSize} />}
              {item.label}
            </button>
          ),
        )}
      </div>
    </>
  );
}
