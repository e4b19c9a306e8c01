/** PartialObjectMetadata and its list (upstream apimachinery pkg/apis/meta/v1): metadata alone, from stored text. `version` is of meta.k8s.io. */
import { parseJson } from "../../core/encoding/exact-json";
import { listMetaText } from "./list";
import type { Envelope, ListMeta } from "./list";
import { typeHead } from "./type-meta";

const GROUP = "meta.k8s.io";

/** The text of one PartialObjectMetadata. */
export function partialText(version: string, metadata: unknown): string {
  return `${typeHead("PartialObjectMetadata", `${GROUP}/${version}`)},"metadata":${JSON.stringify(metadata)}}`;
}

/** The same from the stored text of an object. */
export function partialOfStored(version: string, stored: string): string {
  const { metadata } = parseJson(stored) as { metadata?: unknown };
  return partialText(version, metadata ?? {});
}

/** Rows are results of partialText, joined by ",". Unlike rows of other lists they carry kind and apiVersion. */
export function partialListEnvelope(version: string, meta: ListMeta): Envelope {
  const head = typeHead("PartialObjectMetadataList", `${GROUP}/${version}`);
  return { head: `${head},"metadata":${listMetaText(meta)},"items":[`, tail: "]}" };
}
