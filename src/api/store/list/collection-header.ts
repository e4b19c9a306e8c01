/** How a CollectionRequest travels in the `fetch` of a store: headers are Latin-1, so it is URI-encoded JSON. */
import { parseJson } from "../../../core/encoding/exact-json";
import type { CollectionRequest } from "../../rpc/store";

export const COLLECTION_HEADER = "x-servicenet-collection";

/** Set by a store on an answer that is worth compressing, a list longer than COMPRESSIBLE_CHARS: its length in characters. */
export const COMPRESSIBLE_HEADER = "x-servicenet-compressible";
/** Upstream compresses answers of more than 128 KiB (apiserver endpoints/handlers/responsewriters). */
export const COMPRESSIBLE_CHARS = 128 * 1024;

/** The header's value for a request. */
export function encodeCollection(request: CollectionRequest): string {
  return encodeURIComponent(JSON.stringify(request));
}

/** The request that `encodeCollection` made. */
export function decodeCollection(header: string): CollectionRequest {
  return parseJson(decodeURIComponent(header)) as CollectionRequest;
}
