/**
 * Whether a request may go on: authentication, impersonation, authorization, in this order. Each step has its own refusal, before any route looks at
 * the request. Source: upstream apiserver pkg/server/config.go, DefaultBuildHandlerChain.
 */
import { allowsAll, type Config } from "../../core/config/config";
import { err, ok, type Result } from "../../core/base/result";
import type { KubeObject } from "../../api/meta/kubernetes";
import { nodeHealthQuestion } from "../../proxy-health/rules/health-question";
import { RBAC_GROUP } from "../../api/meta/rbac-names";
import { forbiddenPath, serviceUnavailable, type Status, unauthorized } from "../../api/meta/status";
import { type Attributes, NO_OPINION } from "../../access/authorization/attributes";
import { fleetReadProblem } from "../../access/authorization/fleet-reads";
import { fleetWriteProblem } from "../../access/authorization/fleet-writes";
import { actAs, impersonated } from "../../access/authorization/impersonation";
import { notAllowed } from "../../access/authorization/refusals";
import { attributesOf } from "../../access/authorization/request-attributes";
import { authorize, authorizeUnrelated } from "../../access/authorizer";
import { type NodeDecision, podReadProblem } from "../../access/nodes/node-decision";
import { ANONYMOUS_CALLER, type Caller, isMaster, serviceAccountOf } from "../../access/identity/user";
import type { Policy } from "../../access/rbac/policy";
import { DEFAULT_CLUSTER } from "../../tenancy/cluster-id";
import type { Env } from "../../../durable-objects/platform/env";
import { RETRY_AFTER_SECONDS } from "../http/limits";
import type { RequestUrl } from "../http/read/request-url";
import { beginBootstrap } from "../routing/bootstrap";
import { ClusterGone } from "../routing/call";
import { activeIdOf, askWhetherMade, forgetCluster, knownIdOf, type MadeAnswer } from "../routing/known-clusters";
import { clustersAsked, isForAnybody, isServers } from "../routing/routes";
import type { Access } from "./access";
import { authenticate, reviewToken } from "./authenticate";
import { ensureDefaultPolicy } from "./default-policy";
import { forgetPolicy, hasAskedRules, policyOf } from "./policies";

export interface Asking {
  env: Env;
  config: Config;
  request: Request;
  url: RequestUrl;
  /** keeps work running after the answer */
  beside(work: Promise<unknown>): void;
}

/** What is known of a request, whether or not it may go on. */
export interface RequestAccess {
  readonly asked: Attributes;
  /** anonymous where nobody is known */
  readonly caller: Caller;
  readonly access: Result<Access, Status>;
}

/** Who asks, for what, and whether he may. Does not throw for a refusal: `access` has its Status. */
export async function admit(asking: Asking): Promise<RequestAccess> {
  const { cluster, path, query } = asking.url;
  const { method } = asking.request;
  const reads = clustersAsked(method, cluster, path);
  const asked = reads ?? attributesOf(method, path, query);
  if (allowsAll(asking.config)) return { asked, caller: ANONYMOUS_CALLER, access: ok({ ...OPEN, asked }) };
  let caller = ANONYMOUS_CALLER;
  const within = reads ? DEFAULT_CLUSTER : cluster;
  const access = await judgedOnce({ ...asking, cluster: within }, asked, (known) => (caller = known));
  return { asked, caller: access.ok ? access.value.caller : caller, access };
}

/** `cluster`: the one whose credentials and rules count; "" = none, the request is for the server as a whole. */
interface Judging extends Asking {
  cluster: string;
}

/** Where the cluster that was known has been deleted, its record is asked, and the request is judged again. */
async function judgedOnce(asking: Judging, asked: Attributes, known: (caller: Caller) => void): Promise<Result<Access, Status>> {
  try {
    return await judged(asking, asked, known);
  } catch (error) {
    if (!(error instanceof ClusterGone)) throw error;
    const { cluster } = asking;
    forgetPolicy(knownIdOf(asking.env, cluster));
    forgetCluster(asking.env, cluster);
  }
  try {
    return await judged(asking, asked, known);
  } catch (error) {
    if (!(error instanceof ClusterGone)) throw error;
    return err(serviceUnavailable("the cluster is being deleted", RETRY_AFTER_SECONDS));
  }
}

