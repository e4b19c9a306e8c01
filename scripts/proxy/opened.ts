/** What listeners of both protocols have in common. */
import type { MergedEndpoint } from "../../src/api/registry/endpoint-slices/slice-portion";

/** An open listener. */
export interface Opened {
  /** It is closed, and nothing is under way. */
  readonly hasEnded: boolean;
  /** No new client is taken. What is under way goes on. */
  close(): void;
  /** After `close`: takes new clients again. false = it cannot, and its address is free. */
  resume(): boolean;
  /** The listener's endpoints may be others. */
  review(): void;
  /** Everything ends at once. */
  destroy(): void;
}

/** Where the clients of a listener go; the table of the proxy says it. */
export interface Direction {
  /** The endpoint of a client; `refused`: keys of endpoints that have refused it. undefined = none is left. */
  choose(client: string, refused: ReadonlySet<string>): MergedEndpoint | undefined;
  /** Whether datagrams of a client go on to the endpoint that they went to. */
  keepsFlow(endpointKey: string): boolean;
  /** where an endpoint is reached */
  dialAddress(endpoint: MergedEndpoint): string;
}

/** Rejects with what the system says. */
export type Open = (at: { address: string; port: number }, direction: Direction) => Promise<Opened>;
