import { describe, expect, it } from "vitest";
import type { Pod } from "../../../../../src/api/meta/kubernetes";
import { podsDefinition as definition } from "../../../../../src/api/registry/pods/definition";
import { StoreWorld } from "../../../../support/worlds/store-world";
import { create, update, updateStatus } from "../outcomes";

type PodSpec = NonNullable<Pod["spec"]>;

function pod(spec: Partial<PodSpec> = {}, rest: Omit<Pod, "spec"> = {}): Pod {
  return { metadata: { name: "p" }, ...rest, spec: { containers: [{ name: "c", image: "nginx:1" }], ...spec } };
}

const [NOT_READY, UNREACHABLE] = ["not-ready", "unreachable"].map((taint) => ({
  key: `node.kubernetes.io/${taint}`,
  operator: "Exists",
  effect: "NoExecute",
  tolerationSeconds: 300,
}));
const BY_DEFAULT = [NOT_READY, UNREACHABLE];

/** The cases of upstream's plugin, and those that its two comparisons tell apart. */
describe("default tolerations", () => {
  const other = { key: "other", operator: "Exists", effect: "NoExecute", tolerationSeconds: 5 };
  it.each<[string, PodSpec["tolerations"], unknown]>([
    ["no tolerations", undefined, BY_DEFAULT],
    ["a toleration of another taint", [other], [other, NOT_READY, UNREACHABLE]],
    ["not-ready tolerated", [{ ...NOT_READY, tolerationSeconds: 700 }], [{ ...NOT_READY, tolerationSeconds: 700 }, UNREACHABLE]],
    [
      "unreachable tolerated for ever",
      [{ ...UNREACHABLE, tolerationSeconds: undefined }],
      [{ ...UNREACHABLE, tolerationSeconds: undefined }, NOT_READY],
    ],
    [
      "not-ready tolerated for every effect",
      [{ key: NOT_READY?.key, operator: "Exists" }],
      [{ key: NOT_READY?.key, operator: "Exists" }, UNREACHABLE],
    ],
    [
      "not-ready tolerated for NoSchedule",
      [{ key: NOT_READY?.key, operator: "Exists", effect: "NoSchedule" }],
      [{ key: NOT_READY?.key, operator: "Exists", effect: "NoSchedule" }, NOT_READY, UNREACHABLE],
    ],
    ["everything tolerated", [{ operator: "Exists" }], [{ operator: "Exists" }]],
    ["every taint tolerated for NoExecute", [{ operator: "Exists", effect: "NoExecute" }], [{ operator: "Exists", effect: "NoExecute" }]],
    [
      "every taint tolerated for NoSchedule",
      [{ operator: "Exists", effect: "NoSchedule" }],
      [{ operator: "Exists", effect: "NoSchedule" }, NOT_READY, UNREACHABLE],
    ],
  ])("%s: upstream's list", (_, tolerations, want) => {
    expect(create(definition, pod({ tolerations })).object.spec?.tolerations).toEqual(want);
  });

  it("an update of a Pod of an earlier release: adds them, and judges nothing else anew", () => {
    const before = create(definition, pod({ nodeName: "n" })).object;
    const earlier = { ...before, spec: { ...before.spec, containers: [{ name: "c", image: " wrong" }], tolerations: undefined } } as Pod;
    const { object, errors } = update(definition, {
      after: { ...earlier, metadata: { ...earlier.metadata, labels: { a: "b" } } },
      before: earlier,
    });
    expect(errors).toEqual([]);
    expect(object.spec?.tolerations).toEqual(BY_DEFAULT);
  });

  it("an update that tolerates everything instead: may leave them out", () => {
    const before = create(definition, pod()).object;
    const earlier = { ...before, spec: { ...before.spec, tolerations: undefined } } as Pod;
    const after = { ...earlier, spec: { ...earlier.spec, tolerations: [{ operator: "Exists" }] } } as Pod;
    const { object, errors } = update(definition, { after, before: earlier });
    expect(errors).toEqual([]);
    expect(object.spec?.tolerations).toEqual([{ operator: "Exists" }]);
  });

  it("a write of the status: adds none", () => {
    const before = create(definition, pod({ nodeName: "n" })).object;
    const earlier = { ...before, spec: { ...before.spec, tolerations: undefined } } as Pod;
    const { object } = updateStatus(definition, {
      after: { ...earlier, status: { ...earlier.status, phase: "Running" } },
      before: earlier,
    });
    expect(object.spec?.tolerations).toBeUndefined();
  });
});

