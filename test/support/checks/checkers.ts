/**
 * The invariants of the design as checks over what can be observed through the API; each returns one line per violation, so [] is a pass.
 * I1 to I3 are the judgements of src/tools/check, which `npm run check` makes of live clusters; here every one counts at once.
 *
 * I5 (order) is a property of a history, not of a state: `checkOrdered` takes the events of one watch.
 */
import { keyOf } from "../../../src/api/meta/object-key";
import { addressesOf, duplicateAddresses, duplicateNodePorts, strayNodePorts, uncovered, unpaired } from "../../../src/tools/check/objects";
import type { ObservedCluster, ObservedService } from "../../../src/tools/check/observed";
import type { Suspicion } from "../../../src/tools/check/suspicion";

/** I1: no address is held by two Services. */
export function checkUnique(observed: Pick<ObservedCluster, "services">): string[] {
  return lines(duplicateAddresses(observed));
}

/** I1 for node ports: no port of the nodes belongs to two Services with one protocol, and each lies in 30000-32767. */
export function checkNodePortsUnique(observed: Pick<ObservedCluster, "services">): string[] {
  return lines([...duplicateNodePorts(observed), ...strayNodePorts(observed)]);
}

/** I2: the ClusterIPs of Services and the IPAddresses whose parent is a Service are one-to-one. */
export function checkPaired(observed: Pick<ObservedCluster, "services" | "ipAddresses">): string[] {
  return lines(unpaired(observed));
}

/** I3: every ClusterIP is a usable address of some ServiceCIDR. */
export function checkCovered({ services, serviceCIDRs }: Pick<ObservedCluster, "services" | "serviceCIDRs">): string[] {
  return lines(
    uncovered(
      services,
      serviceCIDRs.flatMap(({ spec }) => spec?.cidrs ?? []),
    ),
  );
}

/** I4: every Service whose creation was answered with success, and that nobody deleted, is there with the answered uid and addresses. */
function checkDurable({ services }: Pick<ObservedCluster, "services">, acknowledged: readonly ObservedService[]): string[] {
  const present = new Map(services.map((service) => [keyOf(service), service]));
  return acknowledged.flatMap((answer) => {
    const service = present.get(keyOf(answer));
    if (!service) return [`I4: ${keyOf(answer)} was acknowledged and is gone`];
    if (service.metadata?.uid !== answer.metadata?.uid) return [`I4: ${keyOf(answer)} was acknowledged with another uid`];
    const [is, was] = [addressesOf(service).join(","), addressesOf(answer).join(",")];
    return is === was ? [] : [`I4: ${keyOf(answer)} was acknowledged with ${was} and has ${is}`];
  });
}

/** I5: resourceVersions of one watch, in the order in which they came, are integers that only grow. */
export function checkOrdered(resourceVersions: readonly string[]): string[] {
  return resourceVersions.flatMap((version, index) => {
    if (!/^[1-9]\d*$/.test(version)) return [`I5: resourceVersion "${version}" is no positive integer`];
    const before = resourceVersions[index - 1];
    return before === undefined || BigInt(version) > BigInt(before) ? [] : [`I5: resourceVersion ${version} came after ${before}`];
  });
}

/** I1 to I4 at once. */
export function checkState(observed: ObservedCluster, acknowledged: readonly ObservedService[] = []): string[] {
  return [...checkUnique(observed), ...checkPaired(observed), ...checkCovered(observed), ...checkDurable(observed, acknowledged)];
}

function lines(suspicions: readonly Suspicion[]): string[] {
  return suspicions.map(({ rule, message }) => `${rule}: ${message}`);
}
