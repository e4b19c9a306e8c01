import { describe, expect, it } from "vitest";
import type { Pod } from "../../../../../src/api/meta/kubernetes";
import { podsDefinition as definition } from "../../../../../src/api/registry/pods/definition";
import { upstreamRow } from "../../../../conformance/upstream-row";
import { create, updateStatus } from "../outcomes";

type Status = NonNullable<Pod["status"]>;
type PodSpec = NonNullable<Pod["spec"]>;
type ContainerStatus = NonNullable<Status["containerStatuses"]>[number];

const QOS = "BestEffort";

function storedPod(status: Status = {}, spec: Partial<PodSpec> = {}): Pod {
  return {
    metadata: { name: "p", namespace: "ns", uid: "u", creationTimestamp: "2026-01-01T00:00:00Z" },
    spec: { containers: [{ name: "c", image: "i" }], restartPolicy: "Always", ...spec },
    status: { qosClass: QOS, ...status },
  };
}

function written(status: Status, stored: Status = {}, spec: Partial<PodSpec> = {}) {
  return updateStatus(definition, { after: { metadata: { name: "p" }, status }, before: storedPod(stored, spec) });
}

const statusOf = (name: string, rest: Partial<ContainerStatus>): ContainerStatus => ({
  ...{ name, image: "i", imageID: "", ready: false, restartCount: 0 },
  ...rest,
});
const running = (name: string) => statusOf(name, { state: { running: {} } });
const ended = (name: string, exitCode: number) => statusOf(name, { state: { terminated: { exitCode } } });

describe("addresses of a Pod", () => {
  const invalid = "must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)";

  it.each<[string, Status, string[]]>([
    ["one of each family", { podIP: "10.0.0.1", podIPs: [{ ip: "10.0.0.1" }, { ip: "fd00::1" }] }, []],
    ["no address", { podIP: "999.1.1.1" }, [`status.podIPs[0]: Invalid value: "999.1.1.1": ${invalid}`]],
    ["leading zeros", { podIPs: [{ ip: "010.0.0.1" }] }, [`status.podIPs[0]: Invalid value: "010.0.0.1": must not have leading 0s`]],
    [
      "a mapped address",
      { podIPs: [{ ip: "::ffff:10.0.0.1" }] },
      [`status.podIPs[0]: Invalid value: "::ffff:10.0.0.1": must not be an IPv4-mapped IPv6 address`],
    ],
    [
      "two of one family",
      { podIPs: [{ ip: "10.0.0.1" }, { ip: "10.0.0.2" }] },
      [`status.podIPs: Invalid value: [{"IP":"10.0.0.1"},{"IP":"10.0.0.2"}]: may specify no more than one IP for each IP family`],
    ],
    [
      "three addresses",
      { podIPs: [{ ip: "10.0.0.1" }, { ip: "fd00::1" }, { ip: "fd00::2" }] },
      [
        `status.podIPs: Invalid value: [{"IP":"10.0.0.1"},{"IP":"fd00::1"},{"IP":"fd00::2"}]: may specify no more than one IP for each IP family`,
      ],
    ],
    [
      "one that is none among two",
      { podIPs: [{ ip: "10.0.0.1" }, { ip: "x" }] },
      [
        `status.podIPs[1]: Invalid value: "x": ${invalid}`,
        "status.podIPs: Internal error: failed to check for dual stack with error:invalid IP[1]: x",
        `status.podIPs: Invalid value: [{"IP":"10.0.0.1"},{"IP":"x"}]: may specify no more than one IP for each IP family`,
      ],
    ],
    ["hostIPs of both families", { hostIP: "10.0.0.1", hostIPs: [{ ip: "10.0.0.1" }, { ip: "fd00::1" }] }, []],
    [
      "hostIPs without hostIP",
      { hostIPs: [{ ip: "10.0.0.1" }] },
      ['status.hostIPs[0].ip: Invalid value: "10.0.0.1": must be equal to `hostIP`'],
    ],
    ["a bad address in hostIPs", { hostIP: "x", hostIPs: [{ ip: "x" }] }, [`status.hostIPs[0]: Invalid value: "x": ${invalid}`]],
    ["hostIP alone", { hostIP: "not judged" }, []],
  ])("%s: upstream's causes", (_, status, errors) => {
    expect(written(status).errors).toEqual(errors);
  });

  it("a stored address that is none: may stay, also under podIP alone, and no other may come", () => {
    const bad: Status = { podIP: "999.1.1.1", podIPs: [{ ip: "999.1.1.1" }] };
    expect(written({ ...bad, phase: "Running" }, bad).errors).toEqual([]);
    expect(written({ podIP: "999.1.1.1", phase: "Running" }, { podIP: "999.1.1.1" }).errors).toEqual([]);
    expect(written({ podIP: "999.1.1.2" }, bad).errors).toHaveLength(1);
  });

  it("podIP and podIPs differ: podIP counts, as older kubelets send it", () => {
    const { object } = written({ podIP: "10.0.0.2", podIPs: [{ ip: "10.0.0.1" }, { ip: "fd00::1" }] });
    expect(object.status?.podIPs).toEqual([{ ip: "10.0.0.2" }]);
    expect(written({ podIPs: [{ ip: "10.0.0.1" }] }).object.status?.podIP).toBe("10.0.0.1");
  });

  it("an address in another form: a warning", () => {
    expect(written({ podIP: "FD00::1", hostIP: "FD00::2", hostIPs: [{ ip: "FD00::2" }] }).warnings).toEqual([
      'status.podIPs[0].ip: IPv6 address "FD00::1" should be in RFC 5952 canonical format ("fd00::1")',
      'status.hostIPs[0].ip: IPv6 address "FD00::2" should be in RFC 5952 canonical format ("fd00::2")',
    ]);
  });

  it("a create: its status is dropped, whatever stands in it", () => {
    const { object, errors } = create(definition, { ...storedPod({ podIP: "999.1.1.1" }), metadata: { name: "p" } });
    expect(errors).toEqual([]);
    expect(object.status).toEqual({ phase: "Pending", qosClass: QOS });
  });
});

