/** Copies text to the clipboard. It also works on plain http, where browsers hide `navigator.clipboard`. */
import { notify } from "./notice.tsx";

/**
 * Copies a text. Call it in response to a click. Notifies the person if the browser refuses. @returns whether it was
 * copied.
 */
export async function copyText(text: string): Promise<boolean> {
  const copied = await navigator.clipboard?.writeText(text).then(
    () => true,
    () => false,
  );
  if (copied || copyByCommand(text)) return true;
  notify("The browser does not let this page copy. Select the text and copy it yourself.");
  return false;
}

function copyByCommand(text: string): boolean {
  const fill = (event: ClipboardEvent) => {
    event.clipboardData?.setData("text/plain", text);
    event.preventDefault();
  };
  document.addEventListener("copy", fill);
  const copied = document.execCommand("copy");
  document.removeEventListener("copy", fill);
  return copied;
}
