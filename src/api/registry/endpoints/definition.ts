import type { Endpoints } from "../../meta/kubernetes";
import { EndpointsSchema } from "../../schema/kinds/core-endpoints";
import { AGE_COLUMN, NAME_COLUMN, ageOf, column, nameOf } from "../common-columns";
import { COMMON } from "../common-definition";
import { defineResource } from "../resource";
import { endpointsStrategy } from "./strategy";

const SHOWN = 3;

/** Ready `ip:port` pairs, the first three and how many more. */
function endpointsCell(endpoints: Endpoints): string {
  const subsets = endpoints.subsets ?? [];
  if (subsets.length === 0) return "<none>";
  const shown: string[] = [];
  let count = 0;
  for (const { addresses = [], ports = [] } of subsets) {
    count += addresses.length * Math.max(ports.length, 1);
    if (shown.length < SHOWN) shown.push(...firstPairs(addresses, ports));
  }
  const more = count > SHOWN ? ` + ${count - SHOWN} more...` : "";
  return shown.slice(0, SHOWN).join(",") + more;
}

/** The first of a subset, whose ports times addresses may be millions. */
function firstPairs(addresses: readonly { ip: string }[], ports: readonly { port: number }[]): string[] {
  const first = addresses.slice(0, SHOWN);
  if (ports.length === 0) return first.map(({ ip }) => ip);
  return ports.slice(0, SHOWN).flatMap(({ port }) => first.map(({ ip }) => `${ip.includes(":") ? `[${ip}]` : ip}:${port}`));
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
