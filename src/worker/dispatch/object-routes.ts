/** The four kinds of targets that ask for an object or a collection (answer-object.ts): what differs between them, and their handlers. */
import { storeLabel } from "../../api/registry/all";
import type { ActionDefinition, ObjectAnswer, ObjectReport, ObjectView, ResourceDefinition, Verb } from "../../api/registry/resource";
import { systemClock } from "../../../durable-objects/platform/ports";
import { RBAC_GROUP } from "../../api/meta/rbac-names";
import { noteRulesChanged } from "../access/policies";
import { ANSWER_TYPES, DOCUMENT_TYPES, WATCH_TYPES } from "../http/negotiate/negotiate";
import { ReportTurns } from "../http/report-turns";
import { patchTypeOf } from "../http/read/content-type";
import type { RequestInfo } from "../routing/request-info";
import { writeStreaks } from "../routing/write-streaks";
import { act } from "../handlers/act";
import type { ObjectRoute } from "./answer-object";
import { create } from "../handlers/create";
import { get } from "../handlers/get";
import { list } from "../handlers/list";
import { mayCreate } from "../handlers/may-create";
import { patch } from "../handlers/patch";
import { mayWait, proxyConfig } from "../handlers/proxy-config";
import { isSmallReport, reportProxyHealth } from "../handlers/proxy-health";
import { remove } from "../handlers/remove";
import { removeCollection } from "../handlers/remove-collection";
import { type Handler, type ResourceRequest, shapeOf } from "../handlers/resource-request";
import { requestToken } from "../handlers/token-request";
import { update } from "../handlers/update";
import { watch } from "../handlers/watch";

/** One for each isolate. */
const reportTurns = new ReportTurns(systemClock);

/** Verbs whose success changes a store. */
const WRITING: ReadonlySet<Verb> = new Set(["create", "update", "patch", "delete", "deletecollection"]);

const HANDLERS: Readonly<Record<Verb, Handler>> = {
  create,
  get,
  list,
  watch,
  update,
  patch,
  delete: remove,
  deletecollection: removeCollection,
};

const VIEWS: Readonly<Record<ObjectView, Handler>> = { "proxy-config": proxyConfig };

const REPORTS: Readonly<Record<ObjectReport, Handler>> = { "proxy-health": reportProxyHealth };

const ANSWERS: Readonly<Record<ObjectAnswer, (request: ResourceRequest, action: ActionDefinition) => Promise<Response>>> = {
  "token-request": requestToken,
};

function typesOf({ verb }: RequestInfo): readonly string[] {
  return verb === "watch" ? WATCH_TYPES : ANSWER_TYPES;
}

const IN_ANY_FORM = { shape: shapeOf, types: typesOf, representations: typesOf };
const documentTypes = (): readonly string[] => DOCUMENT_TYPES;

export const RESOURCE: ObjectRoute<"resource"> = {
  ...IN_ANY_FORM,
  // A collection's path also has the frames of its watches.
  representations: (info) => (info.name === "" ? [...ANSWER_TYPES, ...WATCH_TYPES] : typesOf(info)),
  begins: beginsCluster,
  answer: stored,
};

export const ACTION: ObjectRoute<"action"> = {
  ...IN_ANY_FORM,
  answer: (request, { action }) =>
    action.effect.does === "answer" ? ANSWERS[action.effect.answer](request, action) : act(request, action),
};

export const VIEW: ObjectRoute<"view"> = {
  shape: () => "document",
  types: documentTypes,
  representations: documentTypes,
  isUncounted: mayWait,
  answer: (request, { view }) => VIEWS[view](request),
};

export const REPORT: ObjectRoute<"report"> = {
  ...IN_ANY_FORM,
  isUncounted: (_query, headers) => isSmallReport(headers),
  answer: async (request, { report }) => {
    const turn = await reportTurns.begin(request.config.fairRequestsMin, request.request.signal);
    try {
      return await REPORTS[report](request);
    } finally {
      turn?.end();
    }
  },
};

/** Only a request that may make an object may begin a cluster; a dry run makes none, and only an administrator of the server makes a cluster. */
function beginsCluster({ access, info, query, request }: ResourceRequest): boolean {
  const patchType = info.verb === "patch" ? patchTypeOf(request.headers.get("Content-Type")) : undefined;
  return access.makesClusters && mayCreate(info, patchType) && !query.has("dryRun");
}

async function stored(request: ResourceRequest): Promise<Response> {
  const { cluster, verb, definition } = request.info;
  const response = await HANDLERS[verb](request);
  if (response.ok && WRITING.has(verb) && !request.query.has("dryRun")) noteWritten(cluster, definition);
  return response;
}

function noteWritten(cluster: string, definition: ResourceDefinition): void {
  writeStreaks.note(cluster, storeLabel(definition), Date.now());
  if (definition.group === RBAC_GROUP) noteRulesChanged(cluster);
}