upstreamRow("TestValidatePodStatusUpdate", () => {
  it.each<[string, Status, Status, Partial<PodSpec>, string[]]>([
    ["a condition of the system", { conditions: [{ type: "Ready", status: "True" }] }, {}, {}, []],
    [
      "a condition's type that is no name",
      { conditions: [{ type: "a b", status: "True", observedGeneration: -1 }] },
      {},
      {},
      [
        "status.conditions[0].observedGeneration: Invalid value: -1: must be a non-negative integer",
        expect.stringMatching(/^status\.conditions\[0\]\.Type: Invalid value: "a b": name part must consist of/) as unknown as string,
      ],
    ],
    [
      "a negative generation",
      { observedGeneration: -1 },
      {},
      {},
      ["status.observedGeneration: Invalid value: -1: must be a non-negative integer"],
    ],
    ["another class", { qosClass: "Burstable" }, {}, {}, ['status.qosClass: Invalid value: "Burstable": field is immutable']],
    ["a node is nominated", { nominatedNodeName: "n" }, {}, {}, []],
    [
      "a bound Pod is nominated",
      { nominatedNodeName: "n" },
      { nominatedNodeName: "m" },
      { nodeName: "n" },
      ["status.nominatedNodeName: Forbidden: may not be set on pods that are already bound to a node"],
    ],
    ["a bound Pod keeps its nomination", { nominatedNodeName: "n" }, { nominatedNodeName: "n" }, { nodeName: "n" }, []],
    [
      "a nomination that is no name",
      { nominatedNodeName: "Node1" },
      {},
      {},
      [expect.stringMatching(/^status\.nominatedNodeName: Invalid value: "Node1": a lowercase RFC 1123/) as unknown as string],
    ],
    [
      "a claim that the spec does not have",
      { resourceClaimStatuses: [{ name: "r" }] },
      {},
      {},
      ['status.resourceClaimStatuses[0].name: Invalid value: "r": must match the name of an entry in `spec.resourceClaims`'],
    ],
    [
      "a claim twice",
      { resourceClaimStatuses: [{ name: "r" }, { name: "r", resourceClaimName: "X" }] },
      {},
      { resourceClaims: [{ name: "r" }] },
      [
        'status.resourceClaimStatuses[1].name: Duplicate value: "r"',
        expect.stringMatching(/^status\.resourceClaimStatuses\[1\]\.resourceClaimName: Invalid value: "X": /) as unknown as string,
      ],
    ],
    [
      "an extended claim without mapping and name",
      { extendedResourceClaimStatus: { requestMappings: [], resourceClaimName: "" } },
      {},
      {},
      [
        "status.extendedResourceClaimStatus.requestMappings: Required value: at least one request mapping is required",
        "status.extendedResourceClaimStatus.resourceClaimName: Required value",
      ],
    ],
    [
      "an extended claim of another container",
      {
        extendedResourceClaimStatus: {
          requestMappings: [{ containerName: "x", resourceName: "r", requestName: "q" }],
          resourceClaimName: "n",
        },
      },
      {},
      {},
      [
        'status.extendedResourceClaimStatus.requestMappings[0].containerName: Invalid value: "x": must match the name of an entry in spec.initContainers.name or spec.containers.name',
      ],
    ],
    [
      "a user that cannot be",
      { containerStatuses: [statusOf("c", { user: { linux: { uid: -1, gid: 2 ** 31, supplementalGroups: [1, -2] } } })] },
      {},
      {},
      [
        "status.containerStatuses[0].user.linux.uid: Invalid value: -1: must be between 0 and 2147483647, inclusive",
        "status.containerStatuses[0].user.linux.gid: Invalid value: 2147483648: must be between 0 and 2147483647, inclusive",
        "status.containerStatuses[0].user.linux.supplementalGroups[1]: Invalid value: -2: must be between 0 and 2147483647, inclusive",
      ],
    ],
    [
      "a Linux user of a Windows Pod",
      { initContainerStatuses: [statusOf("c", { user: { linux: { uid: 1, gid: 1 } } })] },
      {},
      { os: { name: "windows" } },
      ["status.initContainerStatuses[0].user.linux: Forbidden: cannot be set for a windows pod"],
    ],
    [
      "devices that were not asked for",
      {
        containerStatuses: [
          statusOf("c", {
            allocatedResourcesStatus: [
              {
                name: "gpu",
                resources: [
                  { resourceID: "1", health: "Sick" },
                  { resourceID: "1", health: "Healthy" },
                ],
              },
              { name: "claim:a/b" },
            ],
          }),
        ],
        ephemeralContainerStatuses: [statusOf("e", { allocatedResourcesStatus: [{ name: "gpu" }] })],
      },
      {},
      {},
      [
        `status.containerStatuses[0].allocatedResourcesStatus[0].name: Invalid value: "gpu": must match one of the container's resource requests`,
        'status.containerStatuses[0].allocatedResourcesStatus[0].resources[0].health: Unsupported value: "Sick": supported values: "Healthy", "Unhealthy", "Unknown"',
        'status.containerStatuses[0].allocatedResourcesStatus[0].resources[1].resourceID: Duplicate value: "1"',
        `status.containerStatuses[0].allocatedResourcesStatus[1].name: Invalid value: "claim:a/b": must match one of the container's resource claims in a format 'claim:<claimName>/<request>' or 'claim:<claimName>' if request is empty`,
        "status.ephemeralContainerStatuses[0].allocatedResourcesStatus: Forbidden: must not be specified in container status",
      ],
    ],
  ])("%s: upstream's causes", (_, status, stored, spec, errors) => {
    expect(written(status, stored, spec).errors).toEqual(errors);
  });

  it("what a client leaves out: class and generations stay", () => {
    const stored: Status = {
      observedGeneration: 3,
      conditions: [
        { type: "Ready", status: "True", observedGeneration: 2 },
        { type: "PodScheduled", status: "True" },
      ],
    };
    const { object, errors } = written({ conditions: [{ type: "Ready", status: "False" }] }, stored);
    expect(errors).toEqual([]);
    expect(object.status).toEqual({
      qosClass: QOS,
      observedGeneration: 3,
      conditions: [{ type: "Ready", status: "False", observedGeneration: 2 }],
    });
    expect(updateStatus(definition, { after: { metadata: { name: "p" } }, before: storedPod() }).object.status).toEqual({ qosClass: QOS });
  });
});

