/** Lists of 15,000 Services: whole, as a Table, and in chunks as `kubectl --chunk-size=500` asks for them. */
import { get } from "node:http";
import type { Server } from "../../test/e2e/server";
import { growthDuring } from "./memory";
import type { BenchRow } from "./row";
import { createServices, quantile, withServer } from "./started";

const count = 15_000;
const chunk = 500;
const jsonMsMax = 1_000;
const growthMiBMax = 64;
const tableMsMax = 1_500;
const chunkedRatioMax = 2;
const rounds = 7;
const TABLE = "application/json;as=Table;v=v1;g=meta.k8s.io,application/json";

interface ListAnswer {
  metadata: { continue?: string };
  items?: unknown[];
  rows?: unknown[];
}

export function benchLists(): Promise<BenchRow[]> {
  return withServer("10.0.0.0/12", async (server) => {
    await createServices(server, { cluster: "default", connections: 100, count, prefix: "list", addressPrefixes: ["10."] });
    // The code is compiled by then; a page is small enough to leave the memory as it is.
    for (const accept of [TABLE, "application/json"]) await read(server, `?limit=${String(chunk)}`, accept);
    const { result: json, growthMiB } = await growthDuring(server.runtimePid, () => read(server, "", "application/json"));
    const table = await read(server, "", TABLE);
    const { singleMs, chunkedMs } = await compare(server);
    const size = `${(json.bytes / 2 ** 20).toFixed(1)} MiB`;
    const rows: BenchRow[] = [
      bounded("lists.json", json.ms, "ms", jsonMsMax, `${String(count)} Services and default/kubernetes, ${size}, to the last byte`),
      bounded("lists.table", table.ms, "ms", tableMsMax),
      { name: "lists.chunked", value: Math.round(chunkedMs), unit: "ms", note: `${String(chunk)} at a time` },
      bounded(
        "lists.chunkedRatio",
        chunkedMs / singleMs,
        "x",
        chunkedRatioMax,
        `against the single list, medians of ${String(rounds)} in turn`,
      ),
    ];
    if (growthMiB !== undefined) rows.push(bounded("lists.jsonGrowth", growthMiB, "MiB", growthMiBMax, "resident memory of the server"));
    return rows;
  });
}

/** Single list and chunked list in turn, so that both see the same machine; medians. */
async function compare(server: Server): Promise<{ singleMs: number; chunkedMs: number }> {
  const single: number[] = [];
  const chunked: number[] = [];
  for (let round = 0; round < rounds; round++) {
    single.push((await read(server, "", "application/json")).ms);
    chunked.push(await readInChunks(server));
  }
  const median = (values: number[]) =>
    quantile(
      values.sort((a, b) => a - b),
      0.5,
    );
  return { singleMs: median(single), chunkedMs: median(chunked) };
}

async function readInChunks(server: Server): Promise<number> {
  let total = 0;
  let seen = 0;
  for (let token = ""; ;) {
    const { ms, text } = await read(
      server,
      `?limit=${String(chunk)}${token === "" ? "" : `&continue=${encodeURIComponent(token)}`}`,
      "application/json",
    );
    total += ms;
    const answer = JSON.parse(text) as ListAnswer;
    seen += answer.items?.length ?? 0;
    token = answer.metadata.continue ?? "";
    if (token === "") break;
  }
  if (seen !== count + 1) throw new Error(`the chunks held ${String(seen)} Services`);
  return total;
}

/** A list and the time to its last byte. */
function read(server: Server, query: string, accept: string): Promise<{ ms: number; bytes: number; text: string }> {
  const startedAt = performance.now();
  return new Promise((resolve, reject) => {
    get(`${server.url}/api/v1/services${query}`, { headers: { Accept: accept } }, (response) => {
      const pieces: Buffer[] = [];
      response.on("data", (piece: Buffer) => pieces.push(piece));
      response.on("error", reject);
      response.on("end", () => {
        const ms = performance.now() - startedAt;
        const body = Buffer.concat(pieces);
        const text = body.toString();
        if (response.statusCode !== 200) reject(new Error(`a list was answered with ${String(response.statusCode)} ${text.slice(0, 200)}`));
        else resolve({ ms, bytes: body.length, text });
      });
    }).on("error", reject);
  });
}

function bounded(name: string, value: number, unit: string, max: number, note?: string): BenchRow {
  const row = { name, value: Math.round(value * 100) / 100, unit, target: `<= ${String(max)}`, ok: value <= max };
  return note === undefined ? row : { ...row, note };
}
