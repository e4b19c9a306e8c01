/**
 * Clients that send their next request as soon as they are answered. They kept the runtime so busy that it looked at no other socket: some connections had
 * no answer for seconds, and were closed as if they rested.
 */
import type { Socket } from "node:net";
import { expect, it } from "vitest";
import { open, requestHeads } from "../../../../scripts/dev/bench/connection";
import { AnswerReader } from "../../../../scripts/dev/bench/load-processes/load";
import { clusterForTests } from "../../../support/server/cluster-for-tests";

const CONNECTIONS = 100;
const ANSWERS = 5_000;
const cluster = clusterForTests();

/** A connection of equal rights has had its answer before all of them together have had so many. */
const ANSWERS_BETWEEN_MAX = 3 * CONNECTIONS;

/**
 * How many answers each connection had when all of them together had so many. Rejects when one is closed while others were served. Where the machine
 * lets the server stand, the runtime closes connections that nobody was served before: such a client comes again.
 */
async function servedEach(path: string): Promise<number[]> {
  const target = { url: cluster.url, options: {} };
  const request = `${requestHeads(target)("GET", path)}\r\n`;
  const counts = Array.from({ length: CONNECTIONS }, () => 0);
  // The end comes behind an error.
  const opened = async (): Promise<Socket> => (await open(target)).on("error", () => undefined);
  const sockets = await Promise.all(counts.map(opened));
  let answers = 0;
  await new Promise<void>((resolve, reject) => {
    const serve = (i: number, socket: Socket): void => {
      sockets[i] = socket;
      if (answers === ANSWERS) return void socket.destroy();
      const reader = new AnswerReader();
      let askedAt = answers;
      const askAgain = (): void => {
        if (answers === ANSWERS) return;
        if (answers - askedAt > ANSWERS_BETWEEN_MAX) reject(new Error(`the server closed a connection after ${String(counts[i])} answers`));
        else opened().then((next) => serve(i, next), reject);
      };
      if (socket.closed) return askAgain();
      socket.on("close", askAgain);
      socket.on("data", (chunk) => {
        if (!reader.push(chunk)) return;
        reader.reset();
        counts[i] = (counts[i] ?? 0) + 1;
        askedAt = ++answers;
        if (answers === ANSWERS) resolve();
        else socket.write(request);
      });
      socket.write(request);
    };
    for (const [i, socket] of sockets.entries()) serve(i, socket);
  }).finally(() => {
    for (const socket of sockets) socket.removeAllListeners("close").destroy();
  });
  return counts;
}

it.each(["/nodes/a/healthz", "/api/v1/namespaces/default/services"])(
  "100 clients that never rest, GET %s: all are served, and about equally",
  async (path) => {
    const fewest = Math.min(...(await servedEach(path)));
    expect(fewest).toBeGreaterThan(ANSWERS / CONNECTIONS / 3);
  },
  120_000,
);
