/** The header that names a request in audit logs and answers. */
const AUDIT_ID = "Audit-ID";

/** The id of a request: the client's own, or a new one. */
export function auditIdOf({ headers }: Request): string {
  return headers.get(AUDIT_ID) || crypto.randomUUID();
}

/**
 * Sets the headers of every answer: the request's id, and those for browsers. A browser must not guess the type, run the answer, frame it, or give it to a
 * page of another origin.
 */
export function withCommonHeaders(response: Response, id: string): Response {
  try {
    return named(response, id);
  } catch {
    // The headers of an answer that came from an object are read-only. Its body goes on untouched.
    return named(new Response(response.body, response), id);
  }
}

function named(response: Response, id: string): Response {
  response.headers.set(AUDIT_ID, id);
  response.headers.set("X-Content-Type-Options", "nosniff");
  response.headers.set("Content-Security-Policy", "default-src 'none'; frame-ancestors 'none'");
  response.headers.set("Cross-Origin-Resource-Policy", "same-origin");
  return response;
}
