export { plainLog as logText } from "../../core/plain-log.ts";
