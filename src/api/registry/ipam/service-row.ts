/** An IPAddress that holds an address of a pool for a Service of type LoadBalancer. The server alone makes and removes such objects. */
import { OWN_DOMAIN } from "../../meta/own-annotation";
import { holdWith, type PoolAddress, poolKeyOf } from "./ipam";

/** The name of the Service. */
export const SERVICE_LABEL = `${OWN_DOMAIN}/service`;
export const SERVICE_UID = `${OWN_DOMAIN}/service-uid`;
/** With whom the Service shares it (pools/load-balancers/sharing.ts). */
export const SHARING = `${OWN_DOMAIN}/sharing`;
export const SERVICE_FINALIZER = `${OWN_DOMAIN}/load-balancer`;

/** The uid of the Service; undefined = the object is none of these. No client can make one: it names another claim than that of its own name. */
export function serviceHolding({ metadata, spec }: PoolAddress): string | undefined {
  if (spec?.claimRef?.name === metadata?.name || !metadata?.finalizers?.includes(SERVICE_FINALIZER)) return undefined;
  return poolKeyOf(spec?.poolRef, metadata.namespace) === undefined ? undefined : metadata.annotations?.[SERVICE_UID];
}

/** It stays as long as its Service has the address, whatever a client wrote, or deleted. */
export function holdForService(after: PoolAddress, before: PoolAddress): void {
  const uid = serviceHolding(before);
  if (uid === undefined || !after.metadata) return;
  holdWith(after, SERVICE_FINALIZER);
  const name = before.metadata?.labels?.[SERVICE_LABEL];
  const sharing = before.metadata?.annotations?.[SHARING];
  const { [SHARING]: _, ...annotations } = after.metadata.annotations ?? {};
  after.metadata.annotations = { ...annotations, [SERVICE_UID]: uid, ...(sharing !== undefined && { [SHARING]: sharing }) };
  if (name !== undefined) after.metadata.labels = { ...after.metadata.labels, [SERVICE_LABEL]: name };
}
