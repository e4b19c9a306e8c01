import type { Namespace } from "../../meta/kubernetes";
import { NamespaceSchema } from "../../schema/kinds/core-namespaces";
import { AGE_COLUMN, NAME_COLUMN, ageOf, column, nameOf } from "../common-columns";
import { ALL_VERBS, COMMON, unsupportedFieldLabel } from "../common-definition";
import { defineResource } from "../resource";
import { NAME_LABEL } from "../name-label";
import { NAMESPACE_FINALIZER, namespaceStrategy } from "./strategy";

function initialNamespace(name: string): Namespace {
  return {
    metadata: { name, labels: { [NAME_LABEL]: name } },
    spec: { finalizers: [NAMESPACE_FINALIZER] },
    status: { phase: "Active" },
  };
}

export const namespacesDefinition = defineResource<Namespace>({
  ...COMMON,
  group: "",
  versions: ["v1"],
  resource: "namespaces",
  singular: "namespace",
  kind: "Namespace",
  shortNames: ["ns"],
  namespaced: false,
  // no deletecollection, as upstream
  verbs: ALL_VERBS.filter((verb) => verb !== "deletecollection"),
  subresources: ["status", "finalize"],
  schema: NamespaceSchema,
  columns: [NAME_COLUMN, column("Status", "Active, or Terminating while its content is being deleted."), AGE_COLUMN],
  cells: (namespace, now) => [nameOf(namespace), namespace.status?.phase ?? "", ageOf(namespace, now)],
  selectableFields: (namespace) => ({ "status.phase": namespace.status?.phase ?? "" }),
  fieldLabels: ["status.phase"],
  unknownFieldLabel: unsupportedFieldLabel,
  strategy: namespaceStrategy,
  initialObjects: ["default", "kube-system", "kube-public", "kube-node-lease"].map(initialNamespace),
});
