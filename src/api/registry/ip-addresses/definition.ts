import type { IPAddress } from "../../meta/kubernetes";
import { IPAddressSchema } from "../../schema/kinds/networking";
import { NAME_COLUMN, column, nameOf } from "../common-columns";
import { COMMON } from "../common-definition";
import { defineResource } from "../resource";
import { ipAddressStrategy } from "./strategy";

/** `resource[.group]/[namespace/]name`; the resource in lower case */
function parentCell(ipAddress: IPAddress): string {
  const parentRef = ipAddress.spec?.parentRef;
  if (!parentRef) return "<none>";
  const { group, resource, namespace, name } = parentRef;
  const type = group ? `${resource}.${group}` : resource;
  return [type.toLowerCase(), namespace, name].filter(Boolean).join("/");
}

export const ipAddressesDefinition = defineResource<IPAddress>({
  ...COMMON,
  group: "networking.k8s.io",
  versions: ["v1", "v1beta1"],
  deprecations: { v1beta1: "networking.k8s.io/v1beta1 IPAddress is deprecated in v1.34+, unavailable in v1.37+" },
  resource: "ipaddresses",
  gate: "MultiCIDRServiceAllocator",
  singular: "ipaddress",
  kind: "IPAddress",
  shortNames: ["ip"],
  namespaced: false,
  schema: IPAddressSchema,
  columns: [NAME_COLUMN, column("ParentRef", "The object that holds the address.")],
  cells: (ipAddress) => [nameOf(ipAddress), parentCell(ipAddress)],
  strategy: ipAddressStrategy,
  generatesNameSuffix: false,
});
