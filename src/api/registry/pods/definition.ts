import type { Pod } from "../../meta/kubernetes";
import { PodSchema } from "../../schema/kinds/core-pods";
import { COMMON, unsupportedFieldLabel } from "../common-definition";
import { defineResource } from "../resource";
import { bindingAction, evictionAction } from "./actions";
import { POD_COLUMNS, podCells, podRowConditions } from "./columns";
import { podStrategy } from "./strategy";

function selectableFields(pod: Pod): Record<string, string> {
  const { spec, status } = pod;
  return {
    "spec.nodeName": spec?.nodeName ?? "",
    // the name before 1.0, still accepted
    "spec.host": spec?.nodeName ?? "",
    "spec.restartPolicy": spec?.restartPolicy ?? "",
    "spec.schedulerName": spec?.schedulerName ?? "",
    "spec.serviceAccountName": spec?.serviceAccountName ?? "",
    "spec.hostNetwork": String(spec?.hostNetwork ?? false),
    "status.phase": status?.phase ?? "",
    "status.podIP": status?.podIP ?? "",
    "status.podIPs": status?.podIPs?.map(({ ip }) => ip).join(",") ?? "",
    "status.nominatedNodeName": status?.nominatedNodeName ?? "",
  };
}

export const podsDefinition = defineResource<Pod>({
  ...COMMON,
  group: "",
  versions: ["v1"],
  resource: "pods",
  singular: "pod",
  kind: "Pod",
  shortNames: ["po"],
  categories: ["all"],
  subresources: ["status"],
  actions: [bindingAction, evictionAction],
  schema: PodSchema,
  columns: POD_COLUMNS,
  cells: podCells,
  rowConditions: podRowConditions,
  selectableFields,
  fieldLabels: Object.keys(selectableFields({})),
  unknownFieldLabel: unsupportedFieldLabel,
  strategy: podStrategy,
  returnsDeletedObject: true,
  generation: "spec",
});
