/** The words of the corpus: groups of cases, which are short sequences of requests. What a case leaves behind stands in names of its own. */

export interface Step {
  method: string;
  /** `$NS` is the namespace of the group; `$(uid Kind/name)`, `$(rv Kind/name)`, `$(continue)` are what earlier answers of the group said, here and in the body */
  path: string;
  /** an object is sent as JSON, a text as it is */
  body?: unknown;
  /** Content-Type, application/json unless named; "" = none */
  type?: string;
  accept?: string;
  /** of a watch: it is left after so many events */
  events?: number;
  /** managedFields of the answer count, too */
  managed?: true;
  /** of a discovery document: what only upstream serves does not count */
  onlyServed?: true;
}

export interface Case {
  /** what is tried; each once in its group */
  name: string;
  steps: readonly Step[];
}

export interface Group {
  name: string;
  cases: readonly Case[];
}

/** A step as it is named in the record. */
export function stepId(group: Group, { name }: Case, index: number): string {
  return `${group.name}: ${name} (${String(index + 1)})`;
}

export const JSON_PATCH = "application/json-patch+json";
export const MERGE_PATCH = "application/merge-patch+json";
export const STRATEGIC_PATCH = "application/strategic-merge-patch+json";
export const APPLY_PATCH = "application/apply-patch+yaml";
export const TABLE = "application/json;as=Table;v=v1;g=meta.k8s.io";
export const PARTIAL = "application/json;as=PartialObjectMetadata;v=v1;g=meta.k8s.io";
export const PARTIAL_LIST = "application/json;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io";

export const get = (path: string, accept?: string): Step => ({ method: "GET", path, ...(accept === undefined ? {} : { accept }) });
export const post = (path: string, body: unknown, type?: string): Step => ({
  method: "POST",
  path,
  body,
  ...(type === undefined ? {} : { type }),
});
export const put = (path: string, body: unknown): Step => ({ method: "PUT", path, body });
export const patch = (path: string, type: string, body: unknown): Step => ({ method: "PATCH", path, type, body });
export const remove = (path: string, body?: unknown): Step => ({ method: "DELETE", path, ...(body === undefined ? {} : { body }) });
/** The first events of a watch. */
export const watch = (path: string, events: number, accept?: string): Step => ({ ...get(path, accept), events });

/** A case of one request. */
export const alone = (name: string, step: Step): Case => ({ name, steps: [step] });
