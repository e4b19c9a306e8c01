import { expect, it } from "vitest";
import { differs, leaving, type Machine, newNode, takenOver, withStatus } from "../../../../../src/clients/agent/node/node-object";
import type { Node } from "../../../../../src/api/meta/kubernetes";

const MADE = Date.UTC(2026, 0, 1);
const LATER = MADE + 3_600_000;
const machine: Machine = {
  name: "n",
  hostname: "host",
  addresses: ["192.0.2.1", "2001:db8::1"],
  labels: { own: "1" },
  nodeInfo: {
    ...{ architecture: "amd64", operatingSystem: "linux", kernelVersion: "6", osImage: "test", machineID: "m", systemUUID: "s" },
    ...{ bootID: "b", kubeletVersion: "v1", kubeProxyVersion: "", containerRuntimeVersion: "" },
  },
  capacity: { pods: "0" },
};
const node = newNode(machine, MADE);
const conditionOf = ({ status }: Node, type: string) => status?.conditions?.find((condition) => condition.type === type);

it("withStatus: addresses and conditions of others stay, the agent's come anew", () => {
  const external = { type: "ExternalIP", address: "198.51.100.1" };
  const network = { type: "NetworkUnavailable", status: "True" };
  const before: Node = { ...node, status: { addresses: [{ type: "InternalIP", address: "192.0.2.9" }, external], conditions: [network] } };
  const { status } = withStatus(before, machine, LATER);
  expect(status?.addresses?.map(({ address }) => address)).toEqual(["192.0.2.1", "2001:db8::1", "host", "198.51.100.1"]);
  expect(status?.conditions?.map(({ type }) => type)).toEqual([
    "NetworkUnavailable",
    "MemoryPressure",
    "DiskPressure",
    "PIDPressure",
    "Ready",
  ]);
});

it("withStatus: a heartbeat moves no time of a transition, a change does", () => {
  const beat = withStatus(node, machine, LATER);
  expect(conditionOf(beat, "Ready")).toMatchObject({
    lastHeartbeatTime: "2026-01-01T01:00:00Z",
    lastTransitionTime: "2026-01-01T00:00:00Z",
  });
  expect(differs(node, beat)).toBe(false);
  const conditions = node.status?.conditions?.map((condition) => ({ ...condition, status: "Unknown" }));
  const unknown: Node = { ...node, status: { ...node.status, conditions } };
  const back = withStatus(unknown, machine, LATER);
  expect(conditionOf(back, "Ready")).toMatchObject({ status: "True", lastTransitionTime: "2026-01-01T01:00:00Z" });
  expect(differs(unknown, back)).toBe(true);
});

it("leaving and takenOver: the agent's taint comes once and goes; an autoscaler's stays", () => {
  const once = leaving(node);
  expect(once.spec?.taints).toHaveLength(1);
  expect(leaving(once)).toBe(once);
  expect(takenOver(once, machine, false).spec?.taints).toBeUndefined();
  expect(takenOver(once, machine, true).spec?.taints).toEqual(once.spec?.taints);
  const scaled: Node = { ...node, spec: { taints: [{ key: "ToBeDeletedByClusterAutoscaler", value: "1", effect: "NoSchedule" }] } };
  expect(leaving(scaled)).toBe(scaled);
  expect(takenOver(scaled, machine, false).spec?.taints).toEqual(scaled.spec?.taints);
});
