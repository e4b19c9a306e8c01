import { describe, expect, it } from "vitest";
import type { Pod } from "../../../../../src/api/meta/kubernetes";
import { podsDefinition as definition } from "../../../../../src/api/registry/pods/definition";
import { create, update, updateStatus } from "../outcomes";

type PodSpec = NonNullable<Pod["spec"]>;

function pod(spec: Partial<PodSpec> = {}, rest: Omit<Pod, "spec"> = {}): Pod {
  return { metadata: { name: "p" }, ...rest, spec: { containers: [{ name: "c", image: "nginx:1" }], ...spec } };
}

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
    expect(status(withResources({ requests: { cpu: "1" } }))).toEqual({ phase: "Pending", qosClass: "Burstable" });
    expect(status(withResources({ limits: { cpu: "1", memory: "1Gi" } }))).toEqual({ phase: "Pending", qosClass: "Guaranteed" });
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

  it.each<Partial<PodSpec>>([{ nodeName: "n" }, { containers: [] }, { restartPolicy: "Never" }, { terminationGracePeriodSeconds: 5 }])(
    "change of %j: refused",
    (changes) => {
      expect(changed(changes).some((text) => text.startsWith("spec: Forbidden: pod updates may not change fields other than"))).toBe(true);
    },
  );

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
