/** Pods that a node or an agent may create: bound to itself, and without a reference to other objects. Source: upstream plugin/pkg/admission/noderestriction. */
import type { OwnerReference, Pod } from "../../api/meta/kubernetes";

const MIRROR_ANNOTATION = "kubernetes.io/config.mirror";

/** Whether the Pod shows one that its kubelet runs by itself. */
export function isMirrorPod({ metadata }: Pod): boolean {
  return metadata?.annotations?.[MIRROR_ANNOTATION] !== undefined;
}

/** Why a kubelet must not create the Pod. The uid of the owner is not compared: the collector deletes a Pod whose owner does not exist. */
export function mirrorPodProblem(node: string, pod: Pod): string | undefined {
  if (!isMirrorPod(pod)) return `pod does not have "${MIRROR_ANNOTATION}" annotation, node "${node}" can only create mirror pods`;
  return bindingProblem(node, pod) ?? ownerProblem(node, pod.metadata?.ownerReferences ?? []) ?? referenceProblem(node, pod);
}

/** Why an agent must not create the Pod. Its Pods are plain ones without owners. */
export function agentPodProblem(node: string, pod: Pod): string | undefined {
  const owned = (pod.metadata?.ownerReferences ?? []).length > 0;
  const ownership = owned ? `node "${node}" can only create pods without an owner reference` : undefined;
  return bindingProblem(node, pod) ?? ownership ?? referenceProblem(node, pod);
}

function bindingProblem(node: string, { spec }: Pod): string | undefined {
  return spec?.nodeName === node ? undefined : `node "${node}" can only create pods with spec.nodeName set to itself`;
}

function ownerProblem(node: string, owners: readonly OwnerReference[]): string | undefined {
  const [owner] = owners;
  if (owners.length > 1) return `node "${node}" can only create pods with a single owner reference set to itself`;
  if (owner?.apiVersion !== "v1" || owner.kind !== "Node" || owner.name !== node)
    return `node "${node}" can only create pods with an owner reference set to itself`;
  if (owner.controller !== true) return `node "${node}" can only create pods with a controller owner reference set to itself`;
  return owner.blockOwnerDeletion ? `node "${node}" must not set blockOwnerDeletion on an owner reference` : undefined;
}

function referenceProblem(node: string, { spec }: Pod): string | undefined {
  if (spec?.serviceAccountName) return `node "${node}" can not create pods that reference a service account`;
  const kinds: readonly (readonly [string, RegExp])[] = [
    ["secrets", /^(secret|secretName|imagePullSecrets|\w*secret(Key)?Ref)$/i],
    ["configmaps", /^configMap(KeyRef|Ref)?$/],
    ["clustertrustbundles", /^clusterTrustBundle$/],
    ["persistentvolumeclaims", /^persistentVolumeClaim$/],
  ];
  const found = kinds.find(([, member]) => hasMember(spec, member));
  return found && `node "${node}" can not create pods that reference ${found[0]}`;
}

/** Whether a member with such a name says something, at any depth: a source of volumes or variables that comes later is not forgotten. */
function hasMember(value: unknown, name: RegExp): boolean {
  if (typeof value !== "object" || value === null) return false;
  if (Array.isArray(value)) return value.some((element) => hasMember(element, name));
  return Object.entries(value).some(([key, member]) => {
    // Its keys are labels.
    if (key === "nodeSelector") return false;
    return (name.test(key) && saysSomething(member)) || hasMember(member, name);
  });
}

function saysSomething(value: unknown): boolean {
  return Array.isArray(value) ? value.length > 0 : value !== undefined && value !== null && value !== "";
}
