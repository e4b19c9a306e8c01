/** What the stores of roles and bindings have besides: that of ClusterRoles compiles the rules of the cluster, the others tell it what changes. */
import type { BatchedStore } from "../src/api/rpc/store";
import type { ObjectFeed } from "../src/api/rpc/object-feed";
import { RBAC_GROUP } from "../src/api/meta/rbac-names";
import { PolicyHost, type PolicyHostPorts } from "../src/access/rbac/policy-host";
import { resourceOfKind } from "../src/access/rbac/rbac-resources";
import { AnnouncedWrites } from "../src/controllers/announced-writes";
import type { PlainStorePorts } from "../src/controllers/plain-store";
import type { Env } from "./platform/env";
import { policyStore, storeStub } from "./peers/peers";
import type { StoreSetting } from "./store-ports";

/** Values beside the tables of the store of ClusterRoles, in its transactions. */
const DEFAULTS = "default-policy";
const STORED = "compiled-policy";

/** Also where roles do not decide: what is kept of the rules has to be right when they decide again. */
export function rulesPorts(env: Env, setting: StoreSetting, { kv }: DurableObjectStorage): Pick<PlainStorePorts, "announced" | "policy"> {
  const { cluster, clock, definition, digest, recorder } = setting;
  const { group, resource } = definition;
  if (group !== RBAC_GROUP) return {};
  if (resource !== resourceOfKind("ClusterRole").resource) {
    return { announced: new AnnouncedWrites({ clock, resource, listener: () => policyStore(env, cluster) }) };
  }
  return {
    policy: (own) => {
      const store: PolicyHostPorts["store"] = (kind) =>
        kind === "ClusterRole" ? own : storeStub<ObjectFeed & BatchedStore>(env, cluster, resourceOfKind(kind));
      const defaults: PolicyHostPorts["defaults"] = { load: () => kv.get(DEFAULTS), save: (version) => kv.put(DEFAULTS, version) };
      const stored: PolicyHostPorts["stored"] = {
        load: () => kv.get(STORED),
        save: (rules) => kv.put(STORED, rules),
        remove: () => void kv.delete(STORED),
      };
      return new PolicyHost({ clock, digest, recorder, store, defaults, stored });
    },
  };
}
