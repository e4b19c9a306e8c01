/**
 * Clients that send their next request as soon as they are answered. They kept the runtime so busy that it looked at no other socket: some connections had
 * no answer for seconds, and were closed as if they rested.
 */
import { expect, it } from "vitest";
import { open, requestHeads } from "../../../scripts/dev/bench/connection";
import { AnswerReader } from "../../../scripts/dev/bench/load-processes/load";
import { clusterForTests } from "../../support/server/cluster-for-tests";

const CONNECTIONS = 100;
const ANSWERS = 5_000;
const cluster = clusterForTests();

/** How many answers each connection had when all of them together had so many. Rejects when one is closed. */
async function servedEach(path: string): Promise<number[]> {
  const target = { url: cluster.url, options: {} };
  const request = `${requestHeads(target)("GET", path)}\r\n`;
  const sockets = await Promise.all(Array.from({ length: CONNECTIONS }, () => open(target)));
  const counts = sockets.map(() => 0);
  let left = ANSWERS;
  await new Promise<void>((resolve, reject) => {
    for (const [i, socket] of sockets.entries()) {
      const reader = new AnswerReader();
      socket.on("error", reject);
      socket.on("close", () => {
        reject(new Error(`the server closed a connection after ${String(counts[i])} answers`));
      });
      socket.on("data", (chunk) => {
        if (!reader.push(chunk)) return;
        reader.reset();
        counts[i] = (counts[i] ?? 0) + 1;
        if (--left === 0) resolve();
        else socket.write(request);
      });
      socket.write(request);
    }
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
);
