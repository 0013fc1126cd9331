/** Names of members of PHP's library, and of the interfaces in PHP's standard recommendations (PSR). */
import { plainLibrary } from "../library.ts";

export const PHP_LIBRARY = plainLibrary(`
  getMessage getCode getPrevious getFile getLine getTrace getTraceAsString current rewind valid offsetExists
  offsetGet offsetSet offsetUnset getIterator jsonSerialize serialize unserialize modify setTimezone setTime
  setDate getTimestamp getTimezone diff fetchAll fetchColumn prepare bindValue bindParam beginTransaction rollBack
  lastInsertId rowCount getName getShortName newInstance newInstanceArgs invoke getAttributes bindTo fromCallable
  getReturn attach detach unshift enqueue dequeue extract isEmpty toArray warning notice alert emergency critical
  getBody getHeaders getHeaderLine withHeader getStatusCode getUri getMethod getContents eof tell getSize substring
  toString
`);
