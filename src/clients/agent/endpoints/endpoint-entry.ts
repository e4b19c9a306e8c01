/** An endpoint of the machine: one of its processes, as a file or an option describes it. */

/** Where a probe goes; `host` undefined = the node's own address, as the kubelet has it. */
export type ProbeTarget =
  | { readonly kind: "http"; readonly scheme: "HTTP" | "HTTPS"; readonly host?: string; readonly port: number; readonly path: string }
  | { readonly kind: "tcp"; readonly host?: string; readonly port: number };

/** A readiness probe with the kubelet's numbers. */
export interface Check {
  readonly target: ProbeTarget;
  readonly initialDelaySeconds: number;
  readonly periodSeconds: number;
  readonly timeoutSeconds: number;
  /** results of one kind in a row that change the readiness */
  readonly successThreshold: number;
  readonly failureThreshold: number;
}

/** read-entry.ts makes it, with its members and labels in one order: equal entries have equal JSON. */
export interface EndpointEntry {
  /** of its port and container too; a name of a port, and a DNS label */
  readonly name: string;
  readonly namespace: string;
  readonly port: number;
  readonly protocol: "TCP" | "UDP" | "SCTP";
  readonly labels: Readonly<Record<string, string>>;
  /** undefined = ready at once */
  readonly check?: Check;
  /** how long it goes on to serve after its deletion was asked for */
  readonly drainSeconds: number;
}

/** `namespace/name`: tells the entries of one node apart. */
export function entryKey({ namespace, name }: { readonly namespace: string; readonly name: string }): string {
  return `${namespace}/${name}`;
}
