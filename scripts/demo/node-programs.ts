/** The nodes of a demonstration: the programs of their machines, at loopback addresses of their own. */
import { type RunningProgram, startProgram } from "../../test/support/server/program";

/** Second bytes of 127.0.0.0/8 from here on belong to the demonstration: pods first, then each node. */
const FIRST_BYTE = 180;

/** The address of a pod in its slice, which takes no loopback address, and where the pod really is. */
export const podIP = (number: number): string => `10.1.0.${String(number)}`;
export const podAddress = (number: number): string => `127.${String(FIRST_BYTE)}.0.${String(number)}`;

export const nodeName = (number: number): string => `node-${String(number)}`;

export const PROXY_READY = /is ready \(Services/;

export interface ProxyCall {
  readonly args: readonly string[];
  /** where the node ports of the node are */
  readonly address: string;
  /** `address:port` of the proxy's own health */
  readonly healthz: string;
}

/** How the proxy of a node is called. */
export function proxyArgs(number: number, serverUrl: string): ProxyCall {
  const prefix = `127.${String(FIRST_BYTE + number)}`;
  const address = `${prefix}.255.1`;
  const healthz = `${address}:10256`;
  const args = [
    ...["--node", nodeName(number), "--server", serverUrl, "--dial-prefix", `127.${String(FIRST_BYTE)}.0.0/16`],
    ...["--listen-prefix", `${prefix}.0.0/17`, "--listen-prefix-ipv6", `${prefix}.128.0/18`, "--node-port-address", address],
    ...["--healthz-bind-address", healthz, "--metrics-bind-address", "none"],
  ];
  return { args, address, healthz };
}

export class NodePrograms {
  private constructor(
    readonly name: string,
    /** where its node ports are */
    readonly address: string,
    private readonly agent: RunningProgram,
    private readonly proxy: RunningProgram,
  ) {}

  /** Resolves when its proxy serves. `stateFolder`: of its agent; `syncPeriodSeconds`: the server's, for the reports. */
  static async start(number: number, serverUrl: string, stateFolder: string, syncPeriodSeconds: number): Promise<NodePrograms> {
    const name = nodeName(number);
    const { args, address, healthz } = proxyArgs(number, serverUrl);
    const agentArgs = [
      ...["--node", name, "--server", serverUrl, "--address", `10.2.0.${String(number)}`, "--state", stateFolder],
      ...["--proxy-health", `http://${healthz}/healthz`, "--sync-period", String(syncPeriodSeconds)],
    ];
    const agent = await startProgram("agent", agentArgs, /is ready \(addresses/);
    const proxy = await startProgram("proxy", [...args, "--no-reports"], PROXY_READY);
    return new NodePrograms(name, address, agent, proxy);
  }

  async killAgent(): Promise<void> {
    await this.agent.kill();
  }

  /** The machine loses its power. */
  async kill(): Promise<void> {
    await Promise.all([this.agent.kill(), this.proxy.kill()]);
  }
}
