import type { Endpoints } from "../../meta/kubernetes";
import { EndpointsSchema } from "../../schema/core-endpoints";
import { AGE_COLUMN, NAME_COLUMN, ageOf, column, nameOf } from "../common-columns";
import { COMMON } from "../common-definition";
import { defineResource } from "../resource";
import { endpointsStrategy } from "./strategy";

const SHOWN = 3;

/** Ready `ip:port` pairs, the first three and how many more. */
function endpointsCell(endpoints: Endpoints): string {
  const subsets = endpoints.subsets ?? [];
  if (subsets.length === 0) return "<none>";
  const pairs: string[] = [];
  for (const subset of subsets) {
    const addresses = subset.addresses ?? [];
    if (!subset.ports?.length) pairs.push(...addresses.map(({ ip }) => ip));
    for (const { port } of subset.ports ?? []) {
      for (const { ip } of addresses) pairs.push(`${ip.includes(":") ? `[${ip}]` : ip}:${port}`);
    }
  }
  const more = pairs.length > SHOWN ? ` + ${pairs.length - SHOWN} more...` : "";
  return pairs.slice(0, SHOWN).join(",") + more;
}

export const endpointsDefinition = defineResource<Endpoints>({
  ...COMMON,
  group: "",
  versions: ["v1"],
  deprecations: { v1: "v1 Endpoints is deprecated in v1.33+; use discovery.k8s.io/v1 EndpointSlice" },
  resource: "endpoints",
  singular: "endpoints",
  kind: "Endpoints",
  shortNames: ["ep"],
  schema: EndpointsSchema,
  columns: [NAME_COLUMN, column("Endpoints", "Ready addresses with their ports."), AGE_COLUMN],
  cells: (endpoints, now) => [nameOf(endpoints), endpointsCell(endpoints), ageOf(endpoints, now)],
  strategy: endpointsStrategy,
  allowCreateOnUpdate: true,
});
