/** Lists as text: an envelope around stored rows. */
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
