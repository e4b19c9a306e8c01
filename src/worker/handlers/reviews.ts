/**
 * Answers to access and identity reviews. There is no authentication yet: everybody is system:anonymous and may do everything, and the
 * answers say so. Upstream: pkg/registry/authorization, pkg/registry/authentication.
 */
import type { ObjectMeta } from "../../api/meta/kubernetes";
import { notAcceptable } from "../../api/meta/status";
import { rfc3339Seconds } from "../../api/meta/time";
import { apiVersionOf } from "../../api/meta/type-meta";
import { namespaceMismatch } from "../http/body-names";
import type { BodyRequest } from "../http/read-body";
import { readObject } from "../http/read-object";
import { ANSWER_TYPES, negotiate } from "../http/negotiate";
import { parseWriteOptions } from "../http/write-options";
import { renderingOf, shownResponse, statusResponse } from "../http/respond";
import type { Review } from "../routing/review-kinds";
import { type ReviewBody, reviewProblem } from "./review-problem";

const ANONYMOUS = { username: "system:anonymous", groups: ["system:unauthenticated"] };

const ALLOWED = { allowed: true, reason: "no authorization is configured: every request is allowed" };
const ALL_RULES = {
  resourceRules: [{ verbs: ["*"], apiGroups: ["*"], resources: ["*"] }],
  nonResourceRules: [{ verbs: ["*"], nonResourceURLs: ["*"] }],
  incomplete: false,
};

/** POST of a review. `namespace` is that of the URL, "" for cluster-scoped ones. */
export async function createReview(
  { request, place, timeoutMs = 0 }: BodyRequest,
  review: Review,
  namespace: string,
  query: URLSearchParams,
): Promise<Response> {
  const userAgent = request.headers.get("User-Agent") ?? "";
  const accepted = negotiate(request.headers.get("Accept"), "none");
  if (!accepted) return statusResponse(notAcceptable(ANSWER_TYPES));
  const rendering = renderingOf(accepted.encoding, query, userAgent);
  const options = parseWriteOptions("CreateOptions", query, { userAgent, group: review.group, version: review.version });
  if (!options.ok) return statusResponse(options.error, rendering);
  const body = await readObject({ request, place, timeoutMs }, review, options.value.fieldValidation);
  if (!body.ok) return statusResponse(body.error, rendering);
  const { object, warnings } = body.value;
  const asked: ReviewBody = { ...object, metadata: ownMetadata(review, object.metadata ?? {}) };
  const problem = namespaceMismatch(asked, namespace) ?? reviewProblem(review, asked, namespace);
  if (problem) return statusResponse(problem, rendering, warnings);
  const answer = {
    ...echoOf(review, asked, namespace),
    status: answerOf(review),
  };
  const typeMeta = { kind: review.kind, apiVersion: apiVersionOf(review.group, review.version) };
  return shownResponse(201, { typeMeta, schema: review.schema, text: JSON.stringify(answer) }, rendering, warnings);
}

/** Metadata without what only the server sets (upstream registry/rest WipeObjectMetaSystemFields, EnsureObjectNamespaceMatchesRequestNamespace). */
function ownMetadata({ namespaced }: Review, metadata: ObjectMeta): ObjectMeta {
  const own = { ...metadata };
  for (const name of ["creationTimestamp", "uid", "deletionTimestamp", "deletionGracePeriodSeconds", "selfLink"] as const) delete own[name];
  if (!namespaced) delete own.namespace;
  return own;
}

/** What of the question stands in the answer. */
function echoOf(review: Review, { metadata, spec = {} }: ReviewBody, namespace: string): ReviewBody {
  switch (review.kind) {
    case "SelfSubjectReview":
      return { metadata: { creationTimestamp: rfc3339Seconds(Date.now()) } };
    case "SelfSubjectRulesReview":
      return { metadata: {}, spec: {} };
    default:
      return { metadata: { ...metadata, ...(review.namespaced ? { namespace } : {}) }, spec };
  }
}

function answerOf(review: Review): object {
  switch (review.kind) {
    case "SelfSubjectReview":
      return { userInfo: ANONYMOUS };
    case "TokenReview":
      // No token is valid where none is issued.
      return { user: {}, error: "this server issues and accepts no tokens" };
    case "SelfSubjectRulesReview":
      return ALL_RULES;
    default:
      return ALLOWED;
  }
}
