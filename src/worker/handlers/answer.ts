/**
 * A single object as the answer: itself in the version of the URL, a one-row Table, or its metadata alone (upstream apiserver
 * endpoints/handlers/response.go).
 */
import type { KubeObject } from "../../api/meta/kubernetes";
import { badRequest, qualifiedResource, type Status } from "../../api/meta/status";
import { parseIncludeObject, tableEnvelope, type TableForm, tableRow } from "../../api/meta/table";
import { apiVersionOf, typeHead } from "../../api/meta/type-meta";
import type { ResourceDefinition } from "../../api/registry/resource";
import type { RequestInfo } from "../routing/request-info";
import { formOf } from "../../api/store/hub/protobuf-view";
import { assert } from "../../core/base/assert";
import { parseJson } from "../../core/encoding/exact-json";
import { refuse, type ResourceRequest, servedAt } from "./resource-request";
import { jsonResponse, shownResponse } from "../http/answer/respond";

/** `stored` is the store's text: without kind and apiVersion. */
export function objectResponse(request: ResourceRequest, code: number, stored: string, warnings: readonly string[] = []): Response {
  const { info, rendering, accepted } = request;
  const { transform } = accepted;
  const text = shownText(request, stored);
  if (transform.as === "table") return tableResponse(request, transform.version, code, text, warnings);
  const form = formOf(info.definition, info.version, transform);
  const shown = transform.as === "object" ? text : JSON.stringify({ metadata: parsed(text).metadata ?? {} });
  return shownResponse(code, { ...form, text: shown }, rendering, warnings);
}

function tableResponse(request: ResourceRequest, version: string, code: number, text: string, warnings: readonly string[]): Response {
  const { info, rendering } = request;
  assert(rendering !== "protobuf", "a Table has no protobuf form");
  const { definition } = info;
  const include = parseIncludeObject(request.query.get("includeObject") ?? "");
  if (!include.ok) return refuse(request, badRequest(include.error), warnings);
  const form: TableForm = {
    version,
    columns: definition.columns,
    rowConditions: definition.rowConditions,
    includeObject: include.value,
    objectHead: typeHead(definition.kind, apiVersionOf(definition.group, info.version)),
  };
  const object = parsed(text);
  const envelope = tableEnvelope(form, { resourceVersion: object.metadata?.resourceVersion ?? "" });
  const row = tableRow(form, definition.cells(object, Date.now()), object, text);
  return jsonResponse(code, envelope.head + row + envelope.tail, rendering, warnings);
}

function parsed(text: string): KubeObject {
  return parseJson(text) as KubeObject;
}

/** The client's object as the store keeps it. */
export function storedForm(definition: ResourceDefinition, object: KubeObject): KubeObject {
  return definition.representationOf ? definition.representationOf.toStored(object) : object;
}

/** The stored text as clients of this resource see it. */
function shownText(request: ResourceRequest, stored: string): string {
  const { representationOf } = request.info.definition;
  return representationOf ? JSON.stringify(representationOf.fromStored(parsed(stored), servedAt(request))) : stored;
}

/** A store's Status names the resource that it keeps. A client of another representation reads the name of its own. */
export function shownStatus(info: RequestInfo, status: Status): Status {
  const { definition } = info;
  const stored = definition.representationOf;
  if (!stored || status.details?.kind !== stored.resource || (status.details.group ?? "") !== stored.group) return status;
  const [from, to] = [`${qualifiedResource(stored)} "`, `${qualifiedResource(definition)} "`];
  return {
    ...status,
    ...(status.message === undefined ? {} : { message: status.message.replace(from, () => to) }),
    details: { ...status.details, kind: definition.resource, ...(definition.group === "" ? {} : { group: definition.group }) },
  };
}
