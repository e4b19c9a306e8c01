/**
 * Sets the header Age: how many seconds ago an answer was new (RFC 9111, section 5.1). `at` is in ms since the epoch; the clock may have been set
 * back since.
 */
export function withAge(response: Response, at: number): Response {
  response.headers.set("Age", String(Math.max(Math.floor((Date.now() - at) / 1_000), 0)));
  return response;
}