describe("create", () => {
  it("static defaults: filled in", () => {
    const { object, errors } = create(definition, pod({ containers: [{ name: "c", image: "nginx", ports: [{ containerPort: 80 }] }] }));
    expect(errors).toEqual([]);
    expect(object.spec).toEqual({
      restartPolicy: "Always",
      dnsPolicy: "ClusterFirst",
      terminationGracePeriodSeconds: 30,
      securityContext: {},
      schedulerName: "default-scheduler",
      enableServiceLinks: true,
      tolerations: BY_DEFAULT,
      containers: [
        {
          name: "c",
          image: "nginx",
          imagePullPolicy: "Always",
          terminationMessagePath: "/dev/termination-log",
          terminationMessagePolicy: "File",
          resources: {},
          ports: [{ containerPort: 80, protocol: "TCP" }],
        },
      ],
    });
    expect(object.metadata?.generation).toBe(1);
  });

  it.each([
    ["nginx", "Always"],
    ["nginx:latest", "Always"],
    ["nginx:1.2", "IfNotPresent"],
    ["reg:5000/nginx", "Always"],
    ["nginx@sha256:0123", "IfNotPresent"],
  ])("pull policy of %s: %s", (image, want) => {
    expect(create(definition, pod({ containers: [{ name: "c", image }] })).object.spec?.containers[0]?.imagePullPolicy).toBe(want);
  });

  it("a new Pod: Pending, with its quality of service", () => {
    const withResources = (resources: PodSpec["containers"][number]["resources"]) =>
      pod({ containers: [{ name: "c", image: "i", resources }] }, { status: { phase: "Running" } });
    const status = (given: Pod) => create(definition, given).object.status;
    expect(status(withResources({}))).toEqual({ phase: "Pending", qosClass: "BestEffort" });
    expect(status(withResources({ requests: { cpu: "0" } }))).toEqual({ phase: "Pending", qosClass: "BestEffort" });
    expect(status(withResources({ requests: { cpu: "1" } }))).toEqual({ phase: "Pending", qosClass: "Burstable" });
    expect(status(withResources({ limits: { cpu: "1", memory: "1Gi" } }))).toEqual({ phase: "Pending", qosClass: "Guaranteed" });
  });

  it("references to fields and resources: have a version and a divisor", () => {
    const given = pod({
      containers: [{ name: "c", image: "i", env: [{ name: "A", valueFrom: { resourceFieldRef: { resource: "limits.cpu" } } }] }],
      volumes: [{ name: "v", downwardAPI: { items: [{ path: "a", fieldRef: { fieldPath: "metadata.name" } }] } }],
    });
    const { spec } = create(definition, given).object;
    expect(spec?.containers[0]?.env?.[0]?.valueFrom?.resourceFieldRef).toEqual({ resource: "limits.cpu", divisor: "0" });
    expect(spec?.volumes?.[0]?.downwardAPI?.items).toEqual([{ path: "a", fieldRef: { apiVersion: "v1", fieldPath: "metadata.name" } }]);
  });

  it("defaults of probes and volumes: filled in", () => {
    const given = pod({
      containers: [{ name: "c", image: "i", readinessProbe: { httpGet: { port: 80 } } }],
      volumes: [{ name: "v" }, { name: "s", secret: { secretName: "x" } }],
      hostNetwork: true,
    });
    const { object } = create(definition, given);
    expect(object.spec?.containers[0]?.readinessProbe).toEqual({
      httpGet: { port: 80, path: "/", scheme: "HTTP" },
      timeoutSeconds: 1,
      periodSeconds: 10,
      successThreshold: 1,
      failureThreshold: 3,
    });
    expect(object.spec?.volumes).toEqual([
      { name: "v", emptyDir: {} },
      { name: "s", secret: { secretName: "x", defaultMode: 420 } },
    ]);
  });
});

describe("validation", () => {
  it.each<[string, Partial<PodSpec>, (string | RegExp)[]]>([
    ["no containers", { containers: [] }, ["spec.containers: Required value"]],
    [
      "a container without name and image",
      { containers: [{ name: "" }] },
      ["spec.containers[0].name: Required value", "spec.containers[0].image: Required value"],
    ],
    [
      "a name twice",
      {
        containers: [
          { name: "c", image: "i" },
          { name: "c", image: "i" },
        ],
      },
      ['spec.containers[1].name: Duplicate value: "c"'],
    ],
    [
      "a port out of range",
      { containers: [{ name: "c", image: "i", ports: [{ containerPort: 70000 }] }] },
      [/containerPort: Invalid value: 70000: must be between 1 and 65535, inclusive$/],
    ],
    [
      "restartPolicy",
      { restartPolicy: "x" },
      ['spec.restartPolicy: Unsupported value: "x": supported values: "Always", "OnFailure", "Never"'],
    ],
    ["nodeName", { nodeName: "A_" }, [/^spec\.nodeName: Invalid value: "A_"/]],
    ["hostname", { hostname: "a.b" }, ['spec.hostname: Invalid value: "a.b": must not contain dots']],
  ])("%s: refused with upstream's text", (_, spec, want) => {
    const got = create(definition, pod(spec)).errors;
    expect(got).toHaveLength(want.length);
    want.forEach((text, i) => (typeof text === "string" ? expect(got[i]).toBe(text) : expect(got[i]).toMatch(text)));
  });
});

