/** One-time passwords and their picture, as their libraries have them. */
export { generateSecret, generateURI, verifySync } from "otplib";
export { renderSVG } from "uqr";
