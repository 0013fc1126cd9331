/** E-mail addresses as account names, each in one normal form. */

/** Pattern of addresses that are accepted. Only a mail that arrives proves that an address exists. */
export const EMAIL_PATTERN = "^[^\\s@<>\"']{1,64}@[^\\s@<>\"'.]+(\\.[^\\s@<>\"'.]+)*$";
export const EMAIL_CHARACTERS = 254;

/** The form that is stored and compared: NFKC, trimmed, lower case. */
export const normalEmail = (email: string): string => email.normalize("NFKC").trim().toLowerCase();

const EMAIL = new RegExp(EMAIL_PATTERN);
/** Whether a normalized text is the address of one mailbox. */
export const isEmail = (normal: string): boolean => normal.length <= EMAIL_CHARACTERS && EMAIL.test(normal);

/** The part after the last `@`, in normal form. */
export const domainOf = (email: string): string => {
  const normal = normalEmail(email);
  return normal.slice(normal.lastIndexOf("@") + 1);
};
