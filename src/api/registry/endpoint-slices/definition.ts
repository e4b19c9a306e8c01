import type { EndpointSlice } from "../../meta/kubernetes";
import { EndpointSliceSchema } from "../../schema/kinds/discovery";
import { AGE_COLUMN, NAME_COLUMN, ageOf, column, nameOf } from "../common-columns";
import { COMMON } from "../common-definition";
import { defineResource } from "../resource";
import { endpointSliceStrategy } from "./strategy";

const SHOWN = 3;

/** The first three items and the number of the others. */
function shortList(items: readonly string[]): string {
  const more = items.length > SHOWN ? ` + ${items.length - SHOWN} more...` : "";
  return items.slice(0, SHOWN).join(",") + more || "<unset>";
}

function portsCell(slice: EndpointSlice): string {
  // a port without a number prints its name, which may be empty
  return shortList((slice.ports ?? []).map(({ port, name }) => String(port ?? name ?? "*")));
}

function endpointsCell(slice: EndpointSlice): string {
  const endpoints: EndpointSlice["endpoints"] | null = slice.endpoints;
  return shortList((endpoints ?? []).flatMap((endpoint) => endpoint.addresses ?? []));
}

export const endpointSlicesDefinition = defineResource<EndpointSlice>({
  ...COMMON,
  group: "discovery.k8s.io",
  versions: ["v1"],
  resource: "endpointslices",
  singular: "endpointslice",
  kind: "EndpointSlice",
  schema: EndpointSliceSchema,
  columns: [
    NAME_COLUMN,
    column("AddressType", "Form of the addresses: IPv4, IPv6 or FQDN."),
    column("Ports", "Ports that every endpoint offers."),
    column("Endpoints", "Addresses of the endpoints."),
    AGE_COLUMN,
  ],
  cells: (slice, now) => [nameOf(slice), slice.addressType, portsCell(slice), endpointsCell(slice), ageOf(slice, now)],
  strategy: endpointSliceStrategy,
  generation: "specAndLabels",
});
