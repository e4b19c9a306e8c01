/**
 * Answers to access and identity reviews. There is no authentication yet: everybody is system:anonymous and may do everything, and the
 * answers say so. Upstream: pkg/registry/authorization, pkg/registry/authentication.
 */
import type { KubeObject } from "../../api/meta/kubernetes";
import { badRequest, invalid, notAcceptable, type Status } from "../../api/meta/status";
import { required } from "../../api/meta/field-errors";
import { apiVersionOf } from "../../api/meta/type-meta";
import type { BodyRequest } from "../http/read-body";
import { readObject } from "../http/read-object";
import { ANSWER_TYPES, negotiate } from "../http/negotiate";
import { parseWriteOptions } from "../http/write-options";
import { jsonResponse, renderingOf, statusResponse } from "../http/respond";
import type { Review } from "../routing/review-kinds";

const ANONYMOUS = { username: "system:anonymous", groups: ["system:unauthenticated"] };

const ALLOWED = { allowed: true, reason: "no authorization is configured: every request is allowed" };
const ALL_RULES = {
  resourceRules: [{ verbs: ["*"], apiGroups: ["*"], resources: ["*"] }],
  nonResourceRules: [{ verbs: ["*"], nonResourceURLs: ["*"] }],
  incomplete: false,
};

type ReviewBody = KubeObject & { spec?: Record<string, unknown> };

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
  const problem = reviewProblem(review, object, namespace);
  if (problem) return statusResponse(problem, rendering, warnings);
  const answer = {
    kind: review.kind,
    apiVersion: apiVersionOf(review.group, review.version),
    metadata: { creationTimestamp: null },
    ...((object as ReviewBody).spec === undefined ? {} : { spec: (object as ReviewBody).spec }),
    status: answerOf(review),
  };
  return jsonResponse(201, JSON.stringify(answer), rendering, warnings);
}

function answerOf(review: Review): object {
  switch (review.kind) {
    case "SelfSubjectReview":
      return { userInfo: ANONYMOUS };
    case "TokenReview":
      // No token is valid where none is issued.
      return { user: {}, authenticated: false, error: "this server issues and accepts no tokens" };
    case "SelfSubjectRulesReview":
      return ALL_RULES;
    default:
      return ALLOWED;
  }
}

/** Source: upstream pkg/apis/authorization/validation and the registries' own checks. */
function reviewProblem(review: Review, object: ReviewBody, namespace: string): Status | undefined {
  const spec = object.spec ?? {};
  switch (review.kind) {
    case "SelfSubjectReview":
      return undefined;
    case "TokenReview":
      return spec.token ? undefined : badRequest("token is required for TokenReview in authentication");
    case "SelfSubjectRulesReview":
      return spec.namespace ? undefined : badRequest("no namespace on request");
    case "LocalSubjectAccessReview": {
      const asked = (spec.resourceAttributes as { namespace?: string } | null | undefined)?.namespace ?? "";
      if (asked !== namespace) return badRequest(`spec.resourceAttributes.namespace must match namespace: ${namespace}`);
      return attributesProblem(review, object, spec);
    }
    default:
      return attributesProblem(review, object, spec);
  }
}

function attributesProblem(review: Review, object: ReviewBody, spec: Record<string, unknown>): Status | undefined {
  const name = { group: review.group, resource: review.resource, kind: review.kind };
  const refuse = (field: string, detail: string): Status => invalid(name, object.metadata?.name ?? "", [required(field, detail)]);
  const ofResource = typeof spec.resourceAttributes === "object" && spec.resourceAttributes !== null;
  const ofPath = typeof spec.nonResourceAttributes === "object" && spec.nonResourceAttributes !== null;
  if (!ofResource && !ofPath)
    return refuse("spec.resourceAttributes", "exactly one of nonResourceAttributes or resourceAttributes must be specified");
  if (ofResource && ofPath) {
    return invalid(name, object.metadata?.name ?? "", [
      {
        field: "spec.nonResourceAttributes",
        body: `Invalid value: ${JSON.stringify(spec.nonResourceAttributes)}: cannot be specified in combination with resourceAttributes`,
        reason: "FieldValueInvalid",
      },
    ]);
  }
  const asksForOther = review.kind === "SubjectAccessReview" || review.kind === "LocalSubjectAccessReview";
  const named = Boolean(spec.user) || (Array.isArray(spec.groups) && spec.groups.length > 0);
  return asksForOther && !named ? refuse("spec.user", "at least one of user or group must be specified") : undefined;
}
