/** The writes of controllers as requests to a store. */
import type { KubeObject } from "../../api/meta/kubernetes";
import type { Status } from "../../api/meta/status";
import type { DeleteOptionsRequest, ObjectKey, WriteOptions, WriteRequest } from "../../api/rpc/store";

/** Who writes, and in which group. */
export interface Writer {
  readonly manager: string;
  readonly group: string;
  /** absent = v1 */
  readonly version?: string;
}

export function createRequest(object: KubeObject, writer: Writer): WriteRequest {
  return {
    verb: "create",
    namespace: object.metadata?.namespace ?? "",
    object: printed(object),
    options: optionsOf(writer),
  };
}

/** Without a resourceVersion the object replaces whatever has its name. */
export function updateRequest(object: KubeObject, writer: Writer, subresource: "" | "status" = ""): WriteRequest {
  return { verb: "update", key: keyIn(object), subresource, object: printed(object), options: optionsOf(writer) };
}

/** Deletes the very object, whoever has written it since. */
export function deleteRequest(object: KubeObject): WriteRequest {
  const { uid } = object.metadata ?? {};
  return deletion(object, uid === undefined ? {} : { uid });
}

/** Deletes the object unless somebody has written it since. */
export function deleteUnchangedRequest(object: KubeObject): WriteRequest {
  const { uid, resourceVersion } = object.metadata ?? {};
  return deletion(object, { ...(uid !== undefined && { uid }), ...(resourceVersion !== undefined && { resourceVersion }) });
}

function deletion(object: KubeObject, preconditions: DeleteOptionsRequest["preconditions"]): WriteRequest {
  const options = { dryRun: false, preconditions, propagationPolicy: "Background" as const, gracePeriodSeconds: undefined };
  return { verb: "delete", key: keyIn(object), options };
}

/** Whether a create was refused because its namespace is being emptied: then nothing is left to do. */
export function isNamespaceTerminating({ details }: Status): boolean {
  return details?.causes?.some(({ reason }) => reason === "NamespaceTerminating") ?? false;
}

/** What a refused write means for the look. A rule or a quota refuses for some time (403, 422); a conflict or a store in trouble soon passes. */
export function refusalOf({ code }: Status): "later" | "refused" {
  return code === 403 || code === 422 ? "refused" : "later";
}

/** The text as a client's request becomes it: annotations that are empty are absent. */
function printed({ metadata, ...object }: KubeObject): string {
  const { annotations, ...rest } = metadata ?? {};
  const isEmpty = Object.keys(annotations ?? {}).length === 0;
  return JSON.stringify({ metadata: isEmpty ? rest : { ...rest, annotations }, ...object });
}

function keyIn({ metadata }: KubeObject): ObjectKey {
  return { namespace: metadata?.namespace ?? "", name: metadata?.name ?? "" };
}

/** What a controller's write says besides its object. */
export function optionsOf({ manager, group, version = "v1" }: Writer): WriteOptions {
  return { dryRun: false, fieldManager: manager, fieldValidation: "Ignore", force: false, group, version, byController: true };
}
