import type { ResourceQuota } from "../../meta/kubernetes";
import { ResourceQuotaSchema } from "../../schema/kinds/core-resource-quotas";
import { AGE_COLUMN, NAME_COLUMN, ageOf, column, nameOf } from "../common-columns";
import { COMMON } from "../common-definition";
import { defineResource } from "../resource";
import { resourceQuotaStrategy } from "./strategy";

/** `pods: 1/10, services: 2/5`; the limits of compute resources apart from the rest. */
function usage({ status }: ResourceQuota, limits: boolean): string {
  const used: Readonly<Record<string, string>> = status?.used ?? {};
  return Object.entries(status?.hard ?? {})
    .filter(([name]) => name.startsWith("limits.") === limits)
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([name, hard]) => `${name}: ${used[name] ?? "0"}/${hard}`)
    .join(", ");
}

export const resourceQuotasDefinition = defineResource<ResourceQuota>({
  ...COMMON,
  group: "",
  versions: ["v1"],
  resource: "resourcequotas",
  singular: "resourcequota",
  kind: "ResourceQuota",
  shortNames: ["quota"],
  subresources: ["status"],
  schema: ResourceQuotaSchema,
  columns: [
    NAME_COLUMN,
    column("Request", "What is used of what the namespace may hold."),
    column("Limit", "The same of the limits of compute resources."),
    AGE_COLUMN,
  ],
  cells: (quota, now) => [nameOf(quota), usage(quota, false), usage(quota, true), ageOf(quota, now)],
  strategy: resourceQuotaStrategy,
  returnsDeletedObject: true,
});
