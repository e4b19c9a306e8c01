/**
 * A cluster itself, for the operator of the server:
 *
 *   GET    /clusters/{name}    whether it exists, which controllers run there, and the progress of its deletion
 *   PUT    /clusters/{name}    makes it; with {"controllers": […]} those run there, with null those of the variable;
 *                              {"location": …} says where a new one is, and {"serviceCIDRs": […]} with which ranges it begins: nothing changes them
 *   DELETE /clusters/{name}    begins its deletion: 202, and 404 once it is gone
 */
import type { Env } from "../../../../durable-objects/platform/env";
import { type FieldError, FIELD_IMMUTABLE, invalidValue, notSupported } from "../../../api/meta/field-errors";
import { semanticEqual } from "../../../api/meta/equality";
import { validateFirstRanges } from "../../../api/registry/clusters/ranges";
import { validateDNS1123Label } from "../../../api/meta/names";
import { forbidden, invalid, methodNotAllowed, notFound, type Status } from "../../../api/meta/status";
import type { ClusterState } from "../../../tenancy/rpc";
import { DEFAULT_CLUSTER, locationOf } from "../../../tenancy/cluster-id";
import { isLocation, LOCATIONS } from "../../../core/config/location";
import { checkControllers } from "../../../core/config/controllers";
import { CONTROLLERS } from "../../../../durable-objects/platform/controllers";
import { ensureBootstrapped } from "../../routing/bootstrap";
import {
  beingDeleted,
  type ClusterBeginning,
  CLUSTER,
  inCluster,
  isImplied,
  lookAt,
  nearSender,
  openCluster,
  removeCluster,
  setControllers,
} from "../../routing/known-clusters";
import { configOf } from "../../routing/config-guard";
import { jsonResponse, renderingOf, statusResponse, type TextRendering } from "../../http/answer/respond";
import { urlOf } from "../../http/read/request-url";
import type { PathRequest } from "../path-request";
import { readClusterBody } from "./cluster-body";
import { CLUSTER_API_VERSION, clusterMetadata, clusterUrls } from "./cluster-document";

interface ClusterRequest {
  env: Env;
  name: string;
  rendering: TextRendering;
  /** the address of its server */
  url: string;
}

/** `segment`: the last of the path, percent-encoded. */
export function clusterResponse(
  { env, config, request }: Pick<PathRequest, "env" | "config" | "request">,
  segment: string,
): Promise<Response> {
  const rendering = renderingOf("json", urlOf(request).query, request.headers.get("User-Agent") ?? "");
  const name = decoded(segment);
  const asked: ClusterRequest = { env, name, rendering, url: clusterUrls(request, config)(name) };
  const problems = validateDNS1123Label(asked.name);
  switch (request.method) {
    case "GET":
    case "HEAD":
      return problems.length > 0 ? absent(asked) : shown(asked);
    case "PUT":
      return problems.length > 0 ? misnamed(asked, problems) : put(asked, request);
    case "DELETE":
      return problems.length > 0 ? absent(asked) : removed(asked);
    default:
      return refused(asked, methodNotAllowed());
  }
}

function decoded(segment: string): string {
  try {
    return decodeURIComponent(segment);
  } catch {
    return segment;
  }
}

function refused({ rendering }: ClusterRequest, status: Parameters<typeof statusResponse>[0]): Promise<Response> {
  return Promise.resolve(statusResponse(status, rendering));
}

function absent(asked: ClusterRequest): Promise<Response> {
  return refused(asked, notFound(CLUSTER, asked.name));
}

function misnamed(asked: ClusterRequest, problems: readonly string[]): Promise<Response> {
  const errors = problems.map((problem) => invalidValue("metadata.name", asked.name, problem));
  return refused(asked, invalid(CLUSTER, asked.name, errors));
}

async function shown(asked: ClusterRequest): Promise<Response> {
  const state = await lookAt(asked.env, asked.name);
  if (!state.ok) return refused(asked, state.error);
  return state.value.phase === "absent" && !isImplied(asked.env, asked.name) ? absent(asked) : described(asked, 200, state.value);
}

