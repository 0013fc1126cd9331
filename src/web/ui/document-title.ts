/** The window's title: the number of waiting approvals, the page, and the product. */
let page = "";
let waiting = "";

/** @param change the heading of the current page, or how many approvals wait, such as `20+`. */
export function setDocumentTitle(change: { page?: string; waiting?: string }): void {
  page = change.page ?? page;
  waiting = change.waiting ?? waiting;
  document.title = `${waiting ? `(${waiting}) ` : ""}${page ? `${page} · ` : ""}Skep`;
}
