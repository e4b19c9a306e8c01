/**
 * What HTTPS and the question who asks cost: the same creates on a server as `npm start` starts it, and on one with --insecure-http, in turn. Connections
 * are made before the clock starts, as those of clients are.
 */
import type { Server } from "../../../../test/support/server/server";
import { bearer } from "../../../cluster/target";
import { median, round } from "../figures";
import type { BenchRow } from "../row";
import { createServices, withServer } from "../started";

const RANGE = "10.0.0.0/12";
const ROUNDS = 5;
const connections = 100;
const COUNT = 2_000;
const RATIO_MIN = 0.6;

export function benchHttps(): Promise<BenchRow[]> {
  return withServer(RANGE, (plain) => withServer(RANGE, (secure) => compare(plain, secure), [], { secure: true }));
}

async function compare(plain: Server, secure: Server): Promise<BenchRow[]> {
  const sides = {
    plain: { server: plain, rates: [] as number[], latenciesMs: [] as number[] },
    secure: {
      server: { url: secure.url, options: { ca: secure.ca, headers: { ...bearer(secure.token) } } },
      rates: [] as number[],
      latenciesMs: [] as number[],
    },
  };
  // The first round is that of cold machine code.
  for (let round = 0; round <= ROUNDS; round++) {
    for (const { server, rates, latenciesMs } of Object.values(sides)) {
      const load = { cluster: "default", connections, count: COUNT, prefix: `round-${String(round)}`, addressPrefixes: [] };
      const result = await createServices(server, load);
      if (round === 0) continue;
      rates.push(COUNT / (result.elapsedMs / 1000));
      latenciesMs.push(...result.latenciesMs);
    }
  }
  const rate = ({ rates }: { rates: number[] }): number => median(rates);
  const p50 = ({ latenciesMs }: { latenciesMs: number[] }): number => median(latenciesMs);
  const ratio = rate(sides.secure) / rate(sides.plain);
  return [
    {
      name: "https.createRatio",
      value: round(ratio),
      unit: "x",
      target: `>= ${String(RATIO_MIN)}`,
      ok: ratio >= RATIO_MIN,
      note: `rates of ${String(ROUNDS)} rounds in turn, ${String(COUNT)} Services and ${String(connections)} connections each`,
    },
    { name: "https.createRate", value: round(rate(sides.secure), 0), unit: "services/s", note: `plain: ${rate(sides.plain).toFixed(0)}` },
    { name: "https.createP50", value: round(p50(sides.secure), 1), unit: "ms", note: `plain: ${p50(sides.plain).toFixed(1)}` },
  ];
}