async function put(asked: ClusterRequest, request: Request): Promise<Response> {
  const { env, name } = asked;
  const body = await readClusterBody(env, request);
  if (!body.ok) return refused(asked, body.error);
  const { controllers, location, serviceCIDRs } = body.value;
  const isThere = isImplied(env, name);
  const list = controllers && checkControllers(controllers);
  const errors: FieldError[] = list && !list.ok ? list.error.map((problem) => invalidValue("controllers", controllers, problem)) : [];
  const place = location !== undefined && isLocation(location) ? location : undefined;
  if (place !== location) errors.push(notSupported("location", location, LOCATIONS));
  if (serviceCIDRs) errors.push(...validateFirstRanges(serviceCIDRs, "serviceCIDRs"));
  if ((list && !list.ok) || errors.length > 0) return refused(asked, invalid(CLUSTER, name, errors));
  // No record says where it begins, or with what.
  if (isThere && place) return refused(asked, fixed(name, "location", place));
  if (isThere && serviceCIDRs) return refused(asked, fixed(name, "serviceCIDRs", serviceCIDRs));
  if (isThere && controllers === undefined) return shown(asked);
  const begins: ClusterBeginning = isThere ? NOWHERE : place ? { location: place } : nearSender(request);
  const opened = await openCluster(env, name, { location: begins.location, serviceRanges: serviceCIDRs, controllers: list && list.value });
  if (!opened.ok) return refused(asked, opened.error);
  if (opened.value.state.phase !== "active") return refused(asked, beingDeleted(name));
  let state: ClusterState = opened.value.state;
  if (place && place !== locationOf(state.id)) return refused(asked, fixed(name, "location", place));
  if (serviceCIDRs && !semanticEqual(serviceCIDRs, state.serviceRanges)) return refused(asked, fixed(name, "serviceCIDRs", serviceCIDRs));
  if (list !== undefined) {
    const told = await setControllers(env, name, { ...opened.value.source, life: state.id }, list && list.value);
    if (!told.ok) return refused(asked, told.error);
    state = told.value;
  }
  if (isThere) return described(asked, 200, state);
  const { rendering } = asked;
  return inCluster({ env, name, begins, refusal: rendering }, async (id) => {
    const problem = await ensureBootstrapped(env, id);
    return problem ? statusResponse(problem, rendering) : described(asked, opened.value.opened ? 201 : 200, state);
  });
}

const NOWHERE: ClusterBeginning = { location: undefined };

/** The objects of a cluster stay where they were made, and it keeps its first ranges. Upstream: ValidateImmutableField of apimachinery. */
function fixed(name: string, member: "location" | "serviceCIDRs", value: unknown): Status {
  return invalid(CLUSTER, name, [invalidValue(member, value, FIELD_IMMUTABLE)]);
}

async function removed(asked: ClusterRequest): Promise<Response> {
  const { env, name } = asked;
  if (name === DEFAULT_CLUSTER) return refused(asked, forbidden(CLUSTER, name, "this cluster may not be deleted"));
  const state = await removeCluster(env, name);
  if (!state.ok) return refused(asked, state.error);
  return state.value.phase === "absent" ? absent(asked) : described(asked, 202, state.value);
}

/** A cluster that is implied is there without a record. */
function described({ env, name, rendering, url }: ClusterRequest, code: number, state: ClusterState): Response {
  const deletion = state.phase === "deleting" ? state : undefined;
  const own = state.phase === "active" ? state.controllers : null;
  const ranges = (state.phase === "active" && state.serviceRanges) || null;
  const config = configOf(env);
  if (!config.ok) return statusResponse(config.error, rendering);
  const document = {
    kind: CLUSTER.kind,
    apiVersion: CLUSTER_API_VERSION,
    metadata: clusterMetadata({ name, ...(state.phase === "absent" || isImplied(env, name) ? {} : state) }),
    location: (state.phase !== "absent" && locationOf(state.id)) || null,
    ...(deletion
      ? {}
      : { serviceCIDRs: ranges, controllers: own, running: CONTROLLERS.running(own ?? config.value.controllers, config.value) }),
    status: deletion ? { phase: "Terminating", objects: deletion.objects, wiped: deletion.wiped, url } : { phase: "Active", url },
  };
  return jsonResponse(code, JSON.stringify(document), rendering);
}
