/** One-time passwords and QR codes: the libraries' functions, loaded together. */
export { generateSecret, generateURI, verifySync } from "otplib";
export { renderSVG } from "uqr";