describe("update", () => {
  const before = create(definition, pod()).object;
  const changed = (changes: Partial<PodSpec>): string[] =>
    update(definition, { after: { metadata: { name: "p" }, spec: { ...structuredClone(before.spec), ...changes } as PodSpec }, before })
      .errors;

  it("images, added tolerations and deadlines: may change", () => {
    expect(changed({ containers: [{ ...before.spec?.containers[0], name: "c", image: "nginx:2" }] })).toEqual([]);
    expect(changed({ tolerations: [{ key: "a", operator: "Exists" }], activeDeadlineSeconds: 5 })).toEqual([]);
  });

  it.each<Partial<PodSpec>>([{ nodeName: "n" }, { restartPolicy: "Never" }, { terminationGracePeriodSeconds: 5 }])(
    "change of %j: refused",
    (changes) => {
      expect(changed(changes).some((text) => text.startsWith("spec: Forbidden: pod updates may not change fields other than"))).toBe(true);
    },
  );

  const gated = create(
    definition,
    pod({
      ...{ schedulingGates: [{ name: "g" }, { name: "h" }], activeDeadlineSeconds: 100, nodeSelector: { a: "b" } },
      tolerations: [{ key: "a", operator: "Exists", effect: "NoExecute", tolerationSeconds: 5 }],
    }),
  ).object;
  const tolerated = gated.spec?.tolerations ?? [];

  it.each<[string, Partial<PodSpec>, string[]]>([
    [
      "a container more",
      { containers: [] },
      ["spec.containers: Required value", "spec.containers: Forbidden: pod updates may not add or remove containers"],
    ],
    ["a lower deadline", { activeDeadlineSeconds: 50 }, []],
    [
      "a higher deadline",
      { activeDeadlineSeconds: 150 },
      ["spec.activeDeadlineSeconds: Invalid value: 150: must be less than or equal to previous value"],
    ],
    [
      "no deadline",
      { activeDeadlineSeconds: undefined },
      ["spec.activeDeadlineSeconds: Invalid value: null: must not update from a positive integer to nil value"],
    ],
    ["another time to tolerate", { tolerations: [{ ...tolerated[0], tolerationSeconds: 50 }] }, []],
    [
      "no toleration",
      { tolerations: [] },
      ["spec.tolerations: Forbidden: existing toleration can not be modified except its tolerationSeconds"],
    ],
    ["a gate less", { schedulingGates: [{ name: "g" }] }, []],
    [
      "a new gate",
      { schedulingGates: [{ name: "g" }, { name: "n" }] },
      ["spec.schedulingGates[1].name: Forbidden: only deletion is allowed, but found new scheduling gate 'n'"],
    ],
    ["a selector more", { nodeSelector: { a: "b", c: "d" } }, []],
    [
      "another selector",
      { nodeSelector: { a: "c" } },
      ['spec.nodeSelector: Invalid value: {"a":"c"}: only additions to spec.nodeSelector are allowed (no mutations or deletions)'],
    ],
  ])("a Pod that no scheduler has seen, %s: as upstream", (_, changes, want) => {
    const after = { metadata: { name: "p" }, spec: { ...structuredClone(gated.spec), ...changes } as PodSpec };
    expect(update<Pod>(definition, { after, before: gated }).errors).toEqual(want);
  });

  type Affinity = NonNullable<PodSpec["affinity"]>;
  type Terms = NonNullable<NonNullable<Affinity["nodeAffinity"]>["requiredDuringSchedulingIgnoredDuringExecution"]>["nodeSelectorTerms"];
  const required = (...nodeSelectorTerms: Terms): Affinity => ({
    nodeAffinity: { requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms } },
  });
  const zone = { key: "zone", operator: "In", values: ["a"] };
  const disk = { key: "disk", operator: "Exists" };
  const named = { key: "metadata.name", operator: "In", values: ["n"] };
  const podAffinity = { requiredDuringSchedulingIgnoredDuringExecution: [{ topologyKey: "zone" }] };
  const preferred = { preferredDuringSchedulingIgnoredDuringExecution: [{ weight: 1, preference: { matchExpressions: [zone] } }] };
  const TERMS = "spec.affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms";
  const COUNTED = "no additions/deletions to non-empty NodeSelectorTerms list are allowed";
  const ADDED = "only additions are allowed (no mutations or deletions)";
  const FIXED = expect.stringMatching(/^spec: Forbidden: pod updates may not change fields/) as unknown as string;

  it.each<[string, Affinity | undefined, Affinity | undefined, string[]]>([
    ["the first terms", undefined, required({ matchExpressions: [zone] }), []],
    ["the first terms beside those of Pods", { podAffinity }, { podAffinity, ...required({ matchExpressions: [zone] }) }, []],
    ["terms beside a preference", { nodeAffinity: preferred }, required({ matchExpressions: [zone] }), []],
    ["no preference", { nodeAffinity: preferred }, undefined, []],
    ["an expression more", required({ matchExpressions: [zone] }), required({ matchExpressions: [zone, disk] }), []],
    ["a field more", required({ matchFields: [named] }), required({ matchFields: [named], matchExpressions: [zone] }), []],
    [
      "another expression",
      required({ matchExpressions: [zone] }),
      required({ matchExpressions: [disk] }),
      [`${TERMS}[0]: Invalid value: {"MatchExpressions":[{"Key":"disk","Operator":"Exists","Values":null}],"MatchFields":null}: ${ADDED}`],
    ],
    [
      "an expression in a term that has none",
      required({}),
      required({ matchFields: [named] }),
      [
        `${TERMS}[0]: Invalid value: {"MatchExpressions":null,"MatchFields":[{"Key":"metadata.name","Operator":"In","Values":["n"]}]}: ${ADDED}`,
      ],
    ],
    ["no terms", required({ matchExpressions: [zone] }), undefined, [`${TERMS}: Invalid value: null: ${COUNTED}`]],
    [
      "a term more",
      required({ matchFields: [named] }),
      required({ matchFields: [named] }, {}),
      [
        `${TERMS}: Invalid value: [{"MatchExpressions":null,"MatchFields":[{"Key":"metadata.name","Operator":"In","Values":["n"]}]},{"MatchExpressions":null,"MatchFields":null}]: ${COUNTED}`,
      ],
    ],
    ["terms for Pods", undefined, { podAffinity, ...required({ matchExpressions: [zone] }) }, [FIXED]],
  ])("affinity of a Pod that no scheduler has seen, %s: as upstream", (_, affinity, wanted, want) => {
    const old: Pod = { ...gated, spec: { containers: [], ...gated.spec, affinity } };
    const after: Pod = { metadata: { name: "p" }, spec: { containers: [], ...structuredClone(gated.spec), affinity: wanted } };
    expect(update<Pod>(definition, { after, before: old }).errors).toEqual(want);
  });

  it("affinity of a Pod without gates: refused", () => {
    expect(changed({ affinity: required({ matchExpressions: [zone] }) })).toEqual([FIXED]);
  });

  it("a Pod with scheduling gates: has the condition that says so", () => {
    expect(gated.status?.conditions).toEqual([
      {
        ...{ type: "PodScheduled", status: "False", reason: "SchedulingGated" },
        ...{ message: "Scheduling is blocked due to non-empty scheduling gates", lastTransitionTime: "2026-01-01T12:00:00Z" },
      },
    ]);
  });

  const container = before.spec?.containers[0] ?? { name: "c" };
  const field = { path: "a", fieldRef: { fieldPath: "metadata.name" } };
  const resourceFieldRef = { containerName: "c", resource: "limits.cpu" };
  const downwardAPI = { items: [{ path: "b", resourceFieldRef }] };
  const ofOld: [string, Partial<PodSpec>][] = [
    ["a variable without divisor", { containers: [{ ...container, env: [{ name: "A", valueFrom: { resourceFieldRef } }] }] }],
    ["a downward API item without version", { volumes: [{ name: "v", downwardAPI: { items: [field], defaultMode: 420 } }] }],
    ["a projected item without version", { volumes: [{ name: "v", projected: { sources: [{ downwardAPI: { items: [field] } }] } }] }],
    ["a projected item without divisor", { volumes: [{ name: "v", projected: { sources: [{ downwardAPI }], defaultMode: 420 } }] }],
    [
      "a long quantity and an unknown volume",
      { containers: [{ ...container, resources: { requests: { cpu: "1000m" } }, volumeMounts: [{ name: "none", mountPath: "/x" }] }] },
    ],
    ["a grace period below zero and an unknown policy", { terminationGracePeriodSeconds: -5, restartPolicy: "x" }],
  ];

  it.each(ofOld)("a Pod of an earlier release, %s: may get a label", async (_, changes) => {
    const old: Pod = { ...before, spec: { ...before.spec, containers: [container], ...changes } };
    const world = new StoreWorld({ definition });
    const data = JSON.stringify({ ...old, metadata: { name: "p", namespace: "ns", uid: "u", finalizers: ["example.com/x"] } });
    world.storage.objectPut({ key: "ns/p", uid: "u", revision: 1, data });
    expect(await world.patch("p", "merge", { metadata: { labels: { a: "b" }, finalizers: null } }, { group: "" })).toMatchObject({
      ok: true,
      code: 200,
    });
    expect(world.stored<Pod>("p")?.metadata?.finalizers).toBeUndefined();
  });

  it("a Pod of an earlier release, another variable: refused", () => {
    const [, changes] = ofOld[0] ?? [];
    const old: Pod = { ...before, spec: { ...before.spec, containers: [container], ...changes } };
    const after = structuredClone(old);
    Object.assign(after.spec?.containers[0]?.env?.[0] ?? {}, { name: "B" });
    expect(update<Pod>(definition, { after, before: old }).errors).toEqual([
      expect.stringMatching(/^spec: Forbidden: pod updates may not/),
    ]);
    Object.assign(after.spec?.containers[0] ?? {}, { image: "nginx:2", env: old.spec?.containers[0]?.env });
    expect(update<Pod>(definition, { after, before: old }).errors).toEqual([]);
  });

  it("quantities in another form than the stored one: are no change", () => {
    const resources = { limits: { memory: "1024Mi" } };
    const old: Pod = structuredClone(before);
    Object.assign(old.spec?.containers[0] ?? {}, { resources });
    const after = structuredClone(old);
    Object.assign(after.spec?.containers[0] ?? {}, { resources: { limits: { memory: "1Gi" }, requests: { memory: "1Gi" } } });
    Object.assign(old.spec?.containers[0] ?? {}, { resources: { limits: { memory: "1024Mi" }, requests: { memory: "1024Mi" } } });
    expect(update<Pod>(definition, { after, before: old }).errors).toEqual([]);
  });

  it("a spec that breaks a rule and does not change: other members may change", () => {
    const old: Pod = structuredClone(before);
    Object.assign(old.spec?.containers[0] ?? {}, { volumeMounts: [{ name: "none", mountPath: "/x" }] });
    const after: Pod = { ...structuredClone(old), metadata: { name: "p", labels: { a: "b" } } };
    expect(update<Pod>(definition, { after, before: old }).errors).toEqual([]);
  });

  it("a grace period below zero: is one second, also of a Pod that is stored", () => {
    expect(create(definition, pod({ terminationGracePeriodSeconds: -5 })).object.spec?.terminationGracePeriodSeconds).toBe(1);
    const old: Pod = structuredClone(before);
    Object.assign(old.spec ?? {}, { terminationGracePeriodSeconds: -5 });
    expect(update(definition, { after: structuredClone(old), before: old }).errors).toEqual([]);
  });

  it("the status endpoint: keeps spec and owners, and fills in podIP and podIPs from each other", () => {
    const owned: Pod = {
      ...before,
      metadata: { ...before.metadata, ownerReferences: [{ apiVersion: "v1", kind: "Node", name: "n", uid: "u" }] },
    };
    const { object, errors } = updateStatus(definition, {
      after: { metadata: { name: "p" }, status: { phase: "Running", podIP: "10.0.0.1" } },
      before: owned,
    });
    expect(errors).toEqual([]);
    expect(object.spec).toEqual(before.spec);
    expect(object.metadata?.ownerReferences).toEqual(owned.metadata?.ownerReferences);
    expect(object.status).toEqual({ phase: "Running", qosClass: "BestEffort", podIP: "10.0.0.1", podIPs: [{ ip: "10.0.0.1" }] });
  });
});

it("selectable fields: upstream's, with their values", () => {
  const given = pod(
    { nodeName: "n", hostNetwork: true },
    { status: { phase: "Running", podIPs: [{ ip: "10.0.0.1" }, { ip: "fd00::1" }] } },
  );
  expect(definition.selectableFields(given)).toMatchObject({
    "spec.nodeName": "n",
    "spec.host": "n",
    "spec.hostNetwork": "true",
    "status.phase": "Running",
    "status.podIPs": "10.0.0.1,fd00::1",
    "status.nominatedNodeName": "",
  });
});
