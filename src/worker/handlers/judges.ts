/** Which judges a write has to pass, by its sender and its resource. Nearly every write has no judge, and is sent at once. */
import type { KubeObject } from "../../api/meta/kubernetes";
import { RBAC_GROUP } from "../../api/meta/rbac-names";
import { forbidden } from "../../api/meta/status";
import type { WriteRequest } from "../../api/rpc/store";
import { type Attributes, type ResourceAttributes, resourceAttributes } from "../../access/authorization/attributes";
import { notAllowed } from "../../access/authorization/refusals";
import { isMaster } from "../../access/identity/user";
import { escalationProblem, type RbacWrite } from "../../access/rbac/escalation";
import { agentNodeOf, nodeOf } from "../../access/nodes/node-identity";
import { restrictNodeWrite } from "../../access/nodes/restrict-node-write";
import type { WriteJudge } from "../access/judged-write";
import { roomForRules, type RulesRoom, WRITTEN_LENGTH_MAX } from "../access/policies";
import { mayCreate } from "./may-create";
import type { ResourceRequest } from "./resource-request";
import { staticBandGuard } from "./static-band";

export interface Judges {
  readonly all: readonly WriteJudge[];
  /** is called when the write has ended */
  end(): void;
}

const NO_JUDGES: Judges = { all: [], end: () => undefined };

export function judgesOf(request: ResourceRequest, wanted: WriteRequest): Judges {
  const { access } = request;
  if (access.isOpen || isMaster(access.caller.user)) return NO_JUDGES;
  const room = request.info.definition.group === RBAC_GROUP ? roomForRules(request.info.cluster) : undefined;
  const judges = [
    creation(request, wanted),
    nodeRestriction(request),
    staticBandGuard(request, wanted),
    escalation(request),
    room && lengthOfRules(request, room),
  ];
  return { all: judges.filter((judge) => judge !== undefined), end: () => room?.end() };
}

/** Rules that are too long decide nothing, and then nobody but administrators is served: so nobody else makes them so long. */
function lengthOfRules({ info }: ResourceRequest, room: RulesRoom): WriteJudge {
  const lengthOf = (object: KubeObject | undefined): number => (object ? JSON.stringify(object).length : 0);
  return (before, after) => {
    if (room.take(lengthOf(after) - lengthOf(before))) return undefined;
    const why = `the roles and bindings of the cluster would have more than ${WRITTEN_LENGTH_MAX} characters together`;
    return forbidden(info.definition, (after ?? before)?.metadata?.name ?? "", why);
  };
}

/** A PUT or an apply that creates needs the right to create, with the name. Upstream: apiserver endpoints/handlers/update.go. */
function creation({ access, info }: ResourceRequest, wanted: WriteRequest): WriteJudge | undefined {
  const { definition, namespace, name, version } = info;
  const { group, resource } = definition;
  if (wanted.verb === "create" || !mayCreate(info, wanted.verb === "patch" ? wanted.patchType : undefined)) return undefined;
  const asked = resourceAttributes({ verb: "create", group, version, resource, namespace, name });
  const { decision, reason } = access.judge(access.caller.user, asked);
  return decision === "allow" ? undefined : (before) => (before ? undefined : notAllowed(access.caller.user, asked, reason));
}

/** Upstream: plugin/pkg/admission/noderestriction. */
function nodeRestriction({ access, info }: ResourceRequest): WriteJudge | undefined {
  const { user } = access.caller;
  const { asked } = access;
  if ((nodeOf(user) ?? agentNodeOf(user)) === undefined || asked.kind !== "resource") return undefined;
  return (before, after) => {
    const problem = restrictNodeWrite(user, asked, before, after);
    return problem === undefined ? undefined : forbidden(info.definition, nameOf(asked, before, after), problem);
  };
}

function nameOf({ name }: ResourceAttributes, before: KubeObject | undefined, after: KubeObject | undefined): string {
  return name !== "" ? name : ((before ?? after)?.metadata?.name ?? "");
}

/** Upstream: policybased of each kind in pkg/registry/rbac. */
function escalation({ access, info }: ResourceRequest): WriteJudge | undefined {
  const { caller, judge, policy } = access;
  const { definition, namespace, name: requestName } = info;
  if (definition.group !== RBAC_GROUP || !policy) return undefined;
  const { user } = caller;
  const writer = { user, namespace, requestName, authorize: (asked: Attributes) => judge(user, asked) };
  return (before, after) => {
    if (!after) return undefined;
    return escalationProblem(policy, writer, { kind: definition.kind, after, ...(before ? { before } : {}) } as RbacWrite);
  };
}
