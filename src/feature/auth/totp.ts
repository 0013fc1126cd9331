/** The library functions for one-time passwords and QR codes, in one module so that they load together. */
export { generateSecret, generateURI, verifySync } from "otplib";
export { renderSVG } from "uqr";
