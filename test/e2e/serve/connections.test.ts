import { once } from "node:events";
import { existsSync } from "node:fs";
import { type AddressInfo, connect, createServer } from "node:net";
import { afterEach, expect, it, vi } from "vitest";
import { connectionsIn, connectionsTo, watchConnections } from "../../../scripts/serve/connections";

const HEAD = "  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode";
const line = (local: string, remote: string, state: string) =>
  `   0: ${local} ${remote} ${state} 00000000:00000000 00:00000000 00000000     0        0 21003 1 00000000d650f685 100 0 0 10 0`;

it("the tables of Linux tell how many connections a port has", () => {
  const lines = [
    line("0100007F:1F90", "00000000:0000", "0A"), // listens
    line("0100007F:1F90", "0100007F:9C40", "01"),
    line("0100007F:9C40", "0100007F:1F90", "01"), // the other end
    line("0100007F:1F90", "0100007F:9C41", "06"), // has ended
    line("00000000000000000000000001000000:1F90", "00000000000000000000000001000000:9C42", "01"),
    line("0100007F:11F9", "0100007F:9C43", "01"),
  ];
  expect(connectionsIn(`${[HEAD, ...lines].join("\n")}\n`, 8080)).toBe(2);
  expect(connectionsIn(HEAD, 8080)).toBe(0);
  expect(connectionsIn(line("0100007F:0050", "0100007F:9C40", "01"), 80)).toBe(1);
});

it("connections of a real port are counted where the system has tables", async () => {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  const clients = [connect(port, "127.0.0.1"), connect(port, "127.0.0.1"), connect(port, "127.0.0.1")];
  await Promise.all(clients.map((client) => once(client, "connect")));
  expect(await connectionsTo(port)).toBe(existsSync("/proc/net/tcp") ? 3 : undefined);
  for (const client of clients) client.destroy();
  server.close();
});

afterEach(() => void vi.useRealTimers());

/** What is told while the number of connections goes through `counts`, one a second; `isHeard`: by the time of the call. */
async function toldOver(counts: (number | undefined)[], isHeard = (_call: number) => true): Promise<boolean[]> {
  const told: boolean[] = [];
  const tell = (areMany: boolean) => Promise.resolve(isHeard(told.push(areMany)));
  const left = [...counts];
  vi.useFakeTimers();
  const watch = watchConnections(1, tell, () => Promise.resolve(left.shift()));
  await vi.advanceTimersByTimeAsync((counts.length - 1) * 1_000);
  watch.stop();
  await vi.advanceTimersByTimeAsync(5_000);
  expect(left).toEqual([]);
  return told;
}

it.each([
  ["few at the start", [0, 0, 499], [false]],
  ["many at the start", [500, 501], [true]],
  ["many, and few again below 400", [3, 500, 400, 399, 400, 499], [false, true, false]],
  ["a system that does not tell", [undefined, undefined], []],
  ["a table that cannot be read once", [600, undefined, 600], [true]],
])("%s: told once when it changes", async (_, counts, told) => {
  expect(await toldOver(counts)).toEqual(told);
});

it("what was not heard is told again", async () => {
  expect(await toldOver([1, 1, 1, 1], (call) => call === 3)).toEqual([false, false, false]);
});

it("a look that lasts is not doubled", async () => {
  vi.useFakeTimers();
  let looks = 0;
  const watch = watchConnections(
    1,
    () => Promise.resolve(true),
    () => new Promise(() => void looks++),
  );
  await vi.advanceTimersByTimeAsync(5_000);
  watch.stop();
  expect(looks).toBe(1);
});
