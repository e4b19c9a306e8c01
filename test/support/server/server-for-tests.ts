/** The frame of a test file, or a describe, with one started server. */
import { afterAll, beforeAll } from "vitest";
import { removeFolder, type Server, startServer, temporaryFolder } from "./server";

export interface TestServer extends Server {
  /** its data folder */
  folder: string;
  /** Starts the server again on its data after its end, with the arguments of the first start unless others are given. */
  start(args?: readonly string[]): Promise<void>;
}

/** For tests whose Nodes are names: nobody renews their Leases, and no controller minds, nor ends their Pods. */
export const NODES_ARE_NAMES = [
  "--var",
  "CONTROLLERS=*,-node-lifecycle-controller,-pod-garbage-collector-controller,-taint-eviction-controller",
];

/**
 * A server on data of its own, started before the tests and killed after them. Hooks that are registered later run between the two. `secure`: with HTTPS
 * and credentials.
 */
export function serverForTests(args: readonly string[] = [], { secure = false } = {}): TestServer {
  const folder = temporaryFolder();
  const server: Partial<TestServer> = {
    folder,
    start: async (own = args) => void Object.assign(server, await startServer(folder, own, { secure })),
  };
  beforeAll(() => server.start?.());
  afterAll(async () => {
    await server.kill?.();
    removeFolder(folder);
  });
  return server as TestServer;
}
