/**
 * The pass that keeps the rules of aggregated ClusterRoles. It keeps what it has to know of each role as a row: labels and rules, some hundred roles in
 * a large cluster. Source: upstream pkg/controller/clusterroleaggregation.
 *
 * A write may change what another role aggregates. Its change asks for the next pass.
 */
import type { ClusterRole, PolicyRule } from "../../api/meta/kubernetes";
import { RBAC_GROUP } from "../../api/meta/rbac-names";
import type { WriteRequest } from "../../api/rpc/store";
import type { WrittenStore } from "../followed/called-store";
import { FollowedStore } from "../followed/followed-store";
import { KeptFacts } from "../followed/kept-facts";
import { KeptRows } from "../followed/kept-rows";
import type { RowStorage } from "../followed/row-storage";
import { optionsOf } from "../followed/write-requests";
import type { Pass } from "../frame/controller";
import { Frame, type FramePorts } from "../frame/frame";
import { outcomeOf } from "../frame/round";
import { staleRules } from "./aggregate";

const VERSION = "v1";
const MANAGER = "clusterrole-aggregation-controller";

export interface AggregationPorts extends FramePorts {
  storage: RowStorage;
  roles: WrittenStore;
}

export function aggregationPass({ storage, roles, ...ports }: AggregationPorts): Pass {
  const rows = new KeptRows(storage);
  const facts = new KeptFacts(rows, "roles", factsOf);
  const store = new FollowedStore(`clusterroles.${RBAC_GROUP}`, roles, facts.reader, rows, ports.recorder);
  return new Frame<[name: string, rules: PolicyRule[]]>(ports, {
    rows,
    keeps: [facts],
    follows: () => [store],
    work: {
      plan: () => staleRules([...facts.keys].flatMap((name) => facts.get(name) ?? [])),
      write: async ([name, rules]) => outcomeOf(await roles.write(applyRequest(facts.get(name)?.metadata ?? { name }, rules))),
      nameOf: ([name]) => name,
      atOnce: 1,
    },
  }).pass;
}

function factsOf({ metadata, aggregationRule, rules }: ClusterRole): ClusterRole {
  const { name, uid, labels } = metadata ?? {};
  return { metadata: { name, uid, ...(labels && { labels }) }, ...(aggregationRule && { aggregationRule }), rules } as ClusterRole;
}

/** An apply by force: the rules are the controller's, whoever wrote them. With the role's uid it creates none anew that was deleted meanwhile. */
function applyRequest({ name = "", uid }: NonNullable<ClusterRole["metadata"]>, rules: readonly PolicyRule[]): WriteRequest {
  const patch = JSON.stringify({ apiVersion: `${RBAC_GROUP}/${VERSION}`, kind: "ClusterRole", metadata: { name, uid }, rules });
  const options = { ...optionsOf({ manager: MANAGER, group: RBAC_GROUP }), force: true };
  return { verb: "patch", key: { namespace: "", name }, subresource: "", patchType: "apply", patch, options };
}