async function judged(asking: Judging, attributes: Attributes, known: (caller: Caller) => void): Promise<Result<Access, Status>> {
  const { env, config, request, cluster } = asking;
  const { path } = asking.url;
  let made: MadeAnswer | undefined;
  const meanwhile = (): void => {
    if (config.authorizationModes.includes("RBAC") && cluster !== "" && knownIdOf(env, cluster) === "")
      made = askWhetherMade(env, cluster, asking.beside);
  };
  const authenticated = await authenticate(env, request.headers, cluster, { beside: asking.beside, meanwhile });
  if (!authenticated.ok) return authenticated;
  // Which other clusters there are is nobody's business.
  const isPublic =
    (isForAnybody(path) && cluster === DEFAULT_CLUSTER) || (config.anonymousNodeHealth && nodeHealthQuestion(path) !== undefined);
  const sender = authenticated.value ?? (isPublic || config.anonymousAuth ? ANONYMOUS_CALLER : undefined);
  if (!sender) return err(unauthorized());
  known(sender);
  if (isPublic) return ok(accessOf(sender, attributes, { asking, rules: undefined }));
  const unreached = outsideOf(sender, cluster, path);
  if (unreached) return err(unreached);
  const wanted = impersonated(request.headers);
  if (!wanted.ok) return wanted;
  const asksRules = !isMaster(sender.user) || wanted.value !== undefined || asksAboutOthers(attributes);
  const rules = asksRules || isAboutRules(attributes) ? await rulesFor(asking, attributes, asksRules, made) : ok(undefined);
  if (!rules.ok) return rules;
  const own = accessOf(sender, attributes, { asking, rules: rules.value });
  if (!wanted.value) return allowed(own, cluster);
  const caller = actAs(sender, wanted.value, attributes, (asked) => own.judge(sender.user, asked));
  if (!caller.ok) return caller;
  const acting = accessOf(reachOf(caller.value, cluster), attributes, { asking, rules: rules.value });
  return allowed({ ...acting, makesClusters: own.makesClusters && acting.makesClusters }, cluster);
}

/** Whoever acts as a service account reaches what its token does: its cluster alone. */
function reachOf(acting: Caller, cluster: string): Caller {
  return acting.clusters === undefined && serviceAccountOf(acting.user.name) ? { ...acting, clusters: [cluster] } : acting;
}

/** Where everything is allowed, nobody is anybody else. */
const OPEN: Omit<Access, "asked"> = {
  caller: ANONYMOUS_CALLER,
  isOpen: true,
  makesClusters: true,
  clusterId: undefined,
  policy: undefined,
  judge: () => ({ decision: "allow", reason: "no authorization is configured: every request is allowed" }),
  reviewToken: () => Promise.resolve(err("this server issues and accepts no tokens")),
};

const REVIEWS_OF_OTHERS: readonly string[] = ["subjectaccessreviews", "localsubjectaccessreviews"];

/** Default roles are there from the first look on. */
function isAboutRules(asked: Attributes): boolean {
  return asked.kind === "resource" && (asked.group === RBAC_GROUP || asked.group === "authorization.k8s.io");
}

function asksAboutOthers(asked: Attributes): boolean {
  return asked.kind === "resource" && asked.group === "authorization.k8s.io" && REVIEWS_OF_OTHERS.includes(asked.resource);
}

interface Within {
  asking: Judging;
  rules: Rules | undefined;
}

/** Of one life of a cluster. */
interface Rules {
  id: string;
  /** undefined = whoever is allowed everything needs none */
  policy: Policy | undefined;
}

