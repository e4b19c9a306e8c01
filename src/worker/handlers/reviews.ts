/** Answers to access and identity reviews. Upstream: pkg/registry/authorization, pkg/registry/authentication. */
import type { ObjectMeta } from "../../api/meta/kubernetes";
import { notAcceptable } from "../../api/meta/status";
import { rfc3339Seconds } from "../../api/meta/time";
import { apiVersionOf } from "../../api/meta/type-meta";
import { namespaceMismatch } from "../http/read/body-names";
import type { BodyRequest } from "../http/read/read-body";
import { REVIEW_MAX_BYTES } from "../http/limits";
import { readObject } from "../http/read/read-object";
import { ANSWER_TYPES, negotiate } from "../http/negotiate/negotiate";
import { parseWriteOptions } from "../http/read/write-options";
import { renderingOf, shownResponse, statusResponse } from "../http/answer/respond";
import { type Attributes, type Decision, resourceAttributes } from "../../access/authorization/attributes";
import { authorizeUnrelated } from "../../access/authorizer";
import { isMaster, type User } from "../../access/identity/user";
import { agentNodeOf, nodeOf } from "../../access/nodes/node-identity";
import { rulesIn } from "../../access/rbac/rules-in";
import type { Access } from "../access/access";
import type { Review } from "../routing/review-kinds";
import { type ReviewBody, reviewProblem, type ReviewSpec, type SelectorAttributes } from "./review-problem";

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
  access: Access,
): Promise<Response> {
  const userAgent = request.headers.get("User-Agent") ?? "";
  const accepted = negotiate(request.headers.get("Accept"), "none");
  if (!accepted) return statusResponse(notAcceptable(ANSWER_TYPES));
  const rendering = renderingOf(accepted.encoding, query, userAgent);
  const options = parseWriteOptions("CreateOptions", query, { userAgent, group: review.group, version: review.version });
  if (!options.ok) return statusResponse(options.error, rendering);
  const body = await readObject({ request, place, timeoutMs }, review, options.value.fieldValidation, REVIEW_MAX_BYTES);
  if (!body.ok) return statusResponse(body.error, rendering);
  const { object, warnings } = body.value;
  const asked: ReviewBody = { ...object, metadata: ownMetadata(review, object.metadata ?? {}) };
  const problem = namespaceMismatch(asked, namespace) ?? reviewProblem(review, asked, namespace);
  if (problem) return statusResponse(problem, rendering, warnings);
  const answer = {
    ...echoOf(review, asked, namespace),
    status: await answerOf(review, asked.spec ?? {}, access),
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

function answerOf({ kind }: Review, spec: ReviewSpec, access: Access): object | Promise<object> {
  switch (kind) {
    case "SelfSubjectReview":
      return { userInfo: userInfoOf(access.caller.user) };
    case "TokenReview":
      return answerOfToken(spec, access);
    case "SelfSubjectRulesReview":
      return rulesOf(access, spec.namespace ?? "");
    case "SelfSubjectAccessReview":
      return accessAnswer(reviewed(access, access.caller.user, askedAttributes(spec)));
    default:
      return accessAnswer(reviewed(access, subjectOf(spec), askedAttributes(spec)));
  }
}

/** Upstream: pkg/registry/authorization/selfsubjectrulesreview/rest.go. */
function rulesOf({ caller: { user }, isOpen, policy }: Access, namespace: string): object {
  if (isOpen || isMaster(user)) return ALL_RULES;
  const rules = policy ? rulesIn(policy, user, namespace) : { resourceRules: [], nonResourceRules: [], incomplete: true };
  // What nodes may do beyond their rules is no list.
  const isNode = (nodeOf(user) ?? agentNodeOf(user)) !== undefined;
  return isNode ? { ...rules, incomplete: true, evaluationError: "node authorizer does not support user rule resolution" } : rules;
}

function userInfoOf({ name, uid, groups, extra }: User): object {
  return {
    username: name,
    ...(uid === "" ? {} : { uid }),
    groups,
    ...(Object.keys(extra).length === 0 ? {} : { extra }),
  };
}

/** Upstream: pkg/registry/authentication/tokenreview/storage.go. */
async function answerOfToken({ token = "", audiences }: ReviewSpec, access: Access): Promise<object> {
  const reviewed = await access.reviewToken(token, audiences ?? []);
  if (!reviewed.ok) return { user: {}, error: reviewed.error };
  return { authenticated: true, user: userInfoOf(reviewed.value.user), audiences: reviewed.value.audiences };
}

/** Whom a SubjectAccessReview asks about. Upstream: pkg/registry/authorization/util/helpers.go. */
function subjectOf({ user = "", uid = "", groups = [], extra = {} }: ReviewSpec): User {
  return { name: user, uid, groups, extra };
}

function askedAttributes({ resourceAttributes: ofResource, nonResourceAttributes: ofPath }: ReviewSpec): Attributes {
  if (!ofResource) return { kind: "path", verb: ofPath?.verb ?? "", path: ofPath?.path ?? "" };
  const { verb = "", group = "", version = "", resource = "", subresource = "", namespace = "", name = "" } = ofResource;
  const fieldSelector = selectorText(ofResource.fieldSelector);
  const labelSelector = selectorText(ofResource.labelSelector);
  return resourceAttributes({ verb, group, version, resource, subresource, namespace, name, fieldSelector, labelSelector });
}

/** What narrows the question: the text, or those of its conditions that name one value. Authorizers take a selector they cannot read for none. */
function selectorText(selector: SelectorAttributes | undefined): string {
  if (!selector) return "";
  const { rawSelector = "", requirements = [] } = selector;
  if (rawSelector !== "") return rawSelector;
  const terms = requirements.flatMap(({ key = "", operator = "", values = [] }) =>
    operator === "In" && values.length === 1 ? [`${key}=${values[0] ?? ""}`] : [],
  );
  return terms.join(",");
}

/** A review names no Pod: what a node may do because of one of its Pods is not said, and the rules decide. */
function reviewed({ judge, policy }: Access, user: User, asked: Attributes): Decision {
  const { podOf, ...decision } = judge(user, asked);
  return podOf === undefined ? decision : authorizeUnrelated(podOf, user, asked, policy);
}

function accessAnswer({ decision, reason }: Decision): object {
  return {
    allowed: decision === "allow",
    ...(decision === "deny" ? { denied: true } : {}),
    ...(reason === "" ? {} : { reason }),
  };
}
