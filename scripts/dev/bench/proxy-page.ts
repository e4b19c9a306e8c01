/** What the page of a node costs a data plane that does not speak watch: whole, unchanged, and with one Service that changed. */
import type { Server } from "../../../test/support/server/server";
import { quantile } from "./figures";
import type { BenchRow } from "./row";

const NODE = "bench";
const ASKED = 20;
const LONG_POLL_SECONDS = 30;
/** A change is told a tenth of a second after its write, so that changes that come together are told together. */
const CHANGE_MS_MAX = 300;
/** What a client reads whole before it serves: as long as the proxy's own first sync may take. */
const WHOLE_MS_MAX = 2_000;

interface Page {
  status: number;
  etag: string;
  bytes: number;
  ms: number;
}

async function page(server: Server, etag?: string, timeoutSeconds = 0): Promise<Page> {
  const startedAt = performance.now();
  const answer = await fetch(`${server.url}/api/v1/nodes/${NODE}/proxy-config?timeoutSeconds=${String(timeoutSeconds)}`, {
    headers: etag === undefined ? {} : { "If-None-Match": etag },
  });
  const { byteLength: bytes } = await answer.arrayBuffer();
  if (answer.status !== 200 && answer.status !== 304) throw new Error(`the page was answered with ${String(answer.status)}`);
  return { status: answer.status, etag: answer.headers.get("ETag") ?? "", bytes, ms: performance.now() - startedAt };
}

/** `change`: changes the endpoint of one Service, each time to another one. The Node has to be there. */
export async function pageRows(server: Server, services: number, change: (number: number) => Promise<void>): Promise<BenchRow[]> {
  const first = await page(server);
  const whole = await repeated(() => page(server));
  const unchanged = await repeated(() => page(server, first.etag));
  if (unchanged.some(({ status }) => status !== 304)) throw new Error("a page has changed by itself");
  const changed: Page[] = [];
  let { etag } = first;
  for (let number = 1; number <= ASKED; number++) {
    const waiting = page(server, etag, LONG_POLL_SECONDS);
    const changedAt = performance.now();
    await change(number);
    const answer = await waiting;
    if (answer.status !== 200) throw new Error("a change was not told");
    changed.push({ ...answer, ms: performance.now() - changedAt });
    etag = answer.etag;
  }
  const of = `of ${services.toLocaleString("en-US")} Services`;
  const times = (pages: readonly Page[]): number[] => pages.map(({ ms }) => ms).sort((a, b) => a - b);
  const bytes = (pages: readonly Page[]): string => `${Math.max(...pages.map((one) => one.bytes)).toLocaleString("en-US")} bytes`;
  const row = (name: string, pages: readonly Page[], max: number | undefined, note: string): BenchRow => {
    const p50 = quantile(times(pages), 0.5);
    const slowest = quantile(times(pages), 1);
    return {
      name: `proxy.${name}`,
      value: Math.round(slowest),
      unit: "ms",
      ...(max !== undefined && { target: `<= ${max.toLocaleString("en-US")}`, ok: slowest <= max }),
      note: `${bytes(pages)}, ${note}; slowest of ${String(pages.length)} (median ${p50.toFixed(0)} ms)`,
    };
  };
  return [
    row("pageFirst", [first], WHOLE_MS_MAX, `the first page ${of}: the server lists them for it`),
    row("pageWhole", whole, undefined, `the whole page ${of}`),
    row("pageUnchanged", unchanged, undefined, "nothing has changed: 304"),
    row("pageChanged", changed, CHANGE_MS_MAX, "one Service, from the write of its slice to the answer of a poll that waits"),
  ];
}

async function repeated(ask: () => Promise<Page>): Promise<Page[]> {
  const pages: Page[] = [];
  for (let i = 0; i < ASKED; i++) pages.push(await ask());
  return pages;
}
