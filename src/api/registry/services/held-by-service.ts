/** What a Service holds, by what any API server shows of it or has dumped: nothing is filled in, nothing was validated here. */
export interface HoldingService {
  spec?: {
    type?: string;
    clusterIP?: string;
    clusterIPs?: string[];
    ports?: { protocol?: string; nodePort?: number }[];
    healthCheckNodePort?: number;
  };
}

/** A port of the nodes; numbers of several protocols have nothing to do with each other. */
export interface HeldNodePort {
  protocol: string;
  port: number;
}

/** The ClusterIPs as they are spelled, or whatever stands in their place: none when the Service is headless or an ExternalName. */
export function clusterIPTextsOf({ spec }: HoldingService): string[] {
  if (spec?.type === "ExternalName") return [];
  const texts = spec?.clusterIPs?.length ? spec.clusterIPs : spec?.clusterIP ? [spec.clusterIP] : [];
  return texts.filter((text) => text !== "None" && text !== "");
}

/** The node ports, each once, and the one for health checks, which are HTTP. */
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
