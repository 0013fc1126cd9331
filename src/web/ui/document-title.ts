/** The title of the window: how much waits for the reader, the page, the product. */
let page = "";
let waiting = "";

/** @param change the heading of the page that is shown, or how many approvals wait, such as `20+`. */
export function setDocumentTitle(change: { page?: string; waiting?: string }): void {
  page = change.page ?? page;
  waiting = change.waiting ?? waiting;
  document.title = `${waiting ? `(${waiting}) ` : ""}${page ? `${page} · ` : ""}Skep`;
}
