/**
 * What authentication, authorization and the audit log cost: the same creates on three servers with HTTPS, in turn. The first does not authenticate.
 * The other two know a user by a token of his own, and his rights come from a ClusterRole; the last one has the audit log of a deployment. So TLS is
 * on every side.
 */
import type { Server } from "../../../../test/support/server/server";
import { administered, userOf } from "../bench-users";
import { median, quantile, round } from "../figures";
import type { BenchRow } from "../row";
import { createServices, type LoadedServer, withServer } from "../started";

const RANGE = "10.0.0.0/12";
const ROUNDS = 5;
const CONNECTIONS = 100;
const COUNT = 1_000;
const RATIO_MAX = 1.1;
const USER = "bench";
const OPEN = ["--var", "AUTHORIZATION_MODE=AlwaysAllow"];
const NO_AUDIT = ["--var", "AUDIT_POLICY=writes=None,reads=None"];

interface Side {
  server: LoadedServer;
  rates: number[];
  /** of each round */
  p50s: number[];
  p99s: number[];
}

export function benchAuthorization(): Promise<BenchRow[]> {
  const secure = { secure: true };
  return withServer(
    RANGE,
    (open) => withServer(RANGE, (asked) => withServer(RANGE, (audited) => compare(open, asked, audited), [], secure), NO_AUDIT, secure),
    [...OPEN, ...NO_AUDIT],
    secure,
  );
}

async function compare(open: Server, asked: Server, audited: Server): Promise<BenchRow[]> {
  const off = sideOf(administered(open));
  const on = sideOf(await userOf(asked, USER));
  const logged = sideOf(await userOf(audited, USER));
  // The first round is that of cold machine code.
  for (let round = 0; round <= ROUNDS; round++) {
    for (const { server, rates, p50s, p99s } of [off, on, logged]) {
      const load = { cluster: "default", connections: CONNECTIONS, count: COUNT, prefix: `round-${String(round)}`, addressPrefixes: [] };
      const { elapsedMs, latenciesMs } = await createServices(server, load);
      if (round === 0) continue;
      rates.push(COUNT / (elapsedMs / 1000));
      p50s.push(quantile(latenciesMs, 0.5));
      p99s.push(quantile(latenciesMs, 0.99));
    }
  }
  return [
    ...rowsOf("off", off, "nobody is asked, no audit log"),
    ...rowsOf("on", on, "a user with a token and a ClusterRole, no audit log"),
    ...rowsOf("audited", logged, "the same with writes=Metadata"),
    ratioOf("authorization.p50Ratio", on, off, "access control against none"),
    ratioOf("authorization.auditedP50Ratio", logged, on, "audit log against none"),
  ];
}

function sideOf(server: LoadedServer): Side {
  return { server, rates: [], p50s: [], p99s: [] };
}

function rowsOf(name: string, { rates, p50s, p99s }: Side, note: string): BenchRow[] {
  return [
    { name: `authorization.${name}.rate`, value: Math.round(median(rates)), unit: "services/s", note },
    { name: `authorization.${name}.p50`, value: round(median(p50s)), unit: "ms" },
    { name: `authorization.${name}.p99`, value: round(median(p99s)), unit: "ms" },
  ];
}

/** The median of the rounds' ratios: each round has its own load of the machine. */
function ratioOf(name: string, more: Side, less: Side, what: string): BenchRow {
  const ratio = median(more.p50s.map((p50, round) => p50 / (less.p50s[round] ?? NaN)));
  const note = `${what}: p50 of ${String(ROUNDS)} rounds in turn, ${String(COUNT)} Services and ${String(CONNECTIONS)} connections each`;
  return { name, value: round(ratio), unit: "x", target: `<= ${String(RATIO_MAX)}`, ok: ratio <= RATIO_MAX, note };
}
