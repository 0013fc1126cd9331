/** The rights that a change depends on: those of the request it is made for. */
export interface Authority {
  /** Called first in each transaction that begins while the request runs. @throws Problem when the rights are gone. */
  assertHolds(): void;
  /** Called last in the same transaction: the change itself may have ended the rights, as a log-out does. */
  onChange(): void;
}
