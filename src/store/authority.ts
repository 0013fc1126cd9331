/** Whose rights a change depends on: those of the request that it is made for. */
export interface Authority {
  /** Called in each transaction that begins while the request runs, first. @throws Problem when the rights are gone. */
  assertHolds(): void;
  /** Called in it again, last: the change may itself have ended the rights, as a log-out does. */
  changed(): void;
}
