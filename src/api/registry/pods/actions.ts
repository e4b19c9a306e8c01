/** The create-only subresources of a Pod (upstream pkg/registry/core/pod/storage BindingREST, EvictionREST). */
import { notSupported, required } from "../../meta/field-errors";
import type { FieldError } from "../../meta/field-errors";
import type { Binding, Eviction, Pod } from "../../meta/kubernetes";
import { rfc3339Seconds } from "../../meta/time";
import { BindingSchema } from "../../schema/kinds/core-bindings";
import { EvictionSchema } from "../../schema/kinds/policy";
import { defineAction } from "../resource";

const SCHEDULED = "PodScheduled";

function validateBinding({ target }: Binding): FieldError[] {
  const errors: FieldError[] = [];
  const { kind = "", name = "" } = target ?? {};
  if (kind !== "" && kind !== "Node") errors.push(notSupported("target.kind", kind, ["Node", "<empty>"]));
  if (name === "") errors.push(required("target.name"));
  return errors;
}

/** Sets the condition to True; its time moves only when it was not. The other conditions keep their places. */
function setTrue(pod: Pod, condition: { type: string; reason?: string; message?: string }, now: number): void {
  const status = (pod.status ??= {});
  const conditions = (status.conditions ??= []);
  const place = conditions.findIndex(({ type }) => type === condition.type);
  const before = conditions[place];
  const since = before?.status === "True" ? before.lastTransitionTime : undefined;
  const next = { ...condition, status: "True", lastTransitionTime: since ?? rfc3339Seconds(now) };
  if (place < 0) conditions.push(next);
  else conditions[place] = next;
}

/** Binds the Pod; returns why it cannot be bound. */
function bind(pod: Pod, binding: Binding, now: number): string | undefined {
  const metadata = (pod.metadata ??= {});
  const name = metadata.name ?? "";
  if (metadata.deletionTimestamp) return `pod ${name} is being deleted, cannot be assigned to a host`;
  const spec = (pod.spec ??= { containers: [] });
  if (spec.nodeName) return `pod ${name} is already assigned to node ${JSON.stringify(spec.nodeName)}`;
  if (spec.schedulingGates?.length) return `pod ${name} has non-empty .spec.schedulingGates`;
  spec.nodeName = binding.target.name ?? "";
  const { annotations, labels } = binding.metadata ?? {};
  if (annotations) metadata.annotations = { ...metadata.annotations, ...annotations };
  if (labels) metadata.labels = { ...metadata.labels, ...labels };
  const status = (pod.status ??= {});
  delete status.nominatedNodeName;
  setTrue(pod, { type: SCHEDULED }, now);
  return undefined;
}

export const bindingAction = defineAction<Pod, Binding>({
  name: "binding",
  group: "",
  version: "v1",
  kind: "Binding",
  otherVersions: [],
  schema: BindingSchema,
  description: "Puts a Pod on a node.",
  // the form that preceded the subresource
  collection: { resource: "bindings", singular: "binding" },
  effect: { does: "change", validate: validateBinding, change: bind },
});

/** No disruption budgets are served, so an eviction is a deletion. */
export const evictionAction = defineAction<Pod, Eviction>({
  name: "eviction",
  group: "policy",
  version: "v1",
  kind: "Eviction",
  otherVersions: ["v1beta1"],
  schema: EvictionSchema,
  description: "Asks for a Pod to leave its node.",
  effect: {
    does: "delete",
    options: ({ deleteOptions }) => deleteOptions ?? {},
    mark: (pod, now) => setTrue(pod, { type: "DisruptionTarget", reason: "EvictionByEvictionAPI", message: "Eviction API: evicting" }, now),
  },
});
