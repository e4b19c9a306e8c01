/**
 * Fencing: a leader that is late, because it slept or because its network did, changes nothing that a later leader has touched.
 *
 * A protected object carries the greatest token that has written it, in an annotation. A write reads the object, refuses when the annotation
 * is greater than its own token, puts its token there, and writes with the object's resourceVersion as precondition. So every API server checks
 * the token, and a write by another leader between the read and the write is noticed. A leader that wants to fence off its predecessor
 * from an object writes the object once at the beginning of its term.
 *
 * Tokens are resourceVersions of one Lease. They grow as long as the API server keeps its data. A Servicenet that is restored from a backup begins
 * above them (rule 32). Another server may begin lower: then the annotations have to be removed.
 */
import type { KubeObject } from "../../api/meta/kubernetes";
import { ownAnnotation, valuesOfOwn, writtenOwn } from "../../api/meta/own-annotation";
import type { Clock } from "../../core/base/ports";
import { err, ok, type Result } from "../../core/base/result";
import { ObjectClient, type SendLike } from "./send-like";
import type { Term } from "./term";

/** The annotation of a protected object: the token of its last writer. */
export const FENCING_TOKEN = ownAnnotation("fencing-token");

const TIMEOUT_MS = 5_000;

/** Whether the first of two tokens is the later one. They are decimal numbers of any length. */
export function isLaterToken(token: string, than: string): boolean {
  return token.length === than.length ? token > than : token.length > than.length;
}

/** The object with the token in its annotation; refused when a later leader, `by`, has written it. */
export function fenced<T extends KubeObject>(object: T, token: string): Result<T, { reason: "fenced"; by: string }> {
  const annotations = object.metadata?.annotations ?? {};
  const by = valuesOfOwn(annotations, FENCING_TOKEN).find((written) => isLaterToken(written, token));
  if (by !== undefined) return err({ reason: "fenced", by });
  return ok({ ...object, metadata: { ...object.metadata, annotations: { ...annotations, ...writtenOwn(FENCING_TOKEN, token) } } });
}

export type FencedRefusal = { reason: "fenced"; by: string } | { reason: "missing" } | { reason: "ended" };

export interface FencedChange<T extends KubeObject> {
  readonly send: SendLike;
  readonly clock: Pick<Clock, "after">;
  readonly term: Pick<Term, "token" | "isValid">;
  /** of the object, below the cluster's URL */
  readonly path: string;
  /** Called with what is stored, once more after each lost race. */
  change(object: T): T;
}

/**
 * Changes a protected object. Refusals: a later leader has written it, there is no such object, the term has ended. Throws what the server
 * refuses otherwise, and when it does not answer: then the change may have been made.
 */
export async function changeFenced<T extends KubeObject>({
  send,
  clock,
  term,
  path,
  change,
}: FencedChange<T>): Promise<Result<T, FencedRefusal>> {
  const client = new ObjectClient<T>(send, clock);
  while (term.isValid) {
    const stored = await client.get(path, TIMEOUT_MS);
    if (!stored) return err({ reason: "missing" });
    const next = fenced(change(stored), term.token);
    if (!next.ok) return next;
    const answer = await client.replace(path, next.value, TIMEOUT_MS);
    if (answer.kind === "stored") return ok(answer.object);
    if (answer.kind === "missing") return err({ reason: "missing" });
  }
  return err({ reason: "ended" });
}
