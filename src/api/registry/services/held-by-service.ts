/** The addresses and node ports that a Service holds, read from a dump or an answer of any API server. Nothing is filled in or validated. */
export interface HoldingService {
  spec?: {
    type?: string;
    clusterIP?: string;
    clusterIPs?: string[];
    ports?: { protocol?: string; nodePort?: number }[];
    healthCheckNodePort?: number;
  };
}

/** A port of the nodes. The same number of two protocols is two ports. */
export interface HeldNodePort {
  protocol: string;
  port: number;
}

/** The ClusterIPs as spelled, primary first; a headless Service and an ExternalName have none. */
export function clusterIPTextsOf({ spec }: HoldingService): string[] {
  if (spec?.type === "ExternalName" || spec?.clusterIP === "None") return [];
  const texts = spec?.clusterIPs?.length ? spec.clusterIPs : spec?.clusterIP ? [spec.clusterIP] : [];
  return texts.filter((text) => text !== "None" && text !== "");
}

/** The node ports, each once, and the port for health checks, which counts as TCP. */
export function nodePortsOf({ spec }: HoldingService): HeldNodePort[] {
  const ports = [...(spec?.ports ?? []), { nodePort: spec?.healthCheckNodePort }] as { protocol?: string; nodePort?: number }[];
  const held = new Map<string, HeldNodePort>();
  for (const { protocol = "TCP", nodePort: port = 0 } of ports) if (port > 0) held.set(`${protocol}/${port}`, { protocol, port });
  return [...held.values()];
}

/** `TCP/30080` */
export function nodePortText({ protocol, port }: HeldNodePort): string {
  return `${protocol}/${port}`;
}
