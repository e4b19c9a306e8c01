import type { EndpointSlice } from "../../api/meta/kubernetes";

export type SlicePort = NonNullable<EndpointSlice["ports"]>[number];

/** Equal for lists of equal ports, in any order. No list and an empty one are equal. */
export function portsKey(ports: readonly SlicePort[] | null | undefined): string {
  return (ports ?? [])
    .map(({ name, protocol, port, appProtocol }) => JSON.stringify([name ?? "", protocol ?? "TCP", port ?? null, appProtocol ?? null]))
    .sort()
    .join();
}
