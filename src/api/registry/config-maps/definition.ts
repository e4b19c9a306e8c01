import type { ConfigMap } from "../../meta/kubernetes";
import { ConfigMapSchema } from "../../schema/kinds/core-config-maps";
import { AGE_COLUMN, NAME_COLUMN, ageOf, column, nameOf } from "../common-columns";
import { COMMON } from "../common-definition";
import { defineResource } from "../resource";
import { configMapStrategy } from "./strategy";

function keyCount({ data, binaryData }: ConfigMap): number {
  return Object.keys(data ?? {}).length + Object.keys(binaryData ?? {}).length;
}

export const configMapsDefinition = defineResource<ConfigMap>({
  ...COMMON,
  group: "",
  versions: ["v1"],
  resource: "configmaps",
  singular: "configmap",
  kind: "ConfigMap",
  shortNames: ["cm"],
  schema: ConfigMapSchema,
  columns: [NAME_COLUMN, column("Data", "How many keys data and binaryData have."), AGE_COLUMN],
  cells: (configMap, now) => [nameOf(configMap), keyCount(configMap), ageOf(configMap, now)],
  strategy: configMapStrategy,
});
