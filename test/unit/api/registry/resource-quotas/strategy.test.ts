import { describe, expect, it } from "vitest";
import type { ResourceQuota } from "../../../../../src/api/meta/kubernetes";
import { storedDefinitions } from "../../../../../src/api/registry/all";
import { resourceQuotasDefinition as definition } from "../../../../../src/api/registry/resource-quotas/definition";
import { usageRules } from "../../../../../src/api/registry/resource-quotas/usage";
import { create, NOW, update, updateStatus } from "../outcomes";

type Spec = NonNullable<ResourceQuota["spec"]>;

const quota = (spec: Spec, status?: ResourceQuota["status"]): ResourceQuota => ({
  metadata: { name: "q" },
  spec,
  ...(status ? { status } : {}),
});
const stored = (spec: Spec): ResourceQuota => ({
  ...quota(spec),
  metadata: { name: "q", namespace: "ns", uid: "u", resourceVersion: "1", creationTimestamp: "2026-01-01T00:00:00Z" },
});

/** Upstream shows the whole selector, with the names of its internal type. */
const MISFIT =
  "spec.scopeSelector.matchExpressions: Invalid value: " +
  '{"MatchExpressions":[{"ScopeName":"PriorityClass","Operator":"In","Values":["high"]},' +
  '{"ScopeName":"VolumeAttributesClass","Operator":"Exists","Values":null}]}: unsupported scope applied to resource';

describe("validation", () => {
  const scopes = 'spec.scopes: Invalid value: ["Terminating","NotTerminating"]: conflicting scopes';

  it.each<[string, Spec, string[]]>([
    [
      "every name of upstream",
      {
        hard: {
          cpu: "1",
          memory: "1Gi",
          pods: "10",
          "services.nodeports": "5",
          "count/widgets.example.com": "1",
          "requests.storage": "1Gi",
        },
      },
      [],
    ],
    ["compute resources in parts", { hard: { "limits.cpu": "1500m", "hugepages-2Mi": "1Gi", "requests.nvidia.com/gpu": "4" } }, []],
    [
      "an unknown plain name",
      { hard: { widgets: "1" } },
      [
        'spec.hard[widgets]: Invalid value: "widgets": must be a standard resource type or fully qualified',
        'spec.hard[widgets]: Invalid value: "widgets": must be a standard resource for quota',
      ],
    ],
    [
      "storage, which is no name of quotas",
      { hard: { storage: "1" } },
      ['spec.hard[storage]: Invalid value: "storage": must be a standard resource for quota'],
    ],
    ["a negative limit", { hard: { pods: "-1" } }, ['spec.hard[pods]: Invalid value: "-1": must be greater than or equal to 0']],
    ["half an object", { hard: { services: "500m" } }, ['spec.hard[services]: Invalid value: "500m": must be an integer']],
    ["half a count", { hard: { "count/pods": "1.5" } }, ['spec.hard[count/pods]: Invalid value: "1.5": must be an integer']],
    ["a scope", { hard: { pods: "1", cpu: "1" }, scopes: ["NotTerminating"] }, []],
    ["an unknown scope", { scopes: ["Other"] }, ['spec.scopes: Invalid value: ["Other"]: unsupported scope']],
    ["scopes that exclude each other", { hard: { pods: "1" }, scopes: ["Terminating", "NotTerminating"] }, [scopes]],
    [
      "a scope of other resources",
      { hard: { services: "1" }, scopes: ["BestEffort"] },
      ['spec.scopes: Invalid value: ["BestEffort"]: unsupported scope applied to resource'],
    ],
    [
      "a selector by class",
      { hard: { pods: "1" }, scopeSelector: { matchExpressions: [{ scopeName: "PriorityClass", operator: "In", values: ["high"] }] } },
      [],
    ],
    [
      "a selector without values",
      { scopeSelector: { matchExpressions: [{ scopeName: "PriorityClass", operator: "In" }] } },
      [
        "spec.scopeSelector.matchExpressions.values: Required value: must be at least one value when `operator` is 'In' or 'NotIn' for scope selector",
      ],
    ],
    [
      "a selector with an unknown operator",
      { scopeSelector: { matchExpressions: [{ scopeName: "PriorityClass", operator: "Near" }] } },
      ['spec.scopeSelector.matchExpressions.operator: Invalid value: "Near": not a valid selector operator'],
    ],
    [
      "a selector with values that nobody asks for",
      { scopeSelector: { matchExpressions: [{ scopeName: "PriorityClass", operator: "Exists", values: ["x"] }] } },
      [
        "spec.scopeSelector.matchExpressions.values: Invalid value: [\"x\"]: must be no value when `operator` is 'Exist' or 'DoesNotExist' for scope selector",
      ],
    ],
    [
      "selectors by scopes that may limit the resources",
      {
        hard: { "requests.storage": "1Gi", persistentvolumeclaims: "1", "count/widgets.example.com": "1" },
        scopeSelector: { matchExpressions: [{ scopeName: "VolumeAttributesClass", operator: "In", values: ["gold"] }] },
      },
      [],
    ],
    [
      "a selector by an unknown scope",
      { hard: { services: "1" }, scopeSelector: { matchExpressions: [{ scopeName: "Other", operator: "Exists" }] } },
      ['spec.scopeSelector.matchExpressions.scopeName: Invalid value: "Other": unsupported scope'],
    ],
    [
      "selectors by scopes of other resources",
      {
        hard: { services: "1" },
        scopeSelector: {
          matchExpressions: [
            { scopeName: "PriorityClass", operator: "In", values: ["high"] },
            { scopeName: "VolumeAttributesClass", operator: "Exists" },
          ],
        },
      },
      [MISFIT, MISFIT],
    ],
    [
      "a selector by a scope that a resource has or has not, with values",
      { scopeSelector: { matchExpressions: [{ scopeName: "BestEffort", operator: "In", values: ["x"] }] } },
      [
        "spec.scopeSelector.matchExpressions.operator: Invalid value: \"In\": must be 'Exists' when scope is any of ResourceQuotaScopeTerminating, ResourceQuotaScopeNotTerminating, ResourceQuotaScopeBestEffort, ResourceQuotaScopeNotBestEffort or ResourceQuotaScopeCrossNamespacePodAffinity",
      ],
    ],
    ["a selector without requirements", { hard: { pods: "1" }, scopeSelector: {} }, []],
  ])("%s: upstream's causes", (_, spec, errors) => {
    expect(create(definition, quota(spec)).errors).toEqual(errors);
  });

  it("an update: scopes are fixed in any order, limits are not; the stored status stays", () => {
    const before = { ...stored({ hard: { pods: "1" }, scopes: ["BestEffort", "Terminating"] }), status: { hard: { pods: "1" } } };
    const reordered = update(definition, {
      after: quota({ hard: { pods: "2" }, scopes: ["Terminating", "BestEffort"] }, { used: {} }),
      before,
    });
    expect(reordered.errors).toEqual([]);
    expect(reordered.object.status).toEqual({ hard: { pods: "1" } });
    expect(update(definition, { after: quota({ hard: { pods: "1" }, scopes: ["BestEffort"] }), before }).errors).toEqual([
      'spec.scopes: Invalid value: ["BestEffort"]: field is immutable',
    ]);
  });

  it("a status: is judged like the spec, and dropped by a create", () => {
    const before = stored({ hard: { pods: "1" } });
    expect(updateStatus(definition, { after: quota({}, { hard: { pods: "x1" }, used: { pods: "-1" } }), before }).errors).toEqual([
      'status.used[pods]: Invalid value: "-1": must be greater than or equal to 0',
    ]);
    expect(create(definition, quota({ hard: { pods: "1" } }, { used: { pods: "1" } })).object.status).toEqual({});
  });

  it("requests beyond their limit: a warning", () => {
    const { warnings } = create(
      definition,
      quota({ hard: { cpu: "2", "limits.cpu": "1", "requests.memory": "1Gi", "limits.memory": "1Gi" } }),
    );
    expect(warnings).toEqual(["ResourceQuota cpu (2) should be less than limits.cpu (1)"]);
  });
});

