/**
 * Servers that test files share: one for each list of arguments, started when the first file asks and killed after the last one. Vitest's global setup,
 * in its own process: files that run in others ask over loopback (cluster-for-tests.ts).
 */
import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { text } from "node:stream/consumers";
import type { TestProject } from "vitest/node";
import { removeFolder, type Server, startServer, temporaryFolder } from "./server";

export interface Wanted {
  args: readonly string[];
  secure: boolean;
}

/** What another process can know of a server. */
export type SharedServer = Pick<Server, "url" | "token" | "ca"> & {
  /** How many have asked for it before. */
  nth: number;
};

declare module "vitest" {
  interface ProvidedContext {
    /** where files ask for shared servers */
    sharedServers: string;
  }
}

/** Files of several clusters ask at the same time: the number that each of them has in any case decides no test. */
const MANY_AT_ONCE = ["--var", "FAIR_REQUESTS_MIN=100"];

interface Started {
  folder: string;
  server: Promise<Server>;
  asked: number;
}

export default async function sharedServers({ provide }: Pick<TestProject, "provide">): Promise<() => Promise<void>> {
  const all = new Map<string, Started>();
  const start = ({ args, secure }: Wanted): Started => {
    const folder = temporaryFolder();
    return { folder, server: startServer(folder, [...MANY_AT_ONCE, ...args], { secure }), asked: 0 };
  };
  const serverOf = async (key: string): Promise<SharedServer> => {
    const started = all.get(key) ?? start(JSON.parse(key) as Wanted);
    all.set(key, started);
    const nth = started.asked++;
    const { url, token, ca } = await started.server;
    return { url, token, ca, nth };
  };
  const broker = createServer((request, response) => {
    void text(request)
      .then(serverOf)
      .then(
        (server) => response.end(JSON.stringify(server)),
        (error: unknown) => response.writeHead(500).end(String(error)),
      );
  }).listen(0, "127.0.0.1");
  await once(broker, "listening");
  provide("sharedServers", `http://127.0.0.1:${String((broker.address() as AddressInfo).port)}`);
  return async () => {
    broker.close();
    broker.closeAllConnections();
    for (const { folder, server } of all.values()) {
      await server.then(
        (started) => started.kill(),
        () => undefined,
      );
      removeFolder(folder);
    }
  };
}
