/**
 * Tables, which `kubectl get` asks for (upstream apimachinery pkg/apis/meta/v1 Table). Every column is always sent; the client hides those of priority > 0.
 * All functions return JSON text: lists stream row by row, and watchers share one encoding.
 */
import type { KubeObject } from "./kubernetes";
import { listMetaText } from "./list";
import type { Envelope, ListMeta } from "./list";
import { partialText } from "./partial";
import { spliceTypeMeta, typeHead } from "./type-meta";

/** What each row's `object` holds: metadata alone, the whole object, or null. */
export type IncludeObject = "Metadata" | "Object" | "None";

export interface Column {
  name: string;
  type: string;
  format: string;
  description: string;
  priority: number;
}

/** The only condition that a row can have: its object has run to its end. */
export interface RowCondition {
  type: "Completed";
  status: "True";
  reason: string;
  message: string;
}

export interface TableForm {
  /** v1 or v1beta1, of meta.k8s.io */
  version: string;
  columns: readonly Column[];
  /** conditions of an object's row; absent = no row has any */
  rowConditions?(object: KubeObject): readonly RowCondition[];
  includeObject: IncludeObject;
  /** of `typeHead`, for whole objects in rows */
  objectHead: string;
}

/** The `includeObject` of a request; the error is the whole text of the 400. */
export function parseIncludeObject(value: string): { ok: true; value: IncludeObject } | { ok: false; error: string } {
  if (value === "" || value === "Metadata") return { ok: true, value: "Metadata" };
  if (value === "Object" || value === "None") return { ok: true, value };
  const detail = "must be 'Metadata', 'Object', 'None', or empty";
  return {
    ok: false,
    error: `Unable to convert to Table as requested: includeObject: Invalid value: ${JSON.stringify(value)}: ${detail}`,
  };
}

function columnsText(columns: readonly Column[]): string {
  return JSON.stringify(columns.map(({ name, type, format, description, priority }) => ({ name, type, format, description, priority })));
}

/** One row. `object` is the parsed form of `stored`. */
export function tableRow(form: TableForm, cells: readonly unknown[], object: KubeObject, stored: string): string {
  let shown = "null";
  if (form.includeObject === "Metadata") shown = partialText(form.version, object.metadata ?? {});
  else if (form.includeObject === "Object") shown = spliceTypeMeta(form.objectHead, stored);
  const conditions = form.rowConditions?.(object) ?? [];
  const conditionsText = conditions.length === 0 ? "" : `"conditions":${JSON.stringify(conditions)},`;
  return `{"cells":${JSON.stringify(cells)},${conditionsText}"object":${shown}}`;
}

/** The text around rows that are joined by ",". */
export function tableEnvelope(form: TableForm, meta: ListMeta): Envelope {
  return envelope(form.version, listMetaText(meta), columnsText(form.columns));
}

function envelope(version: string, metadata: string, columns: string): Envelope {
  const head = typeHead("Table", `meta.k8s.io/${version}`);
  return { head: `${head},"metadata":${metadata},"columnDefinitions":${columns},"rows":[`, tail: "]}" };
}

/**
 * The one-row table of a watch event. The first event of a stream (`first`) has the column definitions; later ones have null.
 * So watchers that share encodings need at most two texts of each event.
 */
export function eventTable(form: TableForm, row: string, resourceVersion: string, first: boolean): string {
  const { head, tail } = envelope(form.version, listMetaText({ resourceVersion }), first ? columnsText(form.columns) : "null");
  return head + row + tail;
}
