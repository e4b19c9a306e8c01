/** Writes of ServiceCIDRs and IPAddresses as a client sends them. */
import type { IPAddress } from "../../../src/api/meta/kubernetes";
import type { DeleteOptionsRequest, Subresource, WriteRequest } from "../../../src/api/rpc/store";
import { createRequest, DELETE, WRITE } from "../worlds/store-world";

const NETWORKING_WRITE = { ...WRITE, fieldValidation: "Strict", group: "networking.k8s.io" } as const;

export function createRange(name: string, cidrs: readonly string[], { dryRun = false } = {}): WriteRequest {
  const object = JSON.stringify({ metadata: { name }, spec: { cidrs } });
  return { verb: "create", namespace: "", object, options: { ...NETWORKING_WRITE, dryRun } };
}

export function patchRange(name: string, patch: object, subresource: Subresource = ""): WriteRequest {
  const key = { namespace: "", name };
  return { verb: "patch", key, subresource, patchType: "merge", patch: JSON.stringify(patch), options: NETWORKING_WRITE };
}

export function deleteRange(name: string, options: Partial<DeleteOptionsRequest> = {}): WriteRequest {
  return { verb: "delete", key: { namespace: "", name }, options: { ...DELETE, ...options } };
}

/** An IPAddress without a Service. */
export function createAddress(name: string): WriteRequest {
  const parentRef = { group: "gateway.networking.k8s.io", resource: "gateways", namespace: "default", name: "web" };
  const address: IPAddress = { metadata: { name }, spec: { parentRef } };
  return createRequest(address, NETWORKING_WRITE);
}
