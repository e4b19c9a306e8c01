/** The first step of a restore, and the step after a recovery of single objects: the stores begin above what clients have seen (rule 32). */
import type { Api } from "../cluster/api";
import { UserError } from "../terminal/user-error";

/** Where each store begins, by resource. undefined: the server is another one, or of a release before. Throws UserError when it refuses. */
export async function beginAbove(api: Api, body: object): Promise<Record<string, string> | undefined> {
  const { code, message, object } = await api.post("/revisions", body);
  if (code === 404) return undefined;
  if (code >= 300) throw new UserError(`${api.url} does not begin above what clients have seen: ${code} ${message}`);
  return (object as { revisions?: Record<string, string> }).revisions ?? {};
}
