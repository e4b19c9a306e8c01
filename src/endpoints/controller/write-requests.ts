/** The writes of the endpoint controllers as requests to a store. */
import type { KubeObject } from "../../api/meta/kubernetes";
import type { Status } from "../../api/meta/status";
import type { ObjectKey, WriteOptions, WriteRequest } from "../../api/rpc/store";

/** Who writes, and in which group. */
export interface Writer {
  readonly manager: string;
  readonly group: string;
}

export function createRequest(object: KubeObject, writer: Writer): WriteRequest {
  return {
    verb: "create",
    namespace: object.metadata?.namespace ?? "",
    object: JSON.stringify(object),
    options: optionsOf(writer),
  };
}

/** Without a resourceVersion the object replaces whatever has its name. */
export function updateRequest(object: KubeObject, writer: Writer): WriteRequest {
  return { verb: "update", key: keyIn(object), subresource: "", object: JSON.stringify(object), options: optionsOf(writer) };
}

export function deleteRequest(object: KubeObject): WriteRequest {
  const { uid } = object.metadata ?? {};
  const preconditions = uid === undefined ? {} : { uid };
  const options = { dryRun: false, preconditions, propagationPolicy: "Background" as const, gracePeriodSeconds: undefined };
  return { verb: "delete", key: keyIn(object), options };
}

/** Whether a create was refused because its namespace is being emptied: then nothing is left to do. */
export function isNamespaceTerminating({ details }: Status): boolean {
  return details?.causes?.some(({ reason }) => reason === "NamespaceTerminating") ?? false;
}

function keyIn({ metadata }: KubeObject): ObjectKey {
  return { namespace: metadata?.namespace ?? "", name: metadata?.name ?? "" };
}

function optionsOf({ manager, group }: Writer): WriteOptions {
  return { dryRun: false, fieldManager: manager, fieldValidation: "Ignore", force: false, group, version: "v1" };
}
