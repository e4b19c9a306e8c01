import type { ServiceCIDR } from "../../meta/kubernetes";
import { ServiceCIDRSchema } from "../../schema/kinds/networking";
import { AGE_COLUMN, NAME_COLUMN, ageOf, column, nameOf } from "../common-columns";
import { COMMON } from "../common-definition";
import { defineResource } from "../resource";
import { tenancyOf } from "./tenancy";
import { serviceCIDRStrategy } from "./strategy";

export const serviceCIDRsDefinition = defineResource<ServiceCIDR>({
  ...COMMON,
  group: "networking.k8s.io",
  versions: ["v1", "v1beta1"],
  deprecations: { v1beta1: "networking.k8s.io/v1beta1 ServiceCIDR is deprecated in v1.34+, unavailable in v1.37+" },
  resource: "servicecidrs",
  gate: "MultiCIDRServiceAllocator",
  singular: "servicecidr",
  kind: "ServiceCIDR",
  namespaced: false,
  subresources: ["status"],
  schema: ServiceCIDRSchema,
  columns: [
    NAME_COLUMN,
    column("CIDRs", "Ranges from which the ClusterIPs of Services are taken."),
    AGE_COLUMN,
    column("Namespaces", "Selector of the namespaces whose Services alone take from the ranges.", "wide"),
  ],
  cells: (serviceCIDR, now) => [
    nameOf(serviceCIDR),
    (serviceCIDR.spec?.cidrs ?? []).join(","),
    ageOf(serviceCIDR, now),
    tenancyOf(serviceCIDR)?.selector ?? "<all>",
  ],
  strategy: serviceCIDRStrategy,
});