function accessOf(caller: Caller, asked: Attributes, { asking, rules }: Within): Access {
  const { authorizationModes: modes } = asking.config;
  const policy = rules?.policy;
  const isRoot = asking.cluster === DEFAULT_CLUSTER;
  return {
    caller,
    asked,
    isOpen: false,
    makesClusters: isMaster(caller.user) && caller.clusters === undefined,
    clusterId: rules?.id,
    policy,
    reviewToken: (token, audiences) => reviewToken(asking, asking.cluster, token, audiences),
    judge: (user, attributes) => {
      // Of another user, whom a review asks about, nobody knows the credential.
      const clusters = user === caller.user ? caller.clusters : undefined;
      const problem = isRoot
        ? (fleetWriteProblem({ user, clusters }, attributes) ?? fleetReadProblem({ clusters }, attributes))
        : undefined;
      return problem === undefined ? authorize(user, attributes, { modes, policy }) : { decision: "deny", reason: problem };
    },
  };
}

/** Only administrators of all clusters use the server's own paths; no cluster's rules count there. */
function allowed(access: Access, cluster: string): Result<Access, Status> {
  const { asked, caller, judge, makesClusters } = access;
  const { user } = caller;
  const isOfServer = cluster === "" || (asked.kind === "path" && isServers(asked.path));
  const { decision, reason, podOf } = isOfServer && !makesClusters ? NO_DECISION : judge(user, asked);
  if (decision !== "allow") return err(notAllowed(user, asked, reason));
  return ok(podOf === undefined ? access : { ...access, hides: (object) => hiddenPod(object, podOf, access) });
}

const NO_DECISION: NodeDecision = NO_OPINION;

/** A node sees its own Pods. Of others the rules decide. */
function hiddenPod(pod: KubeObject | undefined, node: string, { asked, caller, policy }: Access): Status | undefined {
  if (podReadProblem(node, pod) === undefined) return undefined;
  const { decision, reason } = authorizeUnrelated(node, caller.user, asked, policy);
  return decision === "allow" ? undefined : notAllowed(caller.user, asked, reason);
}

/**
 * A cluster that is not there has no rules, which allow nothing. Whoever is allowed everything reads no policy, so that he can delete what has made it
 * too large to decide by.
 */
async function rulesFor(
  { env, config, beside, request, cluster }: Judging,
  asked: Attributes,
  asksPolicy: boolean,
  made: MadeAnswer | undefined,
): Promise<Result<Rules | undefined, Status>> {
  if (cluster === "" || !config.authorizationModes.includes("RBAC")) return ok(undefined);
  const id = await activeIdOf(env, cluster, beside, made);
  if (!id.ok) return id;
  if (id.value === undefined) return ok(undefined);
  if (!asksPolicy) {
    const begun = await ensureDefaultPolicy(env, id.value, beside);
    return begun.ok ? ok({ id: id.value, policy: undefined }) : begun;
  }
  // An isolate that has not met the cluster asks for the rules, and beside that for what a create will need: once, whatever the rules say.
  if (asked.kind === "resource" && asked.verb === "create" && !hasAskedRules(id.value)) {
    const ofService = asked.group === "" && asked.resource === "services" && asked.subresource === "";
    beginBootstrap(env, id.value, request, ofService ? asked.namespace : undefined, beside);
  }
  const policy = await policyOf(env, id.value, beside);
  return policy.ok ? ok({ id: id.value, policy: policy.value }) : policy;
}

/** A credential of some clusters reaches no other one, and nothing that belongs to the server as a whole. */
function outsideOf({ clusters, user }: Caller, cluster: string, path: string): Status | undefined {
  if (!clusters || clusters.includes(cluster)) return undefined;
  const what = cluster === "" ? `path ${JSON.stringify(path)}` : `cluster ${JSON.stringify(cluster)}`;
  return forbiddenPath(`User ${JSON.stringify(user.name)} cannot reach ${what}: the credential is for other clusters`);
}