it("columns: used and hard of each name in order, limits of compute resources apart", () => {
  const shown: ResourceQuota = {
    ...stored({}),
    status: { hard: { services: "5", pods: "10", "limits.cpu": "2" }, used: { pods: "1", "limits.cpu": "1" } },
  };
  expect(definition.cells(shown, NOW).slice(0, 3)).toEqual(["q", "pods: 1/10, services: 0/5", "limits.cpu: 1/2"]);
});

it("names of quotas: count/ for every namespaced resource but events, and the older names", () => {
  const names = storedDefinitions.flatMap((one) => {
    const rules = usageRules(one);
    return rules ? [...rules.counted, ...rules.measured] : [];
  });
  expect(names.sort()).toEqual([
    "configmaps",
    ...["configmaps", "endpoints", "endpointslices.discovery.k8s.io"].map(counted),
    ...["inclusterippools", "inclusterprefixpools", "ipaddressclaims", "ipaddresses"].map((resource) =>
      counted(`${resource}.ipam.cluster.x-k8s.io`),
    ),
    ...["leases.coordination.k8s.io", "pods", "podtemplates"].map(counted),
    ...["resourcequotas", "rolebindings.rbac.authorization.k8s.io", "roles.rbac.authorization.k8s.io"].map(counted),
    ...["secrets", "serviceaccounts", "services"].map(counted),
    ...["pods", "resourcequotas", "secrets", "services", "services.loadbalancers", "services.nodeports"],
  ]);
});

it("5,000 scopes of a selector over 5,000 resources: judged in no more than their sum", () => {
  const hard = Object.fromEntries(Array.from({ length: 5_000 }, (_, i) => [`count/a${i}.example.com`, "1"]));
  const matchExpressions = Array.from({ length: 5_000 }, () => ({ scopeName: "Terminating", operator: "Exists" as const }));
  const outcome = create(definition, quota({ hard, scopeSelector: { matchExpressions } }));
  expect(outcome.errors).toEqual([]);
});

function counted(resource: string): string {
  return `count/${resource}`;
}
