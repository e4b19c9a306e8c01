/** Lists as text: an envelope around stored rows, and the tokens that continue them (upstream apiserver storage/continue.go). */
import { err, ok } from "../../core/base/result";
import type { Result } from "../../core/base/result";
import { decodeBase64Url, encodeBase64Url } from "./base64";
import { typeHead } from "./type-meta";

export interface ListMeta {
  resourceVersion: string;
  /** absent or "" on the last page */
  continue?: string;
  /** absent when unknown (selectors) or on the last page */
  remainingItemCount?: number;
}

/** The metadata member of a list or table, as JSON text. */
export function listMetaText(meta: ListMeta): string {
  let text = `{"resourceVersion":${JSON.stringify(meta.resourceVersion)}`;
  if (meta.continue) text += `,"continue":${JSON.stringify(meta.continue)}`;
  if (meta.remainingItemCount !== undefined) text += `,"remainingItemCount":${meta.remainingItemCount}`;
  return `${text}}`;
}

/** What stands before the first and after the last row, so that a list can be streamed; rows are joined by ",". */
export interface Envelope {
  head: string;
  tail: string;
}

/** `kind` is the item's kind: `Service` gives a `ServiceList`. Items carry neither kind nor apiVersion, as upstream's do. */
export function listEnvelope(kind: string, apiVersion: string, meta: ListMeta): Envelope {
  return { head: `${typeHead(`${kind}List`, apiVersion)},"metadata":${listMetaText(meta)},"items":[`, tail: "]}" };
}

/** The place where a list goes on; opaque to clients. */
export interface ContinueToken {
  /** revision of the first page's snapshot; -1 = go on at the newest revision (the token of a 410 answer) */
  revision: number;
  /** the last key that was sent: `namespace/name` (or the name of a cluster-scoped object); the next page starts after it */
  start: string;
  /** the store's incarnation: a token of another incarnation is expired (rule 22) */
  incarnation: string;
}

const TOKEN_VERSION = "meta.k8s.io/v1";

export function encodeContinue(token: ContinueToken): string {
  return encodeBase64Url(JSON.stringify({ v: TOKEN_VERSION, rv: token.revision, start: token.start, incarnation: token.incarnation }));
}

/** The error is the whole text of the 400. */
export function decodeContinue(text: string): Result<ContinueToken, string> {
  const refuse = (why: string): Result<ContinueToken, string> => err(`invalid continue token: continue key is not valid: ${why}`);
  const json = decodeBase64Url(text);
  if (json === undefined) return refuse("illegal base64 data");
  let parsed: unknown;
  try {
    parsed = JSON.parse(json);
  } catch {
    return refuse("not JSON");
  }
  if (typeof parsed !== "object" || parsed === null) return refuse("not an object");
  const { v, rv, start, incarnation } = parsed as Record<string, unknown>;
  if (v !== TOKEN_VERSION) return refuse("server does not recognize this encoded version");
  if (typeof rv !== "number" || !Number.isSafeInteger(rv) || rv === 0 || rv < -1) return refuse("incorrect encoded start resourceVersion");
  if (typeof start !== "string" || start === "") return refuse("encoded start key empty");
  if (typeof incarnation !== "string") return refuse("incorrect encoded incarnation");
  return ok({ revision: rv, start, incarnation });
}
