import { describe, expect, it } from "vitest";
import type { Pod } from "../../../../../src/api/meta/kubernetes";
import { podTemplateWarnings, podWarnings } from "../../../../../src/api/registry/pods/warnings";

type Spec = NonNullable<Pod["spec"]>;
type Container = Spec["containers"][number];

const aContainer = (part: Partial<Container> = {}): Container => ({ name: "c", image: "i", ...part });

function warningsOf(spec: Partial<Spec>, metadata: Pod["metadata"] = { name: "p" }): string[] {
  return podWarnings({ metadata, spec: { containers: [aContainer()], ...spec } });
}

/** The texts are those of pkg/api/pod/warnings.go in a tree of 1.36.2. */
describe("warnings for the create of a Pod", () => {
  const expression = { key: "beta.kubernetes.io/os", operator: "In", values: ["a b"] };
  const oldOS = 'deprecated since v1.14; use "kubernetes.io/os" instead';
  const noSelector = "a null labelSelector results in matching no pod";
  const affinity = "spec.affinity.podAffinity";
  const ports = (...list: Container["ports"] & object): Partial<Spec> => ({ containers: [aContainer({ ports: list })] });

  const rows: [string, Partial<Spec>, string[]][] = [
    ["a plain Pod", {}, []],
    ["a deprecated node label", { nodeSelector: { "beta.kubernetes.io/os": "x" } }, [`spec.nodeSelector[beta.kubernetes.io/os]: ${oldOS}`]],
    [
      "a deprecated label in a required affinity",
      {
        affinity: {
          nodeAffinity: { requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms: [{ matchExpressions: [expression] }] } },
        },
      },
      [
        `spec.affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms[0].matchExpressions[0].key: beta.kubernetes.io/os is ${oldOS}`,
      ],
    ],
    [
      "a topology without a selector",
      { topologySpreadConstraints: [{ maxSkew: 1, topologyKey: "zone", whenUnsatisfiable: "DoNotSchedule" }] },
      [`spec.topologySpreadConstraints[0].labelSelector: ${noSelector}`],
    ],
    [
      "an affinity without a selector",
      { affinity: { podAffinity: { requiredDuringSchedulingIgnoredDuringExecution: [{ topologyKey: "zone" }] } } },
      [`${affinity}.requiredDuringSchedulingIgnoredDuringExecution[0].labelSelector: ${noSelector}`],
    ],
    [
      "removed volumes",
      {
        volumes: [
          { name: "v", rbd: { image: "i", monitors: [] } },
          { name: "w", storageos: {} },
        ],
      },
      [
        "spec.volumes[0].rbd: deprecated in v1.28, non-functional in v1.31+",
        "spec.volumes[1].storageOS: deprecated in v1.22, non-functional in v1.25+",
      ],
    ],
    [
      "files in one place",
      {
        volumes: [
          {
            name: "v",
            configMap: {
              name: "m",
              items: [
                { key: "a", path: "x/" },
                { key: "b", path: "x/y" },
                { key: "c", path: "xy" },
              ],
            },
          },
        ],
      },
      ['volume "v" (ConfigMap "m"): overlapping paths: "x/y" with "x"'],
    ],
    [
      "projected files in one place",
      {
        volumes: [
          {
            name: "v",
            projected: {
              sources: [{ serviceAccountToken: { path: "t" } }, { secret: { name: "s", items: [{ key: "a", path: "t" }] } }, {}],
            },
          },
        ],
      },
      [
        'volume "v" (Projected) has no sources provided',
        'volume "v" (Projected): overlapping paths: "t" (Secret "s") with "t" (ServiceAccountToken)',
      ],
    ],
    [
      "projected files of every kind of source",
      {
        volumes: [
          {
            name: "v",
            projected: {
              sources: [
                { configMap: { name: "m", items: [{ key: "k", path: "a" }] } },
                { downwardAPI: { items: [{ path: "a/d" }] } },
                { clusterTrustBundle: { name: "b", path: "a/b" } },
                { clusterTrustBundle: { signerName: "example.com/s", path: "s/" } },
                { podCertificate: { signerName: "x", keyType: "ED25519", keyPath: "s/key", credentialBundlePath: "bundle" } },
                { configMap: { name: "all" } },
              ],
            },
          },
        ],
      },
      [
        'volume "v" (Projected): overlapping paths: "a/d" (DownwardAPI) with "a" (ConfigMap "m")',
        'volume "v" (Projected): overlapping paths: "a/b" (ClusterTrustBundle "b") with "a" (ConfigMap "m")',
        'volume "v" (Projected): overlapping paths: "s/key" (PodCertificate key) with "s" (ClusterTrustBundle "example.com/s")',
      ],
    ],
    [
      "files beside the volume's own place",
      {
        volumes: [
          {
            name: "v",
            secret: {
              secretName: "s",
              items: [
                { key: "a", path: "/" },
                { key: "b", path: "b" },
              ],
            },
          },
        ],
      },
      [],
    ],
    [
      "doubled aliases and secrets",
      { hostAliases: [{ ip: "192.0.2.1" }, { ip: "192.0.2.1" }], imagePullSecrets: [{ name: "s" }, { name: "s" }, {}] },
      [
        'spec.hostAliases[1].ip: duplicate ip "192.0.2.1"',
        'spec.imagePullSecrets[1].name: duplicate name "s"',
        'spec.imagePullSecrets[2].name: invalid empty name ""',
      ],
    ],
    [
      "fractions of bytes",
      {
        containers: [
          aContainer({
            resources: { limits: { memory: "1.1Gi", cpu: "100m" }, requests: { memory: "128Mi", "ephemeral-storage": "100m" } },
          }),
        ],
      },
      [
        'spec.containers[0].resources.limits[memory]: fractional byte value "1.1Gi" is invalid, must be an integer',
        'spec.containers[0].resources.requests[ephemeral-storage]: fractional byte value "100m" is invalid, must be an integer',
      ],
    ],
    [
      "a variable set twice",
      {
        containers: [
          aContainer({
            env: [
              { name: "A", value: "1" },
              { name: "A", value: "$(A)2" },
              { name: "A", value: "3" },
            ],
          }),
        ],
      },
      ['spec.containers[0].env[2]: hides previous definition of "A", which may be dropped when using apply'],
    ],
    [
      "a port twice",
      ports({ containerPort: 80, protocol: "TCP" }, { containerPort: 80, protocol: "TCP" }, { containerPort: 80, protocol: "UDP" }),
      ["spec.containers[0].ports[1]: duplicate port definition with spec.containers[0].ports[0]"],
    ],
    [
      "ports that overlap",
      ports({ containerPort: 80, protocol: "TCP" }, { containerPort: 80, protocol: "TCP", hostPort: 8080 }),
      ["spec.containers[0].ports[1]: overlapping port definition with spec.containers[0].ports[0]"],
    ],
    [
      "ports that are ambiguous",
      ports(
        { containerPort: 80, protocol: "TCP", hostPort: 8080 },
        { containerPort: 80, protocol: "TCP", hostPort: 8080, hostIP: "192.0.2.1" },
      ),
      ["spec.containers[0].ports[1]: dangerously ambiguous port definition with spec.containers[0].ports[0]"],
    ],
    [
      "a host address without a host port",
      ports({ containerPort: 80, protocol: "TCP", hostIP: "192.0.2.1" }),
      ["spec.containers[0].ports[0]: hostIP set without hostPort: {Name: HostPort:0 ContainerPort:80 Protocol:TCP HostIP:192.0.2.1}"],
    ],
    [
      "a port name twice",
      ports({ containerPort: 80, protocol: "TCP", name: "web" }, { containerPort: 81, protocol: "TCP", name: "web" }),
      [
        'spec.containers[0].ports[1]: duplicate port name "web" with spec.containers[0].ports[0], services and probes that select ports by name will use spec.containers[0].ports[0]',
      ],
    ],
    [
      "an address in another form",
      { dnsConfig: { nameservers: ["2001:DB8::1"] } },
      ['spec.dnsConfig.nameservers[0]: IPv6 address "2001:DB8::1" should be in RFC 5952 canonical format ("2001:db8::1")'],
    ],
    [
      "a grace period below zero",
      { terminationGracePeriodSeconds: -1 },
      ["spec.terminationGracePeriodSeconds: must be >= 0; negative values are invalid and will be treated as 1"],
    ],
  ];

  it.each(rows)("%s: upstream's texts", (_, spec, want) => {
    expect(warningsOf(spec)).toEqual(want);
  });

  it.each(rows)("%s in a template: the same, with the template's path", (_, spec, want) => {
    const template = { spec: { containers: [aContainer()], ...spec } };
    const placed = want.map((text) => (text.startsWith("volume ") ? text : `template.${text.replaceAll(" spec.", " template.spec.")}`));
    expect(podTemplateWarnings("template", template)).toEqual(placed);
  });

  it("a template: nothing about its name, and annotations with its path", () => {
    const annotations = { "security.alpha.kubernetes.io/sysctls": "x", "seccomp.security.alpha.kubernetes.io/pod": "x" };
    expect(podTemplateWarnings("template", { metadata: { name: "No_Host", annotations }, spec: { containers: [aContainer()] } })).toEqual([
      'template.metadata.annotations[security.alpha.kubernetes.io/sysctls]: non-functional in v1.11+; use the "sysctls" field instead',
      'template.metadata.annotations[seccomp.security.alpha.kubernetes.io/pod]: non-functional in v1.27+; use the "seccompProfile" field instead',
    ]);
  });

  it.each<[string, string, Partial<Spec>, Partial<Container>, boolean]>([
    ["alone", "runtime/default", {}, {}, true],
    ["and the container has the field", "runtime/default", {}, { securityContext: { appArmorProfile: { type: "Unconfined" } } }, false],
    [
      "that says what the Pod's field says",
      "runtime/default",
      { securityContext: { appArmorProfile: { type: "RuntimeDefault" } } },
      {},
      false,
    ],
    ["unconfined, as the Pod's field", "unconfined", { securityContext: { appArmorProfile: { type: "Unconfined" } } }, {}, false],
    [
      "with the Pod's own profile",
      "localhost/a",
      { securityContext: { appArmorProfile: { type: "Localhost", localhostProfile: "a" } } },
      {},
      false,
    ],
    [
      "with another profile than the Pod's",
      "localhost/b",
      { securityContext: { appArmorProfile: { type: "Localhost", localhostProfile: "a" } } },
      {},
      true,
    ],
    ["that is unknown", "what", { securityContext: { appArmorProfile: { type: "Unconfined" } } }, {}, true],
  ])("an annotation of AppArmor %s: warned of in a template where the field is to be used", (_, value, spec, container, isWarned) => {
    const annotations = { "container.apparmor.security.beta.kubernetes.io/c": value };
    const template = { metadata: { annotations }, spec: { containers: [aContainer(container)], ...spec } };
    const text =
      'template.metadata.annotations[container.apparmor.security.beta.kubernetes.io/c]: deprecated since v1.30; use the "appArmorProfile" field instead';
    expect(podTemplateWarnings("template", template)).toEqual(isWarned ? [text] : []);
  });

  it("annotations of old, and a name that is no host name: upstream's texts", () => {
    const annotations = {
      "scheduler.alpha.kubernetes.io/critical-pod": "",
      "seccomp.security.alpha.kubernetes.io/pod": "runtime/default",
      "container.seccomp.security.alpha.kubernetes.io/c": "runtime/default",
    };
    const [name, ...others] = warningsOf({}, { name: "a.b", annotations });
    expect(name).toBe(
      "metadata.name: this is used in the Pod's hostname, which can result in surprising behavior; a DNS label is recommended: [must not contain dots]",
    );
    expect(others).toEqual([
      'metadata.annotations[scheduler.alpha.kubernetes.io/critical-pod]: non-functional in v1.16+; use the "priorityClassName" field instead',
      'metadata.annotations[seccomp.security.alpha.kubernetes.io/pod]: non-functional in v1.27+; use the "seccompProfile" field instead',
      'metadata.annotations[container.seccomp.security.alpha.kubernetes.io/c]: non-functional in v1.27+; use the "seccompProfile" field instead',
    ]);
  });

  it("very many problems: a hundred warnings, in linear work", () => {
    const port = { containerPort: 80, protocol: "TCP" };
    const items = Array.from({ length: 50_000 }, (_, i) => ({ key: "k", path: `p${i}` }));
    const spec = { ...ports(...Array.from({ length: 50_000 }, () => port)), volumes: [{ name: "v", configMap: { items } }] };
    expect(warningsOf(spec)).toHaveLength(100);
  });
});

it("a thousand files in one place: the first hundred pairs are told", () => {
  const items = Array.from({ length: 1_000 }, (_, i) => ({ key: `k${i}`, path: "a" }));
  const told = warningsOf({ volumes: [{ name: "v", configMap: { name: "m", items } }] });
  expect([told.length >= 100, told.length < 200]).toEqual([true, true]);
});
