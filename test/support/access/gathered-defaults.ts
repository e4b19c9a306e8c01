/** The default roles as they are once the controller has gathered them: edit has view's rules, and admin those of edit. */
import { defaultPolicy } from "../../../src/access/rbac/default-policy";
import { Policy } from "../../../src/access/rbac/policy";
import type { ClusterRole } from "../../../src/api/meta/kubernetes";
import { staleRules } from "../../../src/controllers/cluster-roles/aggregate";

export function gatheredDefaults(): Policy {
  const policy = new Policy();
  const roles: ClusterRole[] = [];
  for (const { kind, object } of defaultPolicy()) {
    policy.put(kind, object);
    if (kind === "ClusterRole") roles.push(object);
  }
  for (let stale = staleRules(roles); stale.size > 0; stale = staleRules(roles)) {
    for (const role of roles) {
      const rules = stale.get(role.metadata?.name ?? "");
      if (rules === undefined) continue;
      role.rules = rules;
      policy.put("ClusterRole", role);
    }
  }
  return policy;
}