describe("a container that has ended", () => {
  const refused = (kind: string) => [`status.${kind}[0].state: Forbidden: may not be transitioned to non-terminated state`];

  it.each<[string, Partial<PodSpec>, number, boolean]>([
    ["restartPolicy Always", {}, 0, true],
    ["restartPolicy Never", { restartPolicy: "Never" }, 1, false],
    ["restartPolicy OnFailure, a success", { restartPolicy: "OnFailure" }, 0, false],
    ["restartPolicy OnFailure, a failure", { restartPolicy: "OnFailure" }, 1, true],
    ["its own policy", { restartPolicy: "Never", containers: [{ name: "c", restartPolicy: "Always" }] }, 0, true],
    [
      "a rule for its exit code",
      {
        restartPolicy: "Never",
        containers: [
          { name: "c", restartPolicy: "Never", restartPolicyRules: [{ action: "Restart", exitCodes: { operator: "In", values: [42] } }] },
        ],
      },
      42,
      true,
    ],
    [
      "a rule for other exit codes",
      {
        restartPolicy: "Never",
        containers: [
          {
            name: "c",
            restartPolicy: "Never",
            restartPolicyRules: [{ action: "Restart", exitCodes: { operator: "NotIn", values: [42] } }],
          },
        ],
      },
      42,
      false,
    ],
    [
      "a rule that restarts all",
      { restartPolicy: "Never", initContainers: [{ name: "i", restartPolicyRules: [{ action: "RestartAllContainers" }] }] },
      0,
      true,
    ],
    ["a container that the spec does not have", { containers: [{ name: "other" }] }, 0, false],
  ])("%s (%#): runs again only where it may", (_, spec, exitCode, mayRun) => {
    const { errors } = written({ containerStatuses: [running("c")] }, { containerStatuses: [ended("c", exitCode)] }, spec);
    expect(errors).toEqual(mayRun ? [] : refused("containerStatuses"));
  });

  it("an init container: only a sidecar runs again; an ephemeral one never does", () => {
    const spec: Partial<PodSpec> = { restartPolicy: "Never", initContainers: [{ name: "i" }, { name: "s", restartPolicy: "Always" }] };
    const again = (name: string) => written({ initContainerStatuses: [running(name)] }, { initContainerStatuses: [ended(name, 0)] }, spec);
    expect(again("i").errors).toEqual(refused("initContainerStatuses"));
    expect(again("s").errors).toEqual([]);
    const debug = { ephemeralContainerStatuses: [ended("d", 1)] };
    expect(written({ ephemeralContainerStatuses: [running("d")] }, debug).errors).toEqual(refused("ephemeralContainerStatuses"));
    expect(written(debug, debug).errors).toEqual([]);
  });
});
