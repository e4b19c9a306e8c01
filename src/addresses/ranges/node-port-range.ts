/** `--service-node-port-range` of upstream, both ends included. */
export const NODE_PORT_MIN = 30000;
export const NODE_PORT_MAX = 32767;

export function isInNodePortRange(port: number): boolean {
  return port >= NODE_PORT_MIN && port <= NODE_PORT_MAX;
}
