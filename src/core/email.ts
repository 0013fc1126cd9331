/** E-mail addresses as names of accounts: one spelling each. */

/** TypeBox pattern of what is taken for an address; the mailbox itself is the only real proof. */
export const EMAIL_PATTERN = "^[^\\s@<>\"']{1,64}@[^\\s@<>\"'.]+(\\.[^\\s@<>\"'.]+)*$";
export const EMAIL_CHARACTERS = 254;

/** The form that is stored and compared: NFKC, trimmed, lower case. */
export const normalEmail = (email: string): string => email.normalize("NFKC").trim().toLowerCase();

/** The part after the last `@`, in normal form. */
export const domainOf = (email: string): string => {
  const normal = normalEmail(email);
  return normal.slice(normal.lastIndexOf("@") + 1);
};
