/** What the endpoint controllers need of a Pod: small enough to be kept for every Pod of a cluster. */
import type { Container, Pod } from "../../api/meta/kubernetes";
import { parseTime } from "../../api/meta/time";
import { usableAddress } from "./usable-address";

export interface PodFacts {
  readonly namespace: string;
  readonly name: string;
  readonly uid: string;
  readonly labels: Readonly<Record<string, string>>;
  /** canonical texts of the addresses that a slice may have */
  readonly ips: readonly string[];
  /** stored addresses that every slice refuses: no address at all, loopback, link-local and the like */
  readonly refusedIps: readonly string[];
  /** "" = it runs nowhere yet */
  readonly nodeName: string;
  readonly hostname: string;
  readonly subdomain: string;
  /** its condition Ready is True */
  readonly ready: boolean;
  /** when Ready changed last, in milliseconds since the epoch; 0 = it has no such condition */
  readonly readyAt: number;
  /** it is being deleted */
  readonly terminating: boolean;
  /** its phase is Succeeded or Failed: it never serves again */
  readonly finished: boolean;
  /** ports with a name, in the order in which a Service's target port looks for them */
  readonly ports: readonly NamedPort[];
}

export interface NamedPort {
  readonly name: string;
  readonly protocol: string;
  readonly port: number;
}

/** The facts of a stored Pod. */
export function podFacts({ metadata, spec, status }: Pod): PodFacts {
  const ready = status?.conditions?.find(({ type }) => type === "Ready");
  return {
    namespace: metadata?.namespace ?? "",
    name: metadata?.name ?? "",
    uid: metadata?.uid ?? "",
    labels: metadata?.labels ?? {},
    ...judgedIps(status?.podIPs?.map(({ ip }) => ip) ?? []),
    nodeName: spec?.nodeName ?? "",
    hostname: spec?.hostname ?? "",
    subdomain: spec?.subdomain ?? "",
    ready: ready?.status === "True",
    readyAt: parseTime(ready?.lastTransitionTime) ?? 0,
    terminating: Boolean(metadata?.deletionTimestamp),
    finished: status?.phase === "Succeeded" || status?.phase === "Failed",
    ports: namedPorts(spec?.containers ?? [], spec?.initContainers ?? []),
  };
}

function judgedIps(texts: readonly string[]): Pick<PodFacts, "ips" | "refusedIps"> {
  const ips: string[] = [];
  const refusedIps: string[] = [];
  for (const text of texts) {
    const address = usableAddress(text);
    if (address) ips.push(address.canonical);
    else refusedIps.push(text);
  }
  return { ips, refusedIps };
}

/** Those of sidecars come after those of containers: the app wins (upstream FindPort). */
function namedPorts(containers: readonly Container[], initContainers: readonly Container[]): NamedPort[] {
  const sidecars = initContainers.filter(({ restartPolicy }) => restartPolicy === "Always");
  return [...containers, ...sidecars].flatMap(({ ports }) =>
    (ports ?? []).flatMap(({ name, protocol, containerPort }) =>
      name ? [{ name, protocol: protocol ?? "TCP", port: containerPort }] : [],
    ),
  );
}
