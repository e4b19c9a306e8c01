/** The facts that metadata.managedFields of one write depend on: the writer, the endpoint and the form of the resource. */
import type { FieldContext, ServedForm } from "../../fields/ownership";
import { trackUpdate } from "../../fields/update";
import type { JsonObject } from "../../schema/json/json-value";
import type { KubeObject } from "../../meta/kubernetes";
import { apiVersionOf } from "../../meta/type-meta";
import type { ResourceDefinition } from "../../registry/resource";

/** The manager of what the server writes on its own. */
export const SERVER_MANAGER = "kube-apiserver";

export interface FieldWriter {
  /** the form that the request speaks: the stored one or another representation */
  served: ResourceDefinition;
  /** of the request, one of `served.versions` */
  version: string;
  /** every form of the resource, the stored one included */
  forms: readonly ResourceDefinition[];
  subresource: string;
  /** field manager or client name */
  manager: string;
}

/** The server itself, writing objects of the kind. */
export function ownWriter(served: ResourceDefinition): FieldWriter {
  return { served, version: served.versions[0] ?? "", forms: [served], subresource: "", manager: SERVER_MANAGER };
}

/** The facts of the request for src/api/fields. */
export function fieldContextOf({ served, version, forms, subresource }: FieldWriter): FieldContext {
  return {
    schema: served.schema,
    apiVersion: apiVersionOf(served.group, version),
    subresource,
    hasStatus: served.subresources.includes("status"),
    otherForm: (apiVersion) => formIn(apiVersion, served, forms),
  };
}

function formIn(apiVersion: string, served: ResourceDefinition, forms: readonly ResourceDefinition[]): ServedForm | undefined {
  const form = forms.find(({ group, versions }) => versions.some((version) => apiVersionOf(group, version) === apiVersion));
  if (!form) return undefined;
  if (form === served) return { schema: form.schema };
  return {
    schema: form.schema,
    convert: {
      from: (object) => inForm(form, stored(served, object)),
      to: (object) => inForm(served, stored(form, object)),
    },
  };
}

function stored({ representationOf: other }: ResourceDefinition, object: JsonObject): JsonObject {
  return other ? (other.toStored(object as unknown as KubeObject) as unknown as JsonObject) : object;
}

function inForm({ representationOf: other }: ResourceDefinition, object: JsonObject): JsonObject {
  return other ? (other.fromStored(object as unknown as KubeObject) as unknown as JsonObject) : object;
}

/**
 * Sets `after.metadata.managedFields` as any write but an apply does. Both objects are in the stored form; `before` is absent on a create.
 * Call it on the defaulted object, before the server fills in its own fields: nobody owns those.
 */
export function trackFields(writer: FieldWriter, change: { before?: KubeObject; after: KubeObject }, nowMs: number): void {
  const shown = writer.served.representationOf?.fromStored;
  const { before, after } = change;
  const managedFields = trackUpdate({
    ...fieldContextOf(writer),
    before: before && shown ? shown(before) : before,
    after: shown ? shown(after) : after,
    manager: writer.manager,
    nowMs,
  });
  setManagedFields(after, managedFields);
}

/** undefined = nobody owns anything */
export function setManagedFields(object: KubeObject, managedFields: ReturnType<typeof trackUpdate>): void {
  const metadata = (object.metadata ??= {});
  if (managedFields) metadata.managedFields = managedFields;
  else delete metadata.managedFields;
}
