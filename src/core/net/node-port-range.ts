/** Numbers of node ports, and ranges of them in upstream's text `30000-32767`, both ends included. */

/** `--service-node-port-range` of upstream. */
export const NODE_PORT_MIN = 30000;
export const NODE_PORT_MAX = 32767;

const TEXT = /^(\d{5})-(\d{5})$/;

export interface NodePortRange {
  readonly first: number;
  readonly last: number;
}

export function isInNodePortRange(port: number): boolean {
  return port >= NODE_PORT_MIN && port <= NODE_PORT_MAX;
}

/** The range of the text; undefined = it is none, or has ports that no Service can have. */
export function parseNodePortRange(text: string): NodePortRange | undefined {
  const [, from, to] = TEXT.exec(text) ?? [];
  const [first, last] = [Number(from), Number(to)];
  return isInNodePortRange(first) && isInNodePortRange(last) && first <= last ? { first, last } : undefined;
}

export function nodePortRangeText({ first, last }: NodePortRange): string {
  return `${String(first)}-${String(last)}`;
}

export function isPortIn({ first, last }: NodePortRange, port: number): boolean {
  return port >= first && port <= last;
}
