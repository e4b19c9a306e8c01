/** Who answers each row of PATH_ROUTES (../routing/routes.ts). The router has looked at the method and at the cluster before. */
import { nodeHealthQuestion } from "../../proxy-health/rules/health-question";
import { forbiddenPath, methodNotAllowed } from "../../api/meta/status";
import { DEFAULT_CLUSTER } from "../../tenancy/cluster-id";
import { pageNotFound, statusResponse } from "../http/answer/respond";
import { knownIdOf } from "../routing/known-clusters";
import { isRead, type PathAnswer } from "../routing/routes";
import { servedApis } from "../routing/served";
import {
  checkResponse,
  controllersResponse,
  nodePortsResponse,
  ownerResponse,
  ownersResponse,
  sliceControllerResponse,
} from "../system/check";
import { clusterResponse } from "../system/clusters/cluster";
import { clustersResponse } from "../system/clusters/cluster-list";
import { coreVersionsResponse, groupListResponse, groupResponse } from "../system/discovery/discovery";
import type { HealthProbe } from "../system/health-slis";
import { checkPaths, probeResponse } from "../system/healthz";
import { metricsResponse, slisResponse } from "../system/metrics";
import { nodeHealthResponse, serviceHealthResponse } from "../system/node-health";
import { nodeTargetsResponse } from "../system/node-targets";
import { openApiV2Response, openApiV3DocumentResponse, openApiV3IndexResponse } from "../system/discovery/openapi";
import type { PathHandler, PathRequest } from "../system/path-request";
import { rangeAllocationsResponse } from "../system/range-allocations";
import { rangesResponse } from "../system/ranges";
import { recoveriesResponse } from "../system/recoveries";
import { revisionsResponse } from "../system/revisions";
import { rootPathsResponse } from "../system/discovery/root-paths";
import { tokensResponse } from "../system/tokens";
import { versionResponse } from "../system/discovery/version";
import { coreVersionResponse, groupVersionResponse } from "./group-version";

export const ANSWERS: Readonly<Record<PathAnswer, PathHandler>> = {
  rootPaths: ({ env, config, url }) => rootPathsResponse(servedApis(config, url.cluster), checkPaths(env)),
  coreVersions: ({ config, request, url }) => coreVersionsResponse(request, servedApis(config, url.cluster)),
  groups: ({ config, request, url }) => groupListResponse(request, servedApis(config, url.cluster)),
  group: ({ config, request, url }) => groupResponse(request, servedApis(config, url.cluster), url.lastSegment),
  coreVersion: coreVersionResponse,
  groupVersion: groupVersionResponse,
  openApiV3: ({ config, url }) => openApiV3IndexResponse(servedApis(config, url.cluster)),
  openApiV3Document,
  openApiV2: ({ config, request, url }) => openApiV2Response(request, servedApis(config, url.cluster)),
  version: () => versionResponse(),
  metrics: ({ env }, cluster) => metricsResponse(env, cluster),
  slis: (_, cluster) => slisResponse(cluster),
  tokens,
  rangeAllocations: ({ env, request, url }, cluster) => rangeAllocationsResponse(env, cluster, request, url.lastSegment),
  clusters: clustersResponse,
  cluster: (asked) => clusterResponse(asked, asked.url.lastSegment),
  check: ({ env, request, waitUntil }, cluster) => checkResponse(env, cluster, request, waitUntil),
  owners: ({ env, request }, cluster) => ownersResponse(env, cluster, request),
  nodePorts: ({ env, request }, cluster) => nodePortsResponse(env, cluster, request),
  sliceController: ({ env, request }, cluster) => sliceControllerResponse(env, cluster, request),
  controllers: ({ env, request }, cluster) => controllersResponse(env, cluster, request),
  owner: ({ env, request, url }, cluster) => ownerResponse(env, cluster, request, url.lastSegment),
  revisions: ({ env, request }, cluster) => revisionsResponse(env, cluster, request),
  recoveries: ({ env, request }, cluster) => recoveriesResponse(env, cluster, request),
  ranges: ({ env, request }, cluster) => rangesResponse(env, cluster, request),
  healthz: (asked) => health(asked, "healthz", seenDefault(asked)),
  livez: (asked) => health(asked, "livez", seenDefault(asked)),
  readyz: (asked, cluster) => health(asked, "readyz", cluster),
  nodeTargets: ({ env, request, url }, cluster) => nodeTargetsResponse({ env, request, cluster, query: url.query }),
  nodeHealth,
};

function openApiV3Document({ config, request, url }: PathRequest): Promise<Response> {
  const { path, query } = url;
  return openApiV3DocumentResponse(request, { apis: servedApis(config, url.cluster), path: path.slice("/openapi/v3/".length), query });
}

function tokens({ env, request, url, access }: PathRequest): Response | Promise<Response> {
  // A token made now would be valid once credentials are required.
  if (access.isOpen) return statusResponse(forbiddenPath("a server that asks for no credentials makes no tokens"));
  return tokensResponse(env, request, url.path.slice("/admin/tokens".length));
}

/** The id of `default` as far as this isolate has met it. Nobody is asked: the server's life depends on no answer. */
function seenDefault({ env }: PathRequest): string {
  return knownIdOf(env, DEFAULT_CLUSTER) || DEFAULT_CLUSTER;
}

/** All checks of the cluster, or the one that the path names. */
function health({ env, request, url }: PathRequest, probe: HealthProbe, cluster: string): Promise<Response> {
  const { path, query } = url;
  const only = path === `/${probe}` ? undefined : path.slice(probe.length + 2);
  return probeResponse({ env, request, cluster, probe, only, query });
}

/** What a load balancer asks of a node. Paths without a question are served by nobody, whatever the method. */
function nodeHealth({ env, request, url }: PathRequest, cluster: string): Response | Promise<Response> {
  const question = nodeHealthQuestion(url.path);
  if (!question) return pageNotFound();
  if (!isRead(request.method)) return statusResponse(methodNotAllowed());
  const { node } = question;
  if ("path" in question) return nodeHealthResponse({ env, cluster, node, path: question.path, counted: "all" });
  const { namespace, service } = question;
  return serviceHealthResponse({ env, cluster, node, namespace, name: service, family: url.query.get("family") });
}
