/** The header that names a request in audit logs and answers. */
export const AUDIT_ID = "Audit-ID";

/** The answer with its request's id. */
export function withAuditId(response: Response, id: string): Response {
  try {
    response.headers.set(AUDIT_ID, id);
    return response;
  } catch {
    // The headers of an answer that came from an object are read-only. Its body goes on untouched.
    const named = new Response(response.body, response);
    named.headers.set(AUDIT_ID, id);
    return named;
  }
}
