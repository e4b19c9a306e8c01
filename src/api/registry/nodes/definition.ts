import type { Node } from "../../meta/kubernetes";
import { NodeSchema } from "../../schema/kinds/core-nodes";
import { AGE_COLUMN, NAME_COLUMN, ageOf, column, nameOf } from "../common-columns";
import { COMMON, unsupportedFieldLabel } from "../common-definition";
import { defineResource } from "../resource";
import { readyCondition } from "./ready-condition";
import { nodeStrategy } from "./strategy";

type NodeInfo = NonNullable<NonNullable<Node["status"]>["nodeInfo"]>;

const ROLE_PREFIX = "node-role.kubernetes.io/";
const ROLE_LABEL = "kubernetes.io/role";

function statusCell(node: Node): string {
  const ready = readyCondition(node.status?.conditions);
  const state = ready ? (ready.status === "True" ? "Ready" : "NotReady") : "Unknown";
  return node.spec?.unschedulable ? `${state},SchedulingDisabled` : state;
}

function rolesCell(node: Node): string {
  const roles = new Set<string>();
  for (const [key, value] of Object.entries(node.metadata?.labels ?? {})) {
    if (key.startsWith(ROLE_PREFIX) && key.length > ROLE_PREFIX.length) roles.add(key.slice(ROLE_PREFIX.length));
    else if (key === ROLE_LABEL && value !== "") roles.add(value);
  }
  return roles.size === 0 ? "<none>" : [...roles].sort().join(",");
}

function addressCell(node: Node, type: string): string {
  return node.status?.addresses?.find((address) => address.type === type)?.address ?? "<none>";
}

function kernelCell({ kernelVersion, architecture }: Partial<NodeInfo> = {}): string {
  return (kernelVersion || "<unknown>") + (architecture ? ` (${architecture})` : "");
}

export const nodesDefinition = defineResource<Node>({
  ...COMMON,
  group: "",
  versions: ["v1"],
  resource: "nodes",
  singular: "node",
  kind: "Node",
  shortNames: ["no"],
  namespaced: false,
  subresources: ["status"],
  connects: [
    { name: "proxy", kind: "NodeProxyOptions", pathDescription: "Path is the URL path to use for the current proxy request to node." },
  ],
  views: ["proxy-config"],
  reports: ["proxy-health"],
  schema: NodeSchema,
  columns: [
    NAME_COLUMN,
    column("Status", "Whether the node is ready and takes new pods."),
    column("Roles", "Roles that the node's labels name."),
    AGE_COLUMN,
    column("Version", "Version of the kubelet."),
    column("Internal-IP", "Address of the node inside the cluster.", "wide"),
    column("External-IP", "Address of the node from outside.", "wide"),
    column("OS-Image", "Operating system that the node reports.", "wide"),
    column("Kernel-Version", "Kernel and architecture that the node reports.", "wide"),
    column("Container-Runtime", "Container runtime that the node reports.", "wide"),
  ],
  cells: (node, now) => {
    const info = node.status?.nodeInfo;
    return [
      nameOf(node),
      statusCell(node),
      rolesCell(node),
      ageOf(node, now),
      info?.kubeletVersion ?? "",
      addressCell(node, "InternalIP"),
      addressCell(node, "ExternalIP"),
      info?.osImage || "<unknown>",
      kernelCell(info),
      info?.containerRuntimeVersion || "<unknown>",
    ];
  },
  selectableFields: (node) => ({ "spec.unschedulable": String(node.spec?.unschedulable ?? false) }),
  fieldLabels: ["spec.unschedulable"],
  unknownFieldLabel: unsupportedFieldLabel,
  strategy: nodeStrategy,
});
