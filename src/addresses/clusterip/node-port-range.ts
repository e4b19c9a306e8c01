/** `--service-node-port-range` of upstream, both ends included. */
export const NODE_PORT_MIN = 30000;
export const NODE_PORT_MAX = 32767;
